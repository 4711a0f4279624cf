//! Accesses, and when two of them conflict.

use crate::judge::order::clock::Epoch;

/// What an operation does to bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Read,
    /// An argument of a kernel: read, written or both, which the trace does not show.
    Argument,
    Write,
}

/// One access as it is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) epoch: Epoch,
    /// The index of its event.
    pub(crate) event: u32,
    pub(crate) kind: Kind,
    /// The subject's, not the harness's.
    pub(crate) subject: bool,
    /// It stands for several, whose ranges were put together.
    pub(crate) coarse: bool,
}

impl Kind {
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Argument => "is given",
            Self::Write => "writes",
        }
    }
}

impl Mark {
    /// Whether the two can disturb each other. Two kernels of one party may both only read; between
    /// subject and harness, arguments count as read and written.
    pub(crate) fn conflicts(&self, other: &Self) -> bool {
        match self.kind.max(other.kind) {
            Kind::Write => true,
            Kind::Argument => self.subject != other.subject,
            Kind::Read => false,
        }
    }

    /// Whether one of the two writes, an argument counted as written.
    pub(crate) fn may_conflict(&self, other: &Self) -> bool {
        self.kind.max(other.kind) != Kind::Read
    }

    /// Whether everything that conflicts with an earlier access, which this one comes after,
    /// conflicts with this one too.
    pub(crate) fn supersedes(&self, earlier: &Self) -> bool {
        let weaker = self.kind >= earlier.kind
            && earlier.kind != Kind::Write
            && self.subject == earlier.subject;
        self.kind == Kind::Write || weaker
    }
}

/// Two accesses that conflict, and the addresses where they meet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) earlier: Mark,
    pub(crate) later: Mark,
    pub(crate) part: (u64, u64),
}

impl Pair {
    /// Whether the subject has no part in it.
    pub(crate) fn of_harness(&self) -> bool {
        !self.earlier.subject && !self.later.subject
    }
}
