//! Decides whether a case runs, from the profile, the capabilities of the subject, the needs of the
//! case and the driver. No other place decides it.

use allocert_requirements::Catalogue;

use crate::interface::{SideInterface, interface};
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
    if let Some(SideInterface { facts, .. }) = interface(case.operations) {
        if let Some(flavor) = other_flavor(facts.flavors, offer.flavor) {
            return Applicability::NotApplicable(Reason::OtherFlavor { flavor });
        }
        if facts.drives_numba && !offer.host {
            return Applicability::NotObserved(Reason::NoHost);
        }
        if let Some(profile) = foreign_host(case, facts.drives_numba, catalogue) {
            return Applicability::NotObserved(Reason::HostDiffers { profile });
        }
    }
    let obstacle = case.needs.iter().find_map(|need| obstacle(*need, offer));
    obstacle.or_else(|| disturbance(case, offer)).unwrap_or(Applicability::Run)
}

/// The flavor that the case needs, if the subject has another one.
fn other_flavor(flavors: &[Flavor], flavor: Flavor) -> Option<Flavor> {
    if flavors.contains(&flavor) { None } else { flavors.first().copied() }
}

/// Why the profile excludes a case: it contains none of the requirements that the case states.
#[must_use]
pub fn outside(case: &PlannedCase, catalogue: &Catalogue) -> Option<Reason> {
    let mut stated = case.requirements().peekable();
    stated.peek()?;
    let profile = catalogue.chosen()?;
    stated
        .all(|id| catalogue.leaves_out(id))
        .then(|| Reason::OutsideProfile { profile: profile.name.clone() })
}

/// The profile, if it is a text: numba-cuda differs from each text, and a plugin that is true to
/// the text is not to blame for that. The host itself is judged by any profile.
fn foreign_host(case: &PlannedCase, drives_numba: bool, catalogue: &Catalogue) -> Option<String> {
    let text = catalogue.chosen_text()?;
    (drives_numba && case.side != case.operations).then(|| text.name.clone())
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
        Need::StopsThreads if offer.flavor == Flavor::Python => {
            Applicability::NotApplicable(Reason::StopsNoThread)
        }
        Need::Peer if !offer.capabilities.contains(&need) => {
            Applicability::NotObserved(Reason::NoPeer)
        }
        Need::TwoDevices if offer.driver == Driver::Real && offer.devices < 2 => {
            Applicability::NotObserved(Reason::TooFewDevices { needed: 2, found: offer.devices })
        }
        Need::HostFlags if offer.driver == Driver::Real => {
            let because = "a GPU's driver answers for the pages that small allocations share";
            Applicability::NotObserved(Reason::SoftwareDriverOnly { because: because.to_owned() })
        }
        Need::Table
        | Need::HostMemory
        | Need::OwnHostMemory
        | Need::DeferredHostMemory
        | Need::DeviceMemory
        | Need::MemoryInfo
        | Need::Ipc
        | Need::Numpy
        | Need::Release
        | Need::Used
        | Need::Streams
            if !offer.capabilities.contains(&need) =>
        {
            Applicability::NotApplicable(Reason::NotDeclared { need })
        }
        _ => return None,
    };
    Some(missing)
}

/// The settings of a case that a real driver does not have. Faults are not among them: the recorder
/// answers a call that must fail, and does not pass it to the driver.
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
