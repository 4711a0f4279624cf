//! What every crate's sources must say of themselves.

use std::fs;

use crate::workspace::members;

/// The crates that stand at a C border. All others forbid unsafe code.
const BORDERS: [&str; 7] = [
    "allocert-abi",
    "allocert-cuda",
    "allocert-emm-so",
    "allocert-libcuda",
    "allocert-mutants",
    "allocert-native",
    "allocert-python",
];

#[test]
fn only_border_crates_may_be_unsafe() {
    for (name, member) in members() {
        let head = ["src/lib.rs", "src/main.rs"]
            .iter()
            .find_map(|file| fs::read_to_string(member.folder.join(file)).ok())
            .unwrap_or_else(|| panic!("{name} has neither src/lib.rs nor src/main.rs"));
        let forbids = head.contains("#![forbid(unsafe_code)]");
        let border = BORDERS.contains(&name.as_str());
        assert!(
            forbids || border,
            "{name} stands at no C border: its crate root must forbid unsafe_code"
        );
        assert!(
            !(forbids && border),
            "{name} forbids unsafe code: take it out of the list of border crates"
        );
    }
}

#[test]
fn every_crate_takes_the_workspace_lints() {
    for (name, member) in members() {
        let manifest =
            fs::read_to_string(member.folder.join("Cargo.toml")).expect("a member has a manifest");
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "{name} does not take the workspace lints"
        );
    }
}
