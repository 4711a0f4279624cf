//! One case in progress: what its steps have made, and how each operation is done.

use std::thread;

use allocert_cuda::Driver;
use allocert_suite::interface::emm::Operation;
use allocert_suite::interface::shared::{Attach, Drop, Environment, Fault, HostBuffer, PeerRead};
use allocert_suite::observation::{Facts, Outcome};
use serde::Deserialize;
use serde_json::json;

use crate::child::unsupported;
use crate::context::{Contexts, outcome};
use crate::names::{Halt, Named, Names};
use crate::protocol::Step;
use crate::recorder::{Recorder, set_variable};
use crate::subject::{HostFlags, Subject, facts, trouble};

pub(crate) struct Scene<'a> {
    pub(crate) subject: &'a dyn Subject,
    pub(crate) recorder: &'a Recorder,
    pub(crate) driver: Option<Driver>,
    pub(crate) contexts: Contexts,
    pub(crate) names: Names,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(
        subject: &'a dyn Subject,
        recorder: &'a Recorder,
        driver: Option<Driver>,
    ) -> Self {
        Self { subject, recorder, driver, contexts: Contexts::default(), names: Names::default() }
    }

    pub(crate) fn perform_on_its_thread(&mut self, step: &Step) -> Outcome {
        if step.thread.is_none() {
            return self.perform(step);
        }
        let joined = thread::scope(|scope| scope.spawn(|| self.perform(step)).join());
        joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    fn perform(&mut self, step: &Step) -> Outcome {
        match Operation::deserialize(&step.r#do) {
            Ok(operation) => self.operation(step, &operation),
            Err(_) => unsupported(&step.r#do),
        }
    }

    fn operation(&mut self, step: &Step, operation: &Operation) -> Outcome {
        let on = &step.on;
        outcome(match operation {
            Operation::Describe {} => Ok(self.subject.describe()),
            Operation::Attach(Attach { device }) => self.attach(*device),
            Operation::Detach {} => self.detach(),
            Operation::Create { r#as, device } => self.create(r#as, *device),
            Operation::Destroy {} => self.destroy(on),
            Operation::Initialize {} => self.initialize(on),
            Operation::Memalloc { size, r#as } => self.memalloc(on, *size, r#as),
            Operation::Memhostalloc { size, mapped, portable, wc, r#as } => {
                let flags = HostFlags { mapped: *mapped, portable: *portable, write_combined: *wc };
                self.memhostalloc(on, *size, flags, r#as)
            }
            Operation::HostBuffer(HostBuffer { size, r#as }) => self.host_buffer(*size, r#as),
            Operation::Mempin { buffer, mapped, r#as } => self.mempin(on, buffer, *mapped, r#as),
            Operation::GetMemoryInfo { r#as } => self.get_memory_info(on, r#as.as_deref()),
            Operation::GetIpcHandle { memory, r#as } => self.get_ipc_handle(on, memory, r#as),
            Operation::PeerRead(PeerRead { handle, size }) => self.peer_read(handle, *size),
            Operation::Reset {} => self.reset(on),
            Operation::DeferEnter { r#as } => self.defer_enter(on, r#as),
            // A C function has no exception to leave a scope through: both ways end in the one
            // call.
            Operation::DeferExit { scope, raising: _ } => self.defer_exit(scope),
            Operation::Drop(Drop { name }) => self.drop_name(name),
            Operation::View { of, offset, size, r#as } => self.view(of, *offset, *size, r#as),
            Operation::Fill(fill) => self.fill(&fill.memory, fill.byte, fill.offset, fill.size),
            Operation::Read(read) => self.read(&read.memory, read.offset, read.size, read.device),
            Operation::Churn { size, times, hold, mixed: false } => {
                self.churn(on, *size, *times, *hold)
            }
            Operation::Churn { size, times, hold, mixed: true } => {
                self.churn_mixed(on, *size, *times, *hold)
            }
            Operation::Stress { threads, size, times } => self.stress(on, *threads, *size, *times),
            Operation::Fault(Fault { call, nth, count, error }) => {
                self.fault(call, *nth, *count, *error)
            }
            Operation::ClearFaults {} => self.clear_faults(),
            Operation::Collect {} => Ok(Facts::new()),
            Operation::Environment(Environment { name, value }) => environment(name, value),
            Operation::Call(call) => match self.call(on, call) {
                Ok(true) => Ok(Facts::new()),
                Ok(false) => return unsupported(&step.r#do),
                Err(halt) => Err(halt),
            },
            // These act on objects of Python.
            Operation::Free { .. } | Operation::Reenter { .. } | Operation::Pickle(_) => {
                return unsupported(&step.r#do);
            }
        })
    }

    fn initialize(&mut self, on: &str) -> Result<Facts, Halt> {
        self.names.manager(on)?.manager.initialize()?;
        Ok(facts([("none", json!(true))]))
    }

    fn reset(&mut self, on: &str) -> Result<Facts, Halt> {
        self.names.manager(on)?.manager.reset()?;
        Ok(facts([("none", json!(true))]))
    }

    fn get_memory_info(&mut self, on: &str, name: Option<&str>) -> Result<Facts, Halt> {
        let (free_bytes, total_bytes) = self.names.manager(on)?.manager.get_memory_info()?;
        if let Some(name) = name {
            self.names.bind(name, Named::Numbers);
        }
        Ok(facts([
            ("type", json!("allocert_emm_memory_info")),
            ("free_bytes", json!(free_bytes)),
            ("total_bytes", json!(total_bytes)),
            ("named", json!(true)),
        ]))
    }

    fn defer_enter(&mut self, on: &str, name: &str) -> Result<Facts, Halt> {
        let owner = self.names.manager(on)?;
        owner.manager.defer_begin()?;
        self.names.bind(name, Named::Scope(owner));
        Ok(facts([("type", json!("allocert_emm_status"))]))
    }

    fn defer_exit(&mut self, scope: &str) -> Result<Facts, Halt> {
        match self.names.take(scope)? {
            Named::Scope(owner) if !owner.is_gone() => owner.manager.defer_end()?,
            _ => return Err(Halt::Skipped { because: scope.to_owned() }),
        }
        Ok(Facts::new())
    }

    fn fault(&mut self, call: &str, nth: u64, count: u64, error: i32) -> Result<Facts, Halt> {
        match self.recorder.fault_add(call, nth, count, error) {
            true => Ok(Facts::new()),
            false => {
                Err(trouble("WorkerError", format!("the driver knows no function `{call}`"), None)
                    .into())
            }
        }
    }

    fn clear_faults(&mut self) -> Result<Facts, Halt> {
        self.recorder.fault_clear();
        Ok(Facts::new())
    }
}

fn environment(name: &str, value: &str) -> Result<Facts, Halt> {
    set_variable(name, value);
    Ok(Facts::new())
}
