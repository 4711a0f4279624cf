//! The model of `emm`: managers of CUDA memory and their host.
//!
//! - [`managers`]: managers, their scopes and the current context.
//! - [`memory`]: allocations, views and releases.
//! - [`contents`]: what was written, and what a read must return.
//! - [`memory_info`]: what a manager says about its memory.
//! - [`capacity`]: which requests must be served.
//! - [`random_step`]: which step comes next.

mod capacity;
mod contents;
mod demand;
mod freeing_calls;
mod managers;
mod memory;
mod memory_info;
mod operations;
mod random_step;
mod simpler_operations;

use std::collections::BTreeMap;

use allocert_requirements::Side;
use allocert_suite::expectation::Expectations;
use allocert_suite::interface::SideOperation;
use allocert_suite::interface::emm::Operation;
use allocert_suite::interface::shared::{Attach, Drop, Fill, HostBuffer, Read};
use allocert_suite::nouns::{Name, Thread};

use crate::demand::RequirementIds;
use crate::expected;
use crate::model::{self, DrawSource, Machine, SideDefinition};
use crate::step::{Step, step};
use crate::written_bytes::WrittenBytes;

use capacity::{HUGE_SIZES, LARGEST_BYTES, RequestClass};
use demand::Demand;

type Expected = expected::Expected<Demand>;

pub(super) struct Definition;

impl SideDefinition for Definition {
    type Demand = Demand;
    type Operation = Operation;

    const SIDE: Side = Side::Emm;
    const PLAIN_MACHINE: Option<Machine> = Some(PLAIN);

    fn machine(process: u64, two_devices: bool) -> Option<Machine> {
        Some(match process % 4 {
            1 if two_devices => Machine { devices: 2, ..PLAIN },
            _ => PLAIN,
        })
    }

    fn start(machine: Option<Machine>) -> Box<dyn model::Model> {
        Box::new(Model::new(machine.unwrap_or(PLAIN)))
    }
}

/// The simplest machine. As in a case that limits the memory, the device has so much that a subject
/// may reserve four fifths of it, or 512 MiB (EMM-FREEDOM-03).
const PLAIN: Machine = Machine { devices: 1, memory_bytes: 2 << 30 };

/// The state after some steps.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) machine: Machine,
    /// The device whose context is current on the main thread.
    pub(crate) current: Option<u32>,
    /// Destroyed managers stay in the list, so that indices stay valid.
    pub(crate) managers: Vec<Manager>,
    pub(crate) allocations: BTreeMap<u32, Allocation>,
    pub(crate) memories: Vec<Memory>,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) handles: Vec<Handle>,
    next_allocation: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Manager {
    pub(crate) name: Name,
    pub(crate) device: u32,
    pub(crate) initialized: bool,
    pub(crate) destroyed: bool,
    /// The open scopes, the innermost last.
    pub(crate) scopes: Vec<Name>,
    /// A scope was open once.
    had_scope: bool,
    /// It may hold something.
    may_hold_memory: bool,
    /// Its last call was a reset.
    just_reset: bool,
    /// A reset came since the last request that was served.
    reset_since_served: bool,
    /// A request failed for lack of memory since the last one that was served.
    short_since_served: bool,
    /// It was asked for device memory since its last reset.
    asked_since_reset: bool,
    /// Memory was released since its last reset; any later call may give it back to the driver.
    released_since_reset: bool,
    /// It was reset inside the scope that is open, which may defer what a reset gives back.
    reset_in_scope: bool,
}

/// One allocation of a subject, under one name or several.
#[derive(Debug, Clone)]
pub(crate) struct Allocation {
    /// Index of its manager.
    pub(crate) manager: usize,
    pub(crate) kind: MemoryKind,
    pub(crate) size_bytes: u64,
    /// The request must have been served.
    pub(crate) surely_served: bool,
    /// A reset took it: its names may only be dropped.
    pub(crate) taken_by_reset: bool,
    /// Another manager of the same context was reset since, and may have taken it (EMM-FREEDOM-47).
    neighbour_reset: bool,
    /// Names that are not dropped.
    live_names: u32,
    live_handles: u32,
    /// Released inside a scope that is still open.
    release_deferred: bool,
    pub(crate) bytes: WrittenBytes,
}

impl Allocation {
    /// No reset can have taken it.
    fn outlived_resets(&self) -> bool {
        !self.taken_by_reset && !self.neighbour_reset
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    Device,
    Host,
    /// Of this buffer, by index.
    Pin(usize),
}

/// A name of an allocation, or of a view of it.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    pub(crate) name: Name,
    pub(crate) allocation: u32,
    pub(crate) offset: u64,
    pub(crate) size_bytes: u64,
    pub(crate) view: bool,
    /// The first handle that was made of it.
    handle: Option<Name>,
}

