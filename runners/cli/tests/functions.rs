//! Allocators by place that are two functions: those that conform, and a library without them.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Command;

use allocert_test_support::{driver, library, program};
use rstest::rstest;
use tempfile::TempDir;

/// Exit code, standard output and standard error of a run of `place`.
fn run(subject: &str, abi: &str) -> (i32, String, String) {
    run_with(subject, abi, &[])
}

fn run_with(subject: &str, abi: &str, more: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(program());
    command.args(["run", "place", subject, "--abi", abi]).args(more);
    command.env("ALLOCERT_LIBCUDA", driver());
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
#[case::own_functions_for_cupy("reference", "cupy")]
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

/// A function that fails returns NULL, and the next call works.
#[rstest]
#[case::own_functions("reference", "torch")]
#[case::own_functions_for_cupy("reference", "cupy")]
#[case::base_of_the_mutants(&mutants(), "torch:mutant_torch_malloc,mutant_torch_free")]
#[case::base_for_cupy(&mutants(), "cupy:mutant_cupy_malloc,mutant_cupy_free")]
fn two_functions_bear_failures_of_the_driver(#[case] subject: &str, #[case] abi: &str) {
    let filter = "{place/alloc/keeps-bytes,place/functions,place/oom,place/alloc/churn}/**";
    let (code, printed, words) = run_with(subject, abi, &["--filter", filter, "--faults"]);
    assert_eq!((code, words.as_str()), (0, ""), "{printed}");
    let sweep = printed.lines().find_map(|line| line.strip_prefix("fault sweep: "));
    let sweep = sweep.expect("a line of the sweep");
    let swept = sweep.split(' ').next().and_then(|count| count.parse::<u32>().ok());
    assert!(swept.is_some_and(|swept| swept >= 50), "{printed}");
    assert!(sweep.contains(" 0 findings"), "{printed}");
}

/// The library of `functions.cc`, in a folder.
fn throwing() -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = folder.path().join("libthrowing.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/functions.cc");
    let mut compiler = Command::new("c++");
    compiler.args(["-shared", "-fPIC", "-Wall", "-Werror", source, "-o"]).arg(&library);
    assert!(compiler.status().expect("there is a C++ compiler").success());
    let path = library.display().to_string();
    (folder, path)
}

/// The library works for some cases and cannot be observed in others.
#[test]
fn a_case_that_is_not_observed_fails_the_run_unless_it_is_known() {
    let (folder, library) = throwing();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (out, junit) = (file("run.jsonl"), file("junit.xml"));
    let judged = |command: &[&str]| {
        let abi = "torch:take_large_by_runtime,give";
        let output = match command {
            ["run", more @ ..] => {
                return run_with(&library, abi, more);
            }
            judge => Command::new(program()).args(judge).output().expect("it starts"),
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().expect("no signal"), text(&output.stdout), text(&output.stderr))
    };
    let (code, printed, _) = judged(&["run", "--out", &out, "--junit", &junit]);
    assert_eq!(code, 5, "{printed}");
    assert!(printed.contains("not observed: list what is known in the expectation file, or give"));
    let report = fs::read_to_string(&junit).expect("a report");
    let error =
        "<error message=\"not observed: the CUDA runtime does not start on the software driver";
    assert!(report.contains(error), "{report}");

    assert_eq!(judged(&["run", "--allow-not-observed"]).0, 0);
    let allowed = judged(&["judge", &out, "--allow-not-observed"]);
    assert_eq!((judged(&["judge", &out]).0, allowed.0), (5, 0), "{}", allowed.1);
    assert!(allowed.1.contains("; listed: --allow-not-observed"), "{}", allowed.1);

    let known = file("known.yaml");
    let text = format!(
        "subject: {library} --abi torch:take_large_by_runtime,give\nseen_on: today\nexpected: []\n"
    );
    fs::write(&known, text).expect("written");
    let (code, printed, words) = judged(&["run", "--expect", &known, "--update-expectations"]);
    assert_eq!((code, words.as_str()), (0, ""), "{printed}");
    let (code, printed, _) = judged(&["judge", &out, "--expect", &known]);
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("; listed: found by --update-expectations"), "{printed}");

    let mut text = fs::read_to_string(&known).expect("read");
    text += "  - verdict: not-observed\n    cases: [place/functions/interleaved/place:cuda]\n    \
             reason: it is observed\n";
    fs::write(&known, text).expect("written");
    let (code, printed, _) = judged(&["judge", &out, "--expect", &known]);
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("says that the case is not observed, and it was"), "{printed}");
}

/// A caller of `--abi torch` catches exceptions.
#[cfg(target_arch = "x86_64")]
#[test]
fn an_exception_is_a_failure() {
    let (_folder, library) = throwing();
    let (code, printed, words) = run(&library, "torch:take,give");
    assert_eq!((code, words.as_str()), (0, ""), "{printed}");
    let (code, printed, _) = run(&library, "torch:take,give_and_throw");
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("MUST PLACE-FREE-01 "), "{printed}");
    assert!(printed.contains("give_and_throw threw std::runtime_error"), "{printed}");
}

#[test]
fn an_exception_ends_a_program_in_c() {
    let (_folder, library) = throwing();
    let (code, printed, _) = run(&library, "cupy:take_for_c,give_for_c");
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("MUST PLACE-EXIT-01 "), "{printed}");
    assert!(printed.contains("the process was ended by signal 6 (SIGABRT)"), "{printed}");
}

/// A function on the CUDA runtime cannot work on the software driver, and is not to blame for that.
#[test]
fn what_needs_the_tables_of_the_driver_is_not_observed() {
    let (_folder, library) = throwing();
    let (code, printed, _) = run(&library, "torch:take_by_runtime,give_nothing");
    assert_eq!(code, 4, "{printed}");
    let words = "not-observed: the CUDA runtime does not start on the software driver, which does \
                 not have cuGetExportTable";
    assert!(printed.contains(words), "{printed}");
    let (code, printed, _) = run(&library, "torch:take_nothing,give_nothing");
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("MUST PLACE-ALLOC-02 "), "{printed}");
}

#[test]
fn a_library_without_the_functions_is_refused() {
    let (code, printed, words) = run(&mutants(), "torch:mutant_torch_malloc,nothing");
    assert_eq!((code, printed.as_str()), (2, ""));
    assert!(words.starts_with("allocert: error[subject-refused]: "), "{words}");
    assert!(words.contains("liballocert_mutants.so: has no symbol `nothing`"), "{words}");
}
