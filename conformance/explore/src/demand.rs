//! What the model demands of a step. The catalogue says which requirement stands for each demand.

use std::collections::BTreeSet;

use allocert_requirements::{Catalogue, Side};
use allocert_suite::nouns::Need;
use smol_str::SmolStr;
use strum::{EnumCount, EnumIter, IntoEnumIterator, IntoStaticStr};

/// One thing that must come of a step. Its name in the catalogue is `explore.alloc_served`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumCount, EnumIter, IntoStaticStr,
)]
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

impl Demand {
    /// Whether it says under which circumstances an operation works, besides that it works at all.
    /// Circumstances that shrinking leaves are the cause; those of a long sequence are chance.
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

    /// What a subject must offer for the demand to hold of it, besides the operation.
    pub(crate) fn need(self) -> Option<Need> {
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

    /// `explore.alloc_served`
    fn name(self) -> String {
        format!("explore.{}", <&str>::from(self))
    }
}

/// The id of the requirement that stands for each demand, where the demand holds of the subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequirementIds([Option<SmolStr>; Demand::COUNT]);

impl RequirementIds {
    /// Those of the catalogue, for a subject with this offer.
    ///
    /// # Errors
    /// The demand that no requirement stands for.
    pub fn read(catalogue: &Catalogue, offer: &BTreeSet<Need>) -> Result<Self, UnmetDemand> {
        let mut ids = [const { None }; Demand::COUNT];
        for demand in Demand::iter() {
            let name = demand.name();
            let requirement = catalogue.by_demand(Side::Emm, &name).ok_or(UnmetDemand(name))?;
            let holds = demand.need().is_none_or(|need| offer.contains(&need));
            ids[demand as usize] = holds.then(|| SmolStr::new(&requirement.id));
        }
        Ok(Self(ids))
    }

    pub(crate) fn of(&self, demand: Demand) -> Option<&SmolStr> {
        self.0[demand as usize].as_ref()
    }

    /// The requirements that a case can expect only of some subjects, with what the case then needs
    /// besides its operations.
    pub(crate) fn with_needs(&self) -> impl Iterator<Item = (&SmolStr, Need)> {
        Demand::iter().filter_map(|demand| Some((self.of(demand)?, demand.need()?)))
    }

    /// Whether this requirement states a circumstance.
    pub(crate) fn is_circumstance(&self, id: &str) -> bool {
        Demand::iter()
            .any(|demand| demand.is_circumstance() && self.of(demand).is_some_and(|of| of == id))
    }
}

/// No requirement stands for this demand of the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no requirement of the catalogue stands for `{0}`")]
pub struct UnmetDemand(String);

/// The names of all demands, as `stands_for` of the catalogue spells them.
pub fn names() -> impl Iterator<Item = String> {
    Demand::iter().map(Demand::name)
}
