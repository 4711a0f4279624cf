//! Accesses, and when two of them conflict.

use crate::judge::cuda::order::vector_clock::Epoch;

/// What an operation does to bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AccessKind {
    Read,
    /// An argument of a kernel: read, written or both, which the trace does not show.
    Argument,
    Write,
}

/// One access to a range of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) epoch: Epoch,
    /// The index of its event in the trace.
    pub(crate) event: u32,
    pub(crate) kind: AccessKind,
    /// Whether the subject made it, not the harness.
    pub(crate) by_subject: bool,
    /// It stands for several accesses, whose ranges are one now.
    pub(crate) merged: bool,
    /// A call that nobody understands may have made it.
    pub(crate) conjectured: bool,
}

impl AccessKind {
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Argument => "is given",
            Self::Write => "writes",
        }
    }
}

impl Access {
    /// Whether the two can disturb each other. Two kernels of the subject, or two of the harness,
    /// may both only read; between subject and harness, arguments count as read and written.
    pub(crate) fn conflicts(&self, other: &Self) -> bool {
        match self.kind.max(other.kind) {
            AccessKind::Write => true,
            AccessKind::Argument => self.by_subject != other.by_subject,
            AccessKind::Read => false,
        }
    }

    /// Whether one of the two writes, an argument counted as written.
    pub(crate) fn may_conflict(&self, other: &Self) -> bool {
        self.kind.max(other.kind) != AccessKind::Read
    }

    /// Whether everything that conflicts with an earlier access, which this one comes after,
    /// conflicts with this one too.
    pub(crate) fn supersedes(&self, earlier: &Self) -> bool {
        let weaker = self.kind >= earlier.kind
            && earlier.kind != AccessKind::Write
            && self.by_subject == earlier.by_subject;
        self.kind == AccessKind::Write || weaker
    }
}

/// Two accesses that conflict, and the addresses where they meet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AccessPair {
    pub(crate) earlier: Access,
    pub(crate) later: Access,
    pub(crate) overlap: (u64, u64),
}

impl AccessPair {
    /// Whether the harness made both.
    pub(crate) fn is_harness_only(&self) -> bool {
        !self.earlier.by_subject && !self.later.by_subject
    }
}
