//! Allocators by place that are two functions: those that conform, and a library without them.
#![forbid(unsafe_code)]

use std::fs;
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

/// The libc of this process.
fn libc() -> String {
    let maps = fs::read_to_string("/proc/self/maps").expect("Linux lists the mappings");
    let mut paths = maps.lines().filter_map(|line| line.split_once('/'));
    let found = paths.find(|(_, path)| path.ends_with("/libc.so.6"));
    format!("/{}", found.expect("the test is linked with glibc").1)
}

/// The function serves only callers that give it the address that it wants.
#[test]
fn functions_of_cupy_are_given_their_address() {
    let (code, printed, _) = run(&mutants(), "cupy:mutant_cupy_malloc_with_param,mutant_cupy_free");
    assert_eq!(code, 1, "{printed}");
    assert!(
        printed.contains("mutant_cupy_malloc_with_param returned NULL for 64 bytes"),
        "{printed}"
    );
}

#[rstest]
#[case::own_functions("reference", "torch")]
#[case::own_library(
    &library("liballocert_place.so").display().to_string(),
    "torch:allocert_place_torch_malloc,allocert_place_torch_free"
)]
#[case::base_of_the_mutants(&mutants(), "torch:mutant_torch_malloc,mutant_torch_free")]
#[case::base_for_cupy(
    &mutants(),
    "cupy:mutant_cupy_malloc_with_param,mutant_cupy_free,MUTANT_CUPY_PARAM"
)]
#[case::base_as_malloc(&mutants(), "malloc:mutant_malloc,mutant_free")]
#[case::libc(&libc(), "malloc")]
fn two_functions_conform(#[case] subject: &str, #[case] abi: &str) {
    let (code, printed, words) = run(subject, abi);
    assert_eq!((code, words.as_str()), (0, ""), "{printed}");
    let profile = abi.split(':').next().expect("a name");
    assert!(printed.contains(&format!("profile {profile}: ")), "{printed}");
    let last = printed.lines().last().expect("a summary");
    let ran = last.strip_prefix("no violation; ").and_then(|rest| rest.split(' ').next());
    let ran: u32 = ran.and_then(|ran| ran.parse().ok()).expect("a number of cases");
    assert!(ran >= 26, "{printed}");
}

#[test]
fn a_library_without_the_functions_is_refused() {
    let (code, printed, words) = run(&mutants(), "torch:mutant_torch_malloc,nothing");
    assert_eq!((code, printed.as_str()), (2, ""));
    assert!(words.starts_with("allocert: error[subject-refused]: "), "{words}");
    assert!(words.contains("liballocert_mutants.so: has no symbol `nothing`"), "{words}");
}
