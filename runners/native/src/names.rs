//! What the steps of a case have named so far.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use allocert_suite::nouns::Name;
use allocert_suite::observation::{Outcome, Raised};

use crate::host::HostBuffer;
use crate::memory::Holding;
use crate::subject::{IpcHandle, Manager};

/// Why a step has no result: both are outcomes.
#[derive(Debug)]
pub(crate) enum Halt {
    Skipped { because: String },
    Raised(Raised),
}

impl From<Raised> for Halt {
    fn from(raised: Raised) -> Self {
        Self::Raised(raised)
    }
}

impl From<Halt> for Outcome {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Skipped { because } => Self::Skipped { because },
            Halt::Raised(raised) => Self::Raised(raised),
        }
    }
}

/// A manager that a case made, shared by what it allocated.
pub(crate) struct Owner {
    pub(crate) manager: Box<dyn Manager>,
    pub(crate) device: u32,
    gone: AtomicBool,
}

impl Owner {
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

pub(crate) enum Named {
    Manager(Arc<Owner>),
    Memory(Holding),
    /// The token of memory that is let go.
    Spent(u64),
    Buffer(Arc<HostBuffer>),
    Handle {
        handle: IpcHandle,
        device: u32,
    },
    Scope(Arc<Owner>),
    /// A result that only expectations look at.
    Numbers,
}

/// The table of names. A name that a step asks for and that is not here is one that an earlier step
/// failed to make: the plan refuses all others.
#[derive(Default)]
pub(crate) struct Names(HashMap<Name, Named>);

impl Names {
    pub(crate) fn bind(&mut self, name: &str, thing: Named) {
        self.0.insert(name.into(), thing);
    }

    pub(crate) fn take(&mut self, name: &str) -> Result<Named, Halt> {
        match self.0.get(name) {
            None | Some(Named::Spent(_)) => Err(missing(name)),
            Some(_) => self.0.remove(name).ok_or_else(|| missing(name)),
        }
    }

    pub(crate) fn manager(&self, name: &str) -> Result<Arc<Owner>, Halt> {
        self.find(name, |named| match named {
            Named::Manager(owner) => Some(Arc::clone(owner)),
            _ => None,
        })
    }

    pub(crate) fn memory(&self, name: &str) -> Result<&Holding, Halt> {
        self.find(name, |named| match named {
            Named::Memory(holding) => Some(holding),
            _ => None,
        })
    }

    pub(crate) fn buffer(&self, name: &str) -> Result<Arc<HostBuffer>, Halt> {
        self.find(name, |named| match named {
            Named::Buffer(buffer) => Some(Arc::clone(buffer)),
            _ => None,
        })
    }

    pub(crate) fn handle(&self, name: &str) -> Result<(&IpcHandle, u32), Halt> {
        self.find(name, |named| match named {
            Named::Handle { handle, device } => Some((handle, *device)),
            _ => None,
        })
    }

    /// The token that memory has or had.
    pub(crate) fn token(&self, name: &str) -> Result<u64, Halt> {
        self.find(name, |named| match named {
            Named::Memory(holding) => Some(holding.token.memory.token),
            Named::Spent(token) => Some(*token),
            _ => None,
        })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Named> {
        self.0.get(name)
    }

    fn find<'a, T>(
        &'a self,
        name: &str,
        pick: impl FnOnce(&'a Named) -> Option<T>,
    ) -> Result<T, Halt> {
        self.0.get(name).and_then(pick).ok_or_else(|| missing(name))
    }
}

fn missing(name: &str) -> Halt {
    Halt::Skipped { because: name.to_owned() }
}
