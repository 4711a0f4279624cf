//! Whether a case is run at all: profile x capabilities of the subject x needs of the case x
//! driver. The one place that decides it.

use allocert_requirements::{Catalogue, Side};

use crate::nouns::Need;
use crate::offer::{Driver, Flavor, Offer};
use crate::plan::PlannedCase;
use crate::reason::Reason;

/// The decision, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applicability {
    Run,
    NotApplicable(Reason),
    NotObserved(Reason),
}

/// Decides whether a case is run.
#[must_use]
pub fn applicability(case: &PlannedCase, catalogue: &Catalogue, offer: &Offer) -> Applicability {
    if let Some(reason) = outside(case, catalogue) {
        return Applicability::NotApplicable(reason);
    }
    if case.operations != Side::Emm && offer.flavor == Flavor::Native {
        return Applicability::NotApplicable(Reason::OtherFlavor { flavor: Flavor::Python });
    }
    if case.operations == Side::EmmHost && !offer.host {
        return Applicability::NotObserved(Reason::NoHost);
    }
    let obstacle = case.needs.iter().find_map(|need| obstacle(*need, offer));
    obstacle.or_else(|| disturbance(case, offer)).unwrap_or(Applicability::Run)
}

/// Why a case is none of the profile's in force: all of the requirements that it states are left
/// out.
#[must_use]
pub fn outside(case: &PlannedCase, catalogue: &Catalogue) -> Option<Reason> {
    let mut stated = case.requirements().peekable();
    stated.peek()?;
    let profile = catalogue.chosen()?;
    stated
        .all(|id| catalogue.leaves_out(id))
        .then(|| Reason::OutsideProfile { profile: profile.name.clone() })
}

/// Why one need is not met.
fn obstacle(need: Need, offer: &Offer) -> Option<Applicability> {
    let missing = match need {
        Need::Python if offer.flavor == Flavor::Native => {
            Applicability::NotApplicable(Reason::OtherFlavor { flavor: Flavor::Python })
        }
        Need::Native | Need::Table if offer.flavor == Flavor::Python => {
            Applicability::NotApplicable(Reason::OtherFlavor { flavor: Flavor::Native })
        }
        Need::Peer if !offer.capabilities.contains(&need) => {
            Applicability::NotObserved(Reason::NoPeer)
        }
        Need::TwoDevices if offer.driver == Driver::Real && offer.devices < 2 => {
            Applicability::NotObserved(Reason::TooFewDevices { needed: 2, found: offer.devices })
        }
        Need::Table | Need::HostMemory | Need::MemoryInfo | Need::Ipc
            if !offer.capabilities.contains(&need) =>
        {
            Applicability::NotApplicable(Reason::NotDeclared { need })
        }
        _ => return None,
    };
    Some(missing)
}

/// What a real driver cannot be asked to do. Its calls can be made to fail: the recorder in front
/// of it answers them.
fn disturbance(case: &PlannedCase, offer: &Offer) -> Option<Applicability> {
    if offer.driver == Driver::Sim {
        return None;
    }
    let settings = &case.driver;
    let because = match (settings.memory_bytes, settings.version, settings.peer_access) {
        (Some(_), _, _) => "the case chooses the memory of the device",
        (None, Some(_), _) => "the case chooses the version of the driver",
        (None, None, Some(_)) => "the case chooses which devices reach each other",
        (None, None, None) => {
            let needed = settings.devices.filter(|needed| *needed > offer.devices)?;
            return Some(Applicability::NotObserved(Reason::TooFewDevices {
                needed,
                found: offer.devices,
            }));
        }
    };
    Some(Applicability::NotObserved(Reason::SoftwareDriverOnly { because: because.to_owned() }))
}