/// A buffer of the worker, and what was written into it.
#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    pub(crate) name: Name,
    pub(crate) size_bytes: u64,
    /// The allocations that pin it.
    pub(crate) pins: Vec<u32>,
    /// Whether its last pinning was released inside the scope that is open; `None` if there was no
    /// pinning.
    released_in_scope: Option<bool>,
    pub(crate) bytes: WrittenBytes,
}

#[derive(Debug, Clone)]
pub(crate) struct Handle {
    pub(crate) name: Name,
    allocation: u32,
}

impl Model {
    /// After the setup of a case: device 0 attached, a manager `m`.
    pub(crate) fn new(machine: Machine) -> Self {
        Self {
            machine,
            current: Some(0),
            managers: vec![Manager::new("m", 0)],
            allocations: BTreeMap::new(),
            memories: Vec::new(),
            buffers: Vec::new(),
            handles: Vec::new(),
            next_allocation: 0,
        }
    }

    /// What must come of a step, if it is legal.
    fn expected(&mut self, step: &Step) -> Option<Expected> {
        let on = step.on.as_str();
        let fresh = step.thread == Some(Thread::Fresh);
        let operation = Operation::of(&step.r#do)?;
        let elsewhere = matches!(operation, Operation::Drop(_) | Operation::Reset {});
        if fresh && !elsewhere {
            return None;
        }
        match operation {
            Operation::Attach(Attach { device }) => self.attach(*device),
            Operation::Detach {} => self.detach(),
            Operation::Create { r#as, device } => self.create(r#as, *device),
            Operation::Destroy {} => self.destroy(on),
            Operation::Initialize {} => self.initialize(on),
            Operation::Reset {} => self.reset(on, fresh),
            Operation::DeferEnter { r#as } => self.defer_enter(on, r#as),
            Operation::DeferExit { scope, .. } => self.defer_exit(on, scope),
            Operation::Memalloc { size, r#as } => self.memalloc(on, *size, r#as),
            Operation::Memhostalloc { size, mapped, portable, wc, r#as } => {
                self.memhostalloc(on, *size, *mapped, *portable || *wc, r#as)
            }
            Operation::HostBuffer(HostBuffer { size, offset: 0, r#as }) => {
                self.host_buffer(*size, r#as)
            }
            Operation::Mempin { buffer, mapped, r#as } => self.mempin(on, buffer, *mapped, r#as),
            Operation::View { of, offset, size, r#as } => self.view(on, of, *offset, *size, r#as),
            Operation::Drop(Drop { name }) => self.drop(name, fresh),
            Operation::Fill(Fill { memory, byte, offset, size }) => {
                self.fill(memory, *byte, *offset, *size)
            }
            Operation::Read(Read { memory, offset, size, .. }) => self.read(memory, *offset, *size),
            Operation::GetMemoryInfo { .. } => self.get_memory_info(on),
            Operation::GetIpcHandle { memory, r#as } => self.get_ipc_handle(on, memory, r#as),
            Operation::Churn { size, times, hold, mixed: false } => {
                self.churn(on, *size, *times, *hold)
            }
            _ => None,
        }
    }

    /// A manager that can be called now, with its context current.
    fn ready(&self, name: &str) -> Option<usize> {
        let index = self.manager(name)?;
        self.managers[index].is_ready(self.current).then_some(index)
    }

    /// A manager that exists.
    fn manager(&self, name: &str) -> Option<usize> {
        self.managers.iter().position(|manager| manager.name == name && !manager.destroyed)
    }

    pub(crate) fn memory(&self, name: &str) -> Option<&Memory> {
        self.memories.iter().find(|memory| memory.name == name)
    }

    /// The allocation of a name, which is there for as long as the name is.
    pub(crate) fn allocation(&self, memory: &Memory) -> &Allocation {
        &self.allocations[&memory.allocation]
    }
}

impl model::Model for Model {
    fn draw(&self, source: &mut DrawSource<'_>) -> Option<Step> {
        random_step::draw(self, source)
    }

    fn apply(&mut self, step: &Step, requirements: &RequirementIds) -> Option<Expectations> {
        model::stated(self.expected(step), requirements)
    }

    /// Leaves all scopes, as a host does before its last reset, and goes back to device 0.
    fn closing_steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut current = self.current;
        for manager in self.managers.iter().filter(|manager| !manager.destroyed) {
            for scope in manager.scopes.iter().rev() {
                if current != Some(manager.device) {
                    steps.push(step(Operation::Attach(Attach { device: manager.device }), "m"));
                    current = Some(manager.device);
                }
                let leave = Operation::DeferExit { scope: scope.clone(), raising: false };
                steps.push(step(leave, &manager.name));
            }
        }
        if current != Some(0) {
            steps.push(step(Operation::Attach(Attach { device: 0 }), "m"));
        }
        steps
    }
}
