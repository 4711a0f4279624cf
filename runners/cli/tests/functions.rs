//! Allocators by place that are two functions: those that conform, and a library without them.
#![forbid(unsafe_code)]

use std::process::Command;

use allocert_test_support::{driver, library, program};
use rstest::rstest;

/// Exit code, standard output and standard error of a run of `place`.
fn run(subject: &str, abi: &str) -> (i32, String, String) {
    let mut command = Command::new(program());
    command.args(["run", "place", subject, "--abi", abi]).env("ALLOCERT_LIBCUDA", driver());
    let output = command.output().expect("the program was found above");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("no signal"), text(&output.stdout), text(&output.stderr))
}

fn mutants() -> String {
    library("liballocert_mutants.so").display().to_string()
}

#[rstest]
#[case::own_functions("reference", "torch")]
#[case::own_library(
    &library("liballocert_place.so").display().to_string(),
    "torch:allocert_place_torch_malloc,allocert_place_torch_free"
)]
#[case::base_of_the_mutants(&mutants(), "torch:mutant_torch_malloc,mutant_torch_free")]
fn two_functions_conform(#[case] subject: &str, #[case] abi: &str) {
    let (code, printed, words) = run(subject, abi);
    assert_eq!((code, words.as_str()), (0, ""), "{printed}");
    let profile = abi.split(':').next().expect("a name");
    assert!(printed.contains(&format!("profile {profile}: ")), "{printed}");
    let last = printed.lines().last().expect("a summary");
    let ran = last.strip_prefix("no violation; ").and_then(|rest| rest.split(' ').next());
    let ran: u32 = ran.and_then(|ran| ran.parse().ok()).expect("a number of cases");
    assert!(ran >= 40, "{printed}");
}

#[test]
fn a_library_without_the_functions_is_refused() {
    let (code, printed, words) = run(&mutants(), "torch:mutant_torch_malloc,nothing");
    assert_eq!((code, printed.as_str()), (2, ""));
    assert!(words.starts_with("allocert: error[subject-refused]: "), "{words}");
    assert!(words.contains("liballocert_mutants.so: has no symbol `nothing`"), "{words}");
}
