//! What the model of `emm` demands of a step.

use allocert_suite::nouns::Need;
use strum::{EnumIter, IntoStaticStr};

use crate::demand;

/// One thing that must come of a step. Its name in the catalogue is `explore.alloc_served`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Demand {
    AllocServed,
    AllocKind,
    AllocSize,
    AllocAddress,
    AllocAlignment,
    AllocDisjoint,
    AllocKeepsBytes,
    AllocAndReleaseInTurn,
    AllocHugeSize,
    AllocZeroBytes,
    AllocZeroBytesAlike,
    AllocInScope,
    AllocAfterReset,
    AllocAfterShortage,
    ShortageRaises,
    ShortageIsTyped,
    View,
    HostAllocServed,
    HostAllocPinned,
    HostAllocMapped,
    HostAllocSize,
    HostAllocAddress,
    HostAllocDeviceAddress,
    HostAllocWithFlags,
    HostAllocKeepsBytes,
    HostAllocZeroBytes,
    HostAllocFinalized,
    PinServed,
    PinPinned,
    PinMapped,
    PinRegion,
    PinAfterRelease,
    PinAfterReleaseInScope,
    PinTwice,
    PinTwiceKeepsFirst,
    PinKeepsBytes,
    ReleaseFinalizes,
    ReleaseWithView,
    ReleaseAfterReset,
    ReleaseOnFreshThread,
    ReleaseWithoutContext,
    ReleaseMakesNoContext,
    InfoServed,
    InfoPlausible,
    InfoChangesNothing,
    HandleServed,
    HandleBytes,
    HandleSize,
    HandleOfView,
    HandleRepeated,
    HandleOfHostMemory,
    ScopeEntered,
    ScopeLeft,
    ScopeNested,
    ScopeAfterScope,
    ScopeDefersFrees,
    ScopeDefersHostFrees,
    ScopeDefersOwnHostFrees,
    InitializeServed,
    InitializeReturnsNone,
    InitializeAgain,
    InitializeAfterReset,
    ResetServed,
    ResetReturnsNone,
    ResetBeforeInitialize,
    ResetWithoutContext,
    ResetTwice,
    ResetKeepsOthersBytes,
    DestroyServed,
    DestroyWithoutContext,
}

impl demand::Demand for Demand {
    fn index(self) -> usize {
        self as usize
    }

    fn is_circumstance(self) -> bool {
        matches!(
            self,
            Self::AllocInScope
                | Self::AllocAfterReset
                | Self::AllocAfterShortage
                | Self::HostAllocWithFlags
                | Self::PinAfterRelease
                | Self::PinAfterReleaseInScope
                | Self::ReleaseOnFreshThread
                | Self::ReleaseWithoutContext
                | Self::HandleOfView
                | Self::ScopeNested
                | Self::ScopeAfterScope
                | Self::InitializeAfterReset
                | Self::ResetBeforeInitialize
                | Self::ResetWithoutContext
                | Self::ResetTwice
                | Self::DestroyWithoutContext
        )
    }

    fn need(self) -> Option<Need> {
        match self {
            Self::ScopeDefersHostFrees => Some(Need::DeferredHostMemory),
            Self::ScopeDefersOwnHostFrees => Some(Need::OwnHostMemory),
            // Managed memory may be more than the device has.
            Self::ShortageRaises | Self::ShortageIsTyped | Self::InfoPlausible => {
                Some(Need::DeviceMemory)
            }
            _ => None,
        }
    }
}
