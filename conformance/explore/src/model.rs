//! The abstract state of a case: which names live, what memory holds, what there must be room for.
//! A step is either legal in it, and then the model says what must come of it, or it is no step of
//! any host.
//!
//! One file an object: [`manager`], [`memory`], [`data`], [`query`]; [`room`] is about what a
//! device has left.

mod data;
mod manager;
mod memory;
mod query;
mod room;

use std::collections::BTreeMap;

use allocert_suite::case::Step;
use allocert_suite::nouns::{DriverSettings, Name, Need, Thread};

use allocert_suite::expectation::Expectations;
use allocert_suite::operation::Operation;

use crate::bytes::Bytes;
use crate::expect::Expect;

pub(crate) use data::LONGEST_BYTES;
pub(crate) use room::{HUGE_SIZES, Outlook};

/// The software driver of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    pub devices: u32,
    /// Of each device.
    pub memory_bytes: u64,
}

impl Machine {
    pub(crate) fn settings(self) -> DriverSettings {
        let devices = (self.devices > 1).then_some(self.devices);
        DriverSettings {
            devices,
            memory_bytes: Some(self.memory_bytes),
            version: None,
            peer_access: None,
        }
    }
}

/// The state after some steps.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) machine: Machine,
    /// The device whose context is current on the main thread.
    pub(crate) current: Option<u32>,
    /// Those that were destroyed too, so that indices stay.
    pub(crate) managers: Vec<Manager>,
    pub(crate) roots: BTreeMap<u32, Root>,
    pub(crate) memories: Vec<Memory>,
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) handles: Vec<Handle>,
    next_root: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Manager {
    pub(crate) name: Name,
    pub(crate) device: u32,
    pub(crate) initialized: bool,
    pub(crate) gone: bool,
    /// The open ones, the innermost last.
    pub(crate) scopes: Vec<Name>,
    /// A scope was open once.
    scoped: bool,
    /// It may hold something.
    used: bool,
    /// Its last call was a reset.
    blank: bool,
    /// A reset came since the last request that was served.
    was_reset: bool,
    /// A request failed for lack of memory since the last one that was served.
    was_short: bool,
    /// It was asked for device memory since its last reset.
    took: bool,
    /// Something was released since its last reset, and its giving back may wait for any later
    /// call.
    released: bool,
    /// It was reset inside the scope that is open, which may put off what a reset gives back.
    reset_inside: bool,
}

/// One allocation of a subject, under one name or several.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    /// Index of its manager.
    pub(crate) manager: usize,
    pub(crate) kind: Kind,
    pub(crate) size_bytes: u64,
    /// The request must have been served.
    pub(crate) sure: bool,
    /// A reset took it: its names may only be let go.
    pub(crate) stale: bool,
    /// Another manager of the same context was reset since.
    exposed: bool,
    /// Names that are not dropped.
    names: u32,
    handles: u32,
    /// Released inside a scope that is still open.
    pending: bool,
    pub(crate) bytes: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Device,
    Host,
    /// Of this buffer, by index.
    Pin(usize),
}

/// A name of memory: all of it or a view.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    pub(crate) name: Name,
    pub(crate) root: u32,
    pub(crate) offset: u64,
    pub(crate) size_bytes: u64,
    pub(crate) view: bool,
    /// The first handle that was made of it.
    handle: Option<Name>,
}

/// A buffer of the worker, and what was written into it, pinned or not.
#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    pub(crate) name: Name,
    pub(crate) size_bytes: u64,
    /// Roots that pin it.
    pub(crate) pins: Vec<u32>,
    /// It was pinned and released before; inside the scope that is open, or not.
    before: Option<bool>,
    pub(crate) bytes: Bytes,
}

#[derive(Debug, Clone)]
pub(crate) struct Handle {
    pub(crate) name: Name,
    root: u32,
}

impl Model {
    /// After the setup of a case: device 0 attached, a manager `m`.
    pub(crate) fn new(machine: Machine) -> Self {
        Self {
            machine,
            current: Some(0),
            managers: vec![Manager::new("m", 0)],
            roots: BTreeMap::new(),
            memories: Vec::new(),
            buffers: Vec::new(),
            handles: Vec::new(),
            next_root: 0,
        }
    }

    /// Does a step and says what must come of it; nothing, and nothing done, where it is not legal.
    pub(crate) fn play(&mut self, step: &Step) -> Option<Expectations> {
        let on = step.on.as_str();
        let fresh = step.thread == Some(Thread::Fresh);
        let elsewhere = matches!(step.r#do, Operation::Drop { .. } | Operation::Reset {});
        if fresh && !elsewhere {
            return None;
        }
        let expect = match &step.r#do {
            Operation::Attach { device } => self.attach(*device),
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
            Operation::HostBuffer { size, r#as } => self.host_buffer(*size, r#as),
            Operation::Mempin { buffer, mapped, r#as } => self.mempin(on, buffer, *mapped, r#as),
            Operation::View { of, offset, size, r#as } => self.view(on, of, *offset, *size, r#as),
            Operation::Drop { name } => self.drop(name, fresh),
            Operation::Fill { memory, byte, offset, size } => {
                self.fill(memory, *byte, *offset, *size)
            }
            Operation::Read { memory, offset, size, .. } => self.read(memory, *offset, *size),
            Operation::GetMemoryInfo { .. } => self.get_memory_info(on),
            Operation::GetIpcHandle { memory, r#as } => self.get_ipc_handle(on, memory, r#as),
            Operation::Churn { size, times, hold, mixed: false } => {
                self.churn(on, *size, *times, *hold)
            }
            _ => None,
        };
        expect.map(Expect::done)
    }

    /// A manager that can be called now, with its context current.
    fn ready(&self, name: &str) -> Option<usize> {
        let index = self.manager(name)?;
        self.managers[index].is_ready(self.current).then_some(index)
    }

    /// A manager that exists.
    fn manager(&self, name: &str) -> Option<usize> {
        self.managers.iter().position(|manager| manager.name == name && !manager.gone)
    }

    pub(crate) fn memory(&self, name: &str) -> Option<&Memory> {
        self.memories.iter().find(|memory| memory.name == name)
    }

    /// The root of a name, which is there for as long as the name is.
    pub(crate) fn root(&self, memory: &Memory) -> &Root {
        &self.roots[&memory.root]
    }
}

/// The capability without which an operation is not asked for.
pub(crate) fn need(operation: &Operation) -> Option<Need> {
    match operation {
        Operation::Memhostalloc { .. }
        | Operation::Mempin { .. }
        | Operation::HostBuffer { .. } => Some(Need::HostMemory),
        Operation::GetMemoryInfo { .. } => Some(Need::MemoryInfo),
        Operation::GetIpcHandle { .. } => Some(Need::Ipc),
        _ => None,
    }
}
