//! Which cases run on which subjects.

use allocert_suite::applicability::Applicability::{self, NotApplicable, NotObserved, Run};
use allocert_suite::applicability::applicability;
use allocert_suite::nouns::Need;
use allocert_suite::offer::{Driver, Flavor, Offer};
use allocert_suite::reason::Reason;
use rstest::rstest;

use crate::observation_builder::{case, catalogue};

const STEP: &str =
    "steps:\n  - do: {memalloc: {size: 64, as: a}}\n    expect: {EMM-T-01: {returns: {}}}\n";
const FAULT: &str = "steps:\n  - do: {fault: {call: cuMemAlloc, error: 2}}\n  \
    - do: {memalloc: {size: 64, as: a}}\n    \
    expect: {EMM-T-01: {raises: [any]}}\n";
const HOST: &str = "operations: emm-host\nsteps:\n  - do: {device_array: {size: 64, as: a}}\n    \
    expect: {EMM-T-01: {returns: {}}}\n";

fn offer(flavor: Flavor, driver: Driver, capabilities: &[Need]) -> Offer {
    Offer {
        flavor,
        driver,
        capabilities: capabilities.iter().copied().collect(),
        devices: 1,
        host: flavor == Flavor::Python,
    }
}

#[rstest]
#[case::plain("", offer(Flavor::Native, Driver::Sim, &[]), Run)]
#[case::declared("needs: [ipc]\n", offer(Flavor::Native, Driver::Sim, &[Need::Ipc]), Run)]
#[case::undeclared(
    "needs: [ipc]\n",
    offer(Flavor::Native, Driver::Sim, &[]),
    NotApplicable(Reason::NotDeclared { need: Need::Ipc }),
)]
#[case::python(
    "needs: [python]\n",
    offer(Flavor::Native, Driver::Sim, &[]),
    NotApplicable(Reason::OtherFlavor { flavor: Flavor::Python }),
)]
#[case::native(
    "needs: [native]\n",
    offer(Flavor::Python, Driver::Sim, &[]),
    NotApplicable(Reason::OtherFlavor { flavor: Flavor::Native }),
)]
#[case::table("needs: [table]\n", offer(Flavor::Native, Driver::Sim, &[Need::Table]), Run)]
#[case::table_of_python(
    "needs: [table]\n",
    offer(Flavor::Python, Driver::Sim, &[]),
    NotApplicable(Reason::OtherFlavor { flavor: Flavor::Native }),
)]
#[case::no_table(
    "needs: [table]\n",
    offer(Flavor::Native, Driver::Sim, &[]),
    NotApplicable(Reason::NotDeclared { need: Need::Table }),
)]
#[case::peer(
    "needs: [peer]\n", offer(Flavor::Python, Driver::Sim, &[]), NotObserved(Reason::NoPeer),
)]
#[case::two_devices_sim("needs: [two_devices]\n", offer(Flavor::Python, Driver::Sim, &[]), Run)]
#[case::two_devices_real(
    "needs: [two_devices]\n",
    offer(Flavor::Python, Driver::Real, &[]),
    NotObserved(Reason::TooFewDevices { needed: 2, found: 1 }),
)]
#[case::host_flags_sim("needs: [host_flags]\n", offer(Flavor::Python, Driver::Sim, &[]), Run)]
#[case::host_flags_real(
    "needs: [host_flags]\n",
    offer(Flavor::Python, Driver::Real, &[]),
    NotObserved(
        Reason::SoftwareDriverOnly {
            because: "a GPU's driver answers for the pages that small allocations share".into(),
        },
    ),
)]
#[case::settings_real(
    "driver: {version: 12000}\n",
    offer(Flavor::Python, Driver::Real, &[]),
    NotObserved(
        Reason::SoftwareDriverOnly { because: "the case chooses the version of the driver".into() },
    ),
)]
#[case::peers_real(
    "driver: {peer_access: false}\n",
    offer(Flavor::Python, Driver::Real, &[]),
    NotObserved(
        Reason::SoftwareDriverOnly {
            because: "the case chooses which devices reach each other".into(),
        },
    ),
)]
#[case::memory_real(
    "driver: {memory_bytes: 4194304}\n",
    offer(Flavor::Python, Driver::Real, &[]),
    NotObserved(
        Reason::SoftwareDriverOnly { because: "the case chooses the memory of the device".into() },
    ),
)]
#[case::devices_real(
    "driver: {devices: 2}\n",
    offer(Flavor::Python, Driver::Real, &[]),
    NotObserved(Reason::TooFewDevices { needed: 2, found: 1 }),
)]
#[case::enough_devices_real(
    "driver: {devices: 2}\n", Offer { devices: 2, ..offer(Flavor::Python, Driver::Real, &[]) }, Run,
)]
fn needs_meet_the_offer(#[case] head: &str, #[case] offer: Offer, #[case] expected: Applicability) {
    assert_eq!(applicability(&case(&format!("{head}{STEP}")), &catalogue(), &offer), expected);
}

#[test]
fn a_fault_is_injected_in_front_of_either_driver() {
    assert_eq!(
        applicability(&case(FAULT), &catalogue(), &offer(Flavor::Native, Driver::Real, &[])),
        Run
    );
    assert_eq!(
        applicability(&case(FAULT), &catalogue(), &offer(Flavor::Native, Driver::Sim, &[])),
        Run
    );
}

#[test]
fn the_host_is_python() {
    let native = applicability(&case(HOST), &catalogue(), &offer(Flavor::Native, Driver::Sim, &[]));
    assert_eq!(native, NotApplicable(Reason::OtherFlavor { flavor: Flavor::Python }));
    let without = Offer { host: false, ..offer(Flavor::Python, Driver::Sim, &[]) };
    assert_eq!(applicability(&case(HOST), &catalogue(), &without), NotObserved(Reason::NoHost));
}
