//! What the model of `place` demands of a step.

use allocert_suite::nouns::Need;
use strum::{EnumIter, IntoStaticStr};

use crate::demand;

/// One thing that must come of a step. The catalogue calls it `explore.alloc_at_place_served`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Demand {
    AllocAtPlaceServed,
    TooMuchAtPlaceFails,
    BlockOfPlaceAligned,
    BlocksOfPlaceDisjoint,
    BlockOfPlaceKeepsBytes,
    FreeAtPlaceServed,
    FreeOfNullAtPlaceServed,
    AddressInsideRefused,
    BlockOfOtherPlaceRefused,
    UsedCountsLive,
    UsedFallsToZero,
    ReleaseServed,
    BlocksOfPlaceInTurn,
    BlockOfOtherThreadFreed,
    ThreadsAtPlaceAtOnce,
}

impl demand::Demand for Demand {
    fn index(self) -> usize {
        self as usize
    }

    fn is_circumstance(self) -> bool {
        matches!(self, Self::BlockOfOtherThreadFreed)
    }

    /// What the C contract alone says holds of tables.
    fn need(self) -> Option<Need> {
        match self {
            Self::FreeOfNullAtPlaceServed
            | Self::AddressInsideRefused
            | Self::BlockOfOtherPlaceRefused
            | Self::ReleaseServed
            | Self::BlockOfOtherThreadFreed
            | Self::ThreadsAtPlaceAtOnce => Some(Need::Table),
            Self::AllocAtPlaceServed
            | Self::TooMuchAtPlaceFails
            | Self::BlockOfPlaceAligned
            | Self::BlocksOfPlaceDisjoint
            | Self::BlockOfPlaceKeepsBytes
            | Self::FreeAtPlaceServed
            | Self::UsedCountsLive
            | Self::UsedFallsToZero
            | Self::BlocksOfPlaceInTurn => None,
        }
    }
}
