//! The properties of an operation. The rest of the suite knows an operation only by them, whichever
//! side it belongs to.

use std::fmt;

use crate::nouns::Need;

/// What a bound name stands for. Each side defines its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundType {
    /// `a manager`, for messages.
    article: &'static str,
    /// Whether `drop` takes such a name, and teardown drops what is left of them.
    droppable: bool,
}

impl BoundType {
    /// A type whose names are dropped one by one.
    pub(crate) const fn new(article: &'static str) -> Self {
        Self { article, droppable: true }
    }

    /// A type whose names are never dropped: the side ends what they stand for in its own way, or
    /// with the process.
    pub(crate) const fn kept(article: &'static str) -> Self {
        Self { article, droppable: false }
    }

    pub(crate) fn is_droppable(self) -> bool {
        self.droppable
    }
}

impl fmt::Display for BoundType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.article)
    }
}

/// What an operation does to the memory that the host holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HeldMemory<'a> {
    /// Nothing.
    #[default]
    Unchanged,
    /// The name that the step binds holds memory that no other name holds.
    Gains,
    /// The name that the step binds holds memory that others may hold too: pinned memory of the
    /// host.
    Pins,
    /// The name that the step binds holds the memory of this one too.
    Shares { of: &'a str },
    /// The name that the step binds holds memory that takes the place of this one's.
    Replaces { name: &'a str },
    /// This name holds nothing any more.
    Drops { name: &'a str },
    /// The memory of this name is freed, whoever else holds it.
    Frees { name: &'a str },
    /// The name that the step binds stands for a manager of the context of a device.
    Serves { device: u32 },
    /// Nothing of the manager `on`, and of others of its context, is held any more: NBEP 7 lets
    /// reset() clear up all memory of the context.
    DropsAllOfContext,
    /// Nothing is held any more.
    DropsAll,
}

/// What an operation does to the CUDA context of the thread that it runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attachment {
    Attached { device: u32 },
    Detached,
}

/// Everything that the rest of the suite asks about one operation, other than its fields.
#[derive(Debug, Clone, Copy, Default)]
pub struct Properties<'a> {
    /// What the step's `on` must stand for, where the operation is done on something.
    pub on: Option<BoundType>,
    /// The name that the operation binds, and to what.
    pub binds: Option<(&'a str, BoundType)>,
    /// The name that stands for nothing afterwards.
    pub unbinds: Option<&'a str>,
    /// `on` stands for nothing afterwards.
    pub unbinds_on: bool,
    pub held: HeldMemory<'a>,
    pub attachment: Option<Attachment>,
    /// The capability without which a subject may answer "not supported".
    pub capability: Option<Need>,
    /// What a case with this operation must list in `needs`.
    pub requires: Option<Need>,
    /// The function that a later call of fails, where the operation arranges for that.
    pub fault: Option<&'a str>,
    /// The calls of the driver that fail, where it is a function of the driver.
    pub driver_fault: Option<DriverFault<'a>>,
    /// No call of the driver fails afterwards.
    pub clears_driver_faults: bool,
    /// The adapter of a library performs it, and may answer that the library cannot.
    pub may_decline: bool,
    /// The subject takes an object that somebody else made.
    pub takes_foreign: bool,
    /// The subject reads or writes such an object, which it took in an earlier step.
    pub uses_foreign: bool,
    /// The subject writes to such an object, which it took in an earlier step.
    pub writes_foreign: bool,
    /// The subject is asked to read an array, and to write nothing.
    pub only_reads: bool,
    /// The worker reads exported arrays, as every conforming consumer does.
    pub reads_exports: bool,
    /// It reads their masks.
    pub reads_masks: bool,
    /// The worker queues work on the bytes behind an array.
    pub works_beside_array: bool,
    /// The subject is asked for memory and has to return some.
    pub returns_memory: bool,
    /// The worker reads or writes memory of the subject, and calls nothing of it.
    pub touches_memory: bool,
    /// How much memory it asks for at a time.
    pub asks_bytes: u64,
    /// It lets a name go, and an error is one of the finalizer.
    pub finalizes: bool,
    /// It is one call of the subject, which leaves the current context of its thread as it was.
    pub keeps_context: bool,
    /// Several threads call the subject at the same time.
    pub is_threaded: bool,
    /// The host takes all memory from a plugin afterwards.
    pub installs_plugin: bool,
    /// It closes the whole host: nothing is left for teardown to close.
    pub closes_host: bool,
}

/// Calls of a driver function that fail: `count` calls, from the `nth` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriverFault<'a> {
    pub function: &'a str,
    pub nth: u64,
    pub count: u64,
}

impl<'a> Properties<'a> {
    /// An operation without any of them.
    pub(crate) fn none() -> Self {
        Self::default()
    }

    pub(crate) fn on(self, bound: BoundType) -> Self {
        Self { on: Some(bound), ..self }
    }

    pub(crate) fn binds(self, name: &'a str, bound: BoundType) -> Self {
        Self { binds: Some((name, bound)), ..self }
    }

    pub(crate) fn unbinds(self, name: &'a str) -> Self {
        Self { unbinds: Some(name), ..self }
    }

    pub(crate) fn unbinds_on(self) -> Self {
        Self { unbinds_on: true, ..self }
    }

    pub(crate) fn held(self, held: HeldMemory<'a>) -> Self {
        Self { held, ..self }
    }

    pub(crate) fn attachment(self, attachment: Attachment) -> Self {
        Self { attachment: Some(attachment), ..self }
    }

    pub(crate) fn capability(self, need: Need) -> Self {
        Self { capability: Some(need), ..self }
    }

    pub(crate) fn requires(self, need: Need) -> Self {
        Self { requires: Some(need), ..self }
    }

    pub(crate) fn fault(self, function: &'a str) -> Self {
        Self { fault: Some(function), ..self }
    }

    pub(crate) fn driver_fault(self, fault: DriverFault<'a>) -> Self {
        Self { driver_fault: Some(fault), ..self.fault(fault.function) }
    }

    pub(crate) fn clears_driver_faults(self) -> Self {
        Self { clears_driver_faults: true, ..self }
    }

    pub(crate) fn touches_memory(self) -> Self {
        Self { touches_memory: true, ..self }
    }

    pub(crate) fn may_decline(self) -> Self {
        Self { may_decline: true, ..self }
    }

    pub(crate) fn uses_foreign(self) -> Self {
        Self { uses_foreign: true, ..self }
    }

    pub(crate) fn takes_foreign(self) -> Self {
        Self { takes_foreign: true, ..self }
    }

    pub(crate) fn writes_foreign_if(self, writes_foreign: bool) -> Self {
        Self { writes_foreign, ..self }
    }

    pub(crate) fn only_reads(self) -> Self {
        Self { only_reads: true, ..self }
    }

    pub(crate) fn reads_exports(self) -> Self {
        Self { reads_exports: true, ..self }
    }

    pub(crate) fn reads_masks_if(self, reads_masks: bool) -> Self {
        Self { reads_masks, ..self }
    }

    pub(crate) fn works_beside_array(self) -> Self {
        Self { works_beside_array: true, ..self }
    }

    pub(crate) fn returns_memory(self) -> Self {
        Self { returns_memory: true, ..self }
    }

    pub(crate) fn asks_bytes(self, asks_bytes: u64) -> Self {
        Self { asks_bytes, ..self }
    }

    pub(crate) fn finalizes(self) -> Self {
        Self { finalizes: true, ..self }
    }

    pub(crate) fn keeps_context(self) -> Self {
        Self { keeps_context: true, ..self }
    }

    pub(crate) fn is_threaded(self) -> Self {
        Self { is_threaded: true, ..self }
    }

    pub(crate) fn installs_plugin(self) -> Self {
        Self { installs_plugin: true, ..self }
    }

    pub(crate) fn closes_host(self) -> Self {
        Self { closes_host: true, ..self }
    }
}
