//! How each operation is done.

use allocert_suite::interface;
use allocert_suite::interface::emm::Operation;
use allocert_suite::interface::shared::{Attach, Drop, PeerRead};
use allocert_suite::observation::{Facts, Outcome, TableCalls};

use crate::interface::emm::case::EmmCase;
use crate::interface::emm::subject::HostFlags;
use crate::protocol::Step;
use crate::shared_operations;
use crate::step_result::{outcome, unsupported};
use crate::subject::CaseRun;

impl CaseRun for EmmCase<'_> {
    fn perform(&mut self, step: &Step) -> Outcome {
        match &step.r#do {
            interface::Operation::Emm(operation) => self.operation(step, operation),
            other => unsupported(other),
        }
    }

    fn table_calls(&self) -> Option<TableCalls> {
        self.subject.table_calls()
    }
}

impl EmmCase<'_> {
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
            Operation::MemallocMany { size, times, r#as } => {
                self.memalloc_many(on, *size, *times, r#as)
            }
            Operation::Memhostalloc { size, mapped, portable, wc, r#as } => {
                let flags = HostFlags { mapped: *mapped, portable: *portable, write_combined: *wc };
                self.memhostalloc(on, *size, flags, r#as)
            }
            Operation::HostBuffer(buffer) => self.host_buffer(buffer),
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
            Operation::Fault(fault) => shared_operations::fault(self.recorder, fault),
            Operation::ClearFaults {} => shared_operations::clear_faults(self.recorder),
            Operation::Collect {} => Ok(Facts::new()),
            Operation::Environment(variable) => shared_operations::environment(variable),
            Operation::Call(call) => match self.call(on, call) {
                Ok(Some(facts)) => Ok(facts),
                Ok(None) => return unsupported(&step.r#do),
                Err(halt) => Err(halt),
            },
            // These act on objects of Python.
            Operation::Free { .. } | Operation::Reenter { .. } | Operation::Pickle(_) => {
                return unsupported(&step.r#do);
            }
        })
    }
}
