//! Exploring: mutants are found by random sequences, and what is written of them shows the same
//! again.

use std::fs;
use std::process::Command;

use allocert_requirements::Catalogue;
use allocert_suite::fixture;
use allocert_test_support::{library, program};
use rstest::rstest;

/// What a seed finds in each of these mutants, and in how few steps.
#[rstest]
#[case("mutant_overlapping_blocks", "EMM-LEDGER-05", 3)]
#[case("mutant_rounded_size", "EMM-ALLOC-03", 2)]
#[case("mutant_writes_to_live_block", "EMM-ALLOC-13", 5)]
#[case("mutant_frees_another_block", "EMM-LEDGER-04", 3)]
#[case("mutant_release_by_address", "EMM-LEDGER-05", 7)]
#[case("mutant_no_memory_after_reset", "EMM-RESET-10", 3)]
#[case("mutant_initialize_reuses_live_memory", "EMM-LEDGER-05", 4)]
#[case("mutant_oom_is_permanent", "EMM-OOM-04", 3)]
#[case("mutant_defer_not_nested", "EMM-DEFER-03", 5)]
#[case("mutant_defer_frees_host_memory", "EMM-DEFER-05", 5)]
#[case("mutant_pin_deferred", "EMM-PIN-06", 7)]
#[case("mutant_writes_to_live_host_block", "EMM-HOST-10", 5)]
#[case("mutant_release_clears_context", "EMM-CONTEXT-01", 2)]
#[case("mutant_segfault", "EMM-EXIT-01", 2)]
fn a_mutant_is_found_shrunk_and_found_again(
    #[case] symbol: &str,
    #[case] requirement: &str,
    #[case] steps: usize,
) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let subject = format!("{}:{symbol}", library("liballocert_mutants.so").display());
    let mut explore = Command::new(program());
    explore.args([
        "explore", "emm", &subject, "--seed", "7", "--ops", "12800", "--jobs", "1", "--out",
    ]);
    let output = explore.arg(folder.path()).output().expect("the program was found above");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );

    let name = fixture_name(requirement);
    let path = folder.path().join(format!("{name}.yaml"));
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}\n{printed}"));
    let catalogue = Catalogue::embedded().expect("the catalogue is read by its own tests");
    let planned = fixture::plan_file(&format!("cases/emm/explored/{name}.yaml"), &text, &catalogue);
    let planned = planned.unwrap_or_else(|refusal| panic!("{refusal}"));
    let count = text.lines().filter(|line| line.starts_with("  - do:")).count();
    assert_eq!(planned.len(), 1);
    assert!(count <= steps, "{count} steps:\n{text}");

    let mut again = Command::new(program());
    let output =
        again.args(["run", "emm", &subject, "--fixtures"]).arg(&path).output().expect("as above");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains(requirement), "{requirement} is not found again:\n{printed}");

    let mut faithful = Command::new(program());
    let subject = format!("{}:mutant_conforming", library("liballocert_mutants.so").display());
    let output = faithful
        .args(["run", "emm", &subject, "--fixtures"])
        .arg(&path)
        .output()
        .expect("as above");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "a faithful manager breaks it too:\n{text}\n{printed}"
    );
}

fn fixture_name(requirement: &str) -> String {
    format!("{}-seed-7", requirement.to_lowercase())
}

/// The same seed writes the same file, and nothing that is there is lost.
#[test]
fn the_same_seed_finds_the_same_and_no_file_is_replaced() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let subject =
        format!("{}:mutant_writes_to_live_block", library("liballocert_mutants.so").display());
    let explore = |jobs: &str| {
        let mut explore = Command::new(program());
        explore.args([
            "explore", "emm", &subject, "--seed", "7", "--ops", "12800", "--jobs", jobs, "--out",
        ]);
        let output = explore.arg(folder.path()).output().expect("the program was found above");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let path = folder.path().join("emm-alloc-13-seed-7.yaml");
    assert!(explore("1").contains("written to"), "the first time");
    let first = fs::read(&path).expect("it was written");
    assert!(explore("2").contains("emm-alloc-13-seed-7.yaml holds it already"), "the second time");
    assert_eq!(fs::read(&path).expect("it is there"), first);

    fs::write(&path, "# Somebody's own.\n").expect("the folder is ours");
    assert!(explore("2").contains("emm-alloc-13-seed-7-2.yaml"), "beside another file");
    assert_eq!(fs::read(&path).expect("it is there"), b"# Somebody's own.\n");
}

/// What cannot be written is not lost.
#[test]
fn a_finding_that_cannot_be_written_is_printed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // A folder stands where the file would, under each of its names.
    let subject =
        format!("{}:mutant_writes_to_live_block", library("liballocert_mutants.so").display());
    let out = folder.path().join("gone");
    fs::create_dir(&out).expect("the folder is ours");
    for taken in 0..100 {
        let number = if taken == 0 { String::new() } else { format!("-{}", taken + 1) };
        fs::create_dir(out.join(format!("emm-alloc-13-seed-7{number}.yaml")))
            .expect("the folder is ours");
    }
    let mut explore = Command::new(program());
    explore.args([
        "explore", "emm", &subject, "--seed", "7", "--ops", "12800", "--jobs", "1", "--out",
    ]);
    let output = explore.arg(&out).output().expect("the program was found above");
    let (printed, words) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{printed}{words}");
    assert!(printed.contains("  | case: emm/explored/emm-alloc-13-seed-7"), "{printed}");
    assert!(
        words.starts_with("allocert: ") && words.contains("the fixture is printed above"),
        "{words}"
    );
}
