//! Which crate may depend on which. Cargo allows dev-dependency cycles, so it would not notice a
//! reference that reads the judge.

use rstest::rstest;

use crate::workspace::{self, members};

/// Finds what tests need; any crate's tests may use it, and no crate's code does.
const TEST_SUPPORT: &str = "allocert-test-support";

/// The whole list of ours that a crate may depend on, dev-dependencies included.
#[rstest]
#[case("allocert-contract", &[])]
#[case("allocert-requirements", &[])]
#[case("allocert-fixtures", &[])]
#[case("allocert-driver", &["allocert-contract"])]
#[case("allocert-recorder", &["allocert-contract"])]
#[case("allocert-libcuda", &["allocert-contract", "allocert-driver", "allocert-recorder"])]
#[case("allocert-cuda", &["allocert-contract"])]
#[case("allocert-abi", &["allocert-contract"])]
#[case("allocert-cai", &["allocert-contract", "allocert-cuda"])]
#[case("allocert-fit", &[])]
#[case("allocert-pool", &["allocert-fit"])]
#[case("allocert-emm", &["allocert-contract", "allocert-cuda", "allocert-fit", "allocert-pool"])]
#[case(
    "allocert-emm-so",
    &[
        "allocert-abi",
        "allocert-contract",
        "allocert-cuda",
        "allocert-emm",
        "allocert-fit",
        "allocert-pool",
    ]
)]
#[case(
    "allocert-place",
    &[
        "allocert-abi",
        "allocert-contract",
        "allocert-cuda",
        "allocert-emm",
        "allocert-fit",
        "allocert-pool",
    ]
)]
#[case("allocert-explore", &["allocert-contract", "allocert-requirements", "allocert-suite"])]
#[case("allocert-suite", &["allocert-contract", "allocert-requirements", "allocert-fixtures"])]
#[case("allocert-test-support", &["allocert-libcuda"])]
fn a_crate_knows_only(#[case] name: &str, #[case] allowed: &[&str]) {
    let members = members();
    let member = members.get(name).unwrap_or_else(|| panic!("{name} is not in the workspace"));
    let known = member.knows.iter().map(String::as_str);
    let strangers: Vec<_> =
        known.filter(|known| *known != TEST_SUPPORT && !allowed.contains(known)).collect();
    assert!(
        strangers.is_empty(),
        "{name} must not know {strangers:?} (ARCHITECTURE.md, Rules between crates)"
    );
}

#[test]
fn the_reference_side_never_knows_the_conformance_side() {
    let members = members();
    let reference = workspace::root().join("reference");
    let inside = |folder: &std::path::Path| folder.starts_with(&reference);
    for (name, member) in members.iter().filter(|(_, member)| inside(&member.folder)) {
        for known in member.knows.iter().filter(|known| *known != TEST_SUPPORT) {
            let target = &members
                .get(known)
                .unwrap_or_else(|| panic!("{known} is not in the workspace"))
                .folder;
            assert!(inside(target), "{name} lies in reference/ and must not know {known}");
        }
    }
}

#[test]
fn test_support_is_for_tests() {
    for (name, member) in members() {
        assert!(
            !member.builds_on.iter().any(|known| known == TEST_SUPPORT),
            "{name} must know {TEST_SUPPORT} as a dev-dependency alone"
        );
    }
}
