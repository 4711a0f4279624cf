//! What the steps of a case have named so far.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use allocert_suite::nouns::Name;

use crate::host_buffer::HostBuffer;
use crate::interface::emm::subject::{IpcHandle, Manager, Memory};
use crate::step_result::NoResult;

/// A manager that a case made, shared by what it allocated.
pub(crate) struct CaseManager {
    pub(crate) manager: Box<dyn Manager>,
    pub(crate) device: u32,
    gone: AtomicBool,
}

impl CaseManager {
    pub(crate) fn new(manager: Box<dyn Manager>, device: u32) -> Self {
        Self { manager, device, gone: AtomicBool::new(false) }
    }

    pub(crate) fn destroy(&self) {
        self.gone.store(true, Ordering::Relaxed);
        self.manager.destroy();
    }

    /// After it nothing may be called, not even for tokens that are left.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }
}

/// One token. Views share it, and the last one to go releases it.
pub(crate) struct Token {
    pub(crate) owner: Arc<CaseManager>,
    pub(crate) memory: Memory,
    /// Pinned memory keeps its buffer mapped.
    pub(crate) _buffer: Option<Arc<HostBuffer>>,
}

/// Memory under a name: all of a token's or a view of it.
pub(crate) struct NamedMemory {
    pub(crate) token: Arc<Token>,
    pub(crate) offset_bytes: u64,
    /// What was asked for. What the subject says about the size is reported and never relied on.
    pub(crate) size_bytes: u64,
}

pub(crate) enum Bound {
    Manager(Arc<CaseManager>),
    Memory(NamedMemory),
    /// Memory that is let go together.
    Memories(Vec<Token>),
    /// The token of memory that is let go.
    Dropped(u64),
    Buffer(Arc<HostBuffer>),
    Handle {
        handle: IpcHandle,
        device: u32,
    },
    Scope(Arc<CaseManager>),
    /// A result that only expectations look at.
    Numbers,
}

/// The table of names. A name that a step asks for and that is not here is one that an earlier step
/// failed to make: the plan refuses all others.
#[derive(Default)]
pub(crate) struct Bindings(HashMap<Name, Bound>);

impl Bindings {
    pub(crate) fn bind(&mut self, name: &str, thing: Bound) {
        self.0.insert(name.into(), thing);
    }

    pub(crate) fn take(&mut self, name: &str) -> Result<Bound, NoResult> {
        match self.0.get(name) {
            None | Some(Bound::Dropped(_)) => Err(missing(name)),
            Some(_) => self.0.remove(name).ok_or_else(|| missing(name)),
        }
    }

    pub(crate) fn manager(&self, name: &str) -> Result<Arc<CaseManager>, NoResult> {
        self.find(name, |named| match named {
            Bound::Manager(owner) => Some(Arc::clone(owner)),
            _ => None,
        })
    }

    pub(crate) fn memory(&self, name: &str) -> Result<&NamedMemory, NoResult> {
        self.find(name, |named| match named {
            Bound::Memory(holding) => Some(holding),
            _ => None,
        })
    }

    pub(crate) fn buffer(&self, name: &str) -> Result<Arc<HostBuffer>, NoResult> {
        self.find(name, |named| match named {
            Bound::Buffer(buffer) => Some(Arc::clone(buffer)),
            _ => None,
        })
    }

    pub(crate) fn handle(&self, name: &str) -> Result<(&IpcHandle, u32), NoResult> {
        self.find(name, |named| match named {
            Bound::Handle { handle, device } => Some((handle, *device)),
            _ => None,
        })
    }

    /// The token that memory has or had.
    pub(crate) fn token(&self, name: &str) -> Result<u64, NoResult> {
        self.find(name, |named| match named {
            Bound::Memory(holding) => Some(holding.token.memory.token),
            Bound::Dropped(token) => Some(*token),
            _ => None,
        })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Bound> {
        self.0.get(name)
    }

    fn find<'a, T>(
        &'a self,
        name: &str,
        pick: impl FnOnce(&'a Bound) -> Option<T>,
    ) -> Result<T, NoResult> {
        self.0.get(name).and_then(pick).ok_or_else(|| missing(name))
    }
}

fn missing(name: &str) -> NoResult {
    NoResult::Skipped { because: name.to_owned() }
}
