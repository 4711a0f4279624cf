//! What a boundary call does, one file or folder a boundary.
//!
//! The judge's ledger knows boundaries by [`Effect`], [`FreeAnswer`] and [`Owners`] alone. A new
//! boundary is one file here that maps its functions to these.

pub(crate) mod cuda;

use allocert_contract::trace::{Call, Event, Function};

/// What a call does to memory. The boundary may refuse it; see [`Call::result`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Takes memory. A start of 0 is no memory.
    Take {
        start: u64,
        size_bytes: u64,
        source: MemorySource,
    },
    /// Gives memory back. A start of 0 is no memory.
    Give {
        start: u64,
        source: MemorySource,
    },
    /// Writes and reads memory.
    Touch {
        write: Span,
        read: Span,
    },
    Nothing,
}

/// Where the memory at an address comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemorySource {
    Device,
    /// Page-locked memory of the driver.
    Host,
    /// The caller's own memory, page-locked.
    Registered,
}

impl MemorySource {
    /// Whether its boundary alone gives out these addresses. Others can be in use again after a
    /// free without a call that shows it.
    pub(crate) fn is_exclusive(self) -> bool {
        self == Self::Device
    }
}

/// What a call reads or writes; a start of 0 is no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u64,
    pub(crate) size_bytes: u64,
    pub(crate) space: AddressSpace,
}

/// What the type of a parameter says about its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressSpace {
    Device,
    Host,
    /// Either of the two.
    Unified,
}

/// What a boundary answers when memory is given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FreeAnswer {
    /// It takes the memory back.
    Accepted,
    /// It does not know the address.
    UnknownAddress,
    /// It shuts down, and answers nothing about the memory.
    ShutDown,
    /// It fails for another reason.
    Failed,
}

impl Effect {
    pub(crate) fn of(call: &Call) -> Self {
        match call.function {
            Function::Cuda(function) => cuda::memory_effect(function, call),
            // No case judges the memory of these boundaries yet.
            Function::Plugin(_) | Function::Handler(_) | Function::Place(_) => Self::Nothing,
        }
    }
}

impl FreeAnswer {
    /// Reads the result of a call that gives memory back.
    pub(crate) fn of(call: &Call) -> Self {
        cuda::free_answer(call)
    }
}

/// What memory belongs to, and ends with without being given back.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    contexts: cuda::PrimaryContexts,
}

impl Owners {
    /// The owner of the memory that a call takes.
    pub(crate) fn owner(event: &Event) -> u64 {
        event.context
    }

    /// The owner that ends with a call, if one does.
    pub(crate) fn ended_by(&mut self, call: &Call) -> Option<u64> {
        self.contexts.ended_by(call)
    }
}
