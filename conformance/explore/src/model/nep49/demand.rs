//! What the model of `nep49` demands of a step.

use allocert_suite::nouns::Need;
use strum::{EnumIter, IntoStaticStr};

use crate::demand;

/// One thing that must come of a step. Its name in the catalogue is `explore.malloc_served`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Demand {
    MallocServed,
    CallocServed,
    ReallocServed,
    ReallocNullServed,
    TooMuchIsNull,
    BlockAligned,
    BlocksDisjoint,
    BlockKeepsBytes,
    CallocZeros,
    ReallocKeepsBytes,
    FailedReallocKeepsBlock,
    FreeOfNullServed,
    FreeWithSizeServed,
    BlocksInTurn,
    BlockOfOtherThread,
    ThreadsAtOnce,
}

impl demand::Demand for Demand {
    fn index(self) -> usize {
        self as usize
    }

    fn is_circumstance(self) -> bool {
        matches!(self, Self::BlockOfOtherThread)
    }

    fn need(self) -> Option<Need> {
        None
    }
}
