//! Cases that a recorded run left out although its subject declares all that they need.

use allocert_harness::Machine;
use allocert_suite::Catalogue;
use allocert_suite::applicability::{Applicability, applicability};
use allocert_suite::offer::{Driver, Flavor, Offer};
use allocert_suite::run_format::{Header, Judged};

/// The first of the cases that was not run, and that the subject of the header can run. `catalogue`
/// has the profile of the run. On a real driver the number of devices is not recorded, so cases may
/// be left out there, and a fault sweep leaves out most of what it could inject.
pub(crate) fn runnable<'r>(
    catalogue: &Catalogue,
    header: &Header,
    mut cases: impl Iterator<Item = &'r Judged>,
) -> Option<&'r Judged> {
    if header.driver.kind != Driver::Sim {
        return None;
    }
    let offer = offer(header);
    cases.find(|judged| {
        judged.observation.is_none()
            && !judged.case.is_swept()
            && applicability(&judged.case, catalogue, &offer) == Applicability::Run
    })
}

fn offer(header: &Header) -> Offer {
    let subject = &header.subject;
    let flavor = if subject.flavor == "python" { Flavor::Python } else { Flavor::Native };
    let (host, machine) = (subject.details.get("host"), Machine::simulated());
    Offer::of(flavor, &subject.capabilities, host, machine.driver, machine.devices)
}
