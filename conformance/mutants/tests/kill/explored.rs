//! Exploring: mutants are found by random sequences, and what is written of them shows the same
//! again.

use std::fs;
use std::path::Path;
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
#[case("mutant_release_by_address", "EMM-FINAL-07", 4)]
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
    let manager = Explored { side: "emm", faithful: "mutant_conforming" };
    manager.is_found_shrunk_and_found_again(symbol, requirement, steps);
}

/// The same for handlers of NumPy.
#[rstest]
#[case("mutant_nep49_small_blocks_only", "NEP49-ALLOC-01", 1)]
#[case("mutant_nep49_same_block_again", "NEP49-ALLOC-03", 2)]
#[case("mutant_nep49_aligned_to_8", "NEP49-ALLOC-04", 1)]
#[case("mutant_nep49_calloc_is_malloc", "NEP49-CALLOC-01", 2)]
#[case("mutant_nep49_calloc_refuses", "NEP49-CALLOC-04", 1)]
#[case("mutant_nep49_realloc_forgets", "NEP49-REALLOC-01", 5)]
#[case("mutant_nep49_realloc_frees_first", "NEP49-REALLOC-02", 4)]
#[case("mutant_nep49_realloc_never_shrinks", "NEP49-REALLOC-03", 2)]
#[case("mutant_nep49_no_realloc", "NEP49-STRUCT-04", 2)]
#[case("mutant_nep49_free_of_null_clears", "NEP49-ALLOC-02", 4)]
#[case("mutant_nep49_free_of_null_aborts", "NEP49-EXIT-01", 1)]
#[case("mutant_nep49_checks_leaks_at_exit", "NEP49-EXIT-03", 1)]
fn a_broken_handler_is_found_shrunk_and_found_again(
    #[case] symbol: &str,
    #[case] requirement: &str,
    #[case] steps: usize,
) {
    let handler = Explored { side: "nep49", faithful: "mutant_nep49_conforming" };
    handler.is_found_shrunk_and_found_again(symbol, requirement, steps);
}

/// The same for allocators by place.
#[rstest]
#[case("mutant_place_small_blocks_only", "PLACE-ALLOC-01", 1)]
#[case("mutant_place_size_wraps", "PLACE-ALLOC-06", 1)]
#[case("mutant_place_used_ignores_large", "PLACE-USED-02", 2)]
#[case("mutant_place_release_clears_live", "PLACE-ALLOC-05", 4)]
#[case("mutant_place_free_takes_inside", "PLACE-FREE-05", 2)]
fn a_broken_allocator_is_found_shrunk_and_found_again(
    #[case] symbol: &str,
    #[case] requirement: &str,
    #[case] steps: usize,
) {
    let allocator = Explored { side: "place", faithful: "mutant_place_conforming" };
    allocator.is_found_shrunk_and_found_again(symbol, requirement, steps);
}

/// The same for two functions.
#[test]
fn broken_functions_are_found_shrunk_and_found_again() {
    let faithful = "torch:mutant_torch_malloc,mutant_torch_free";
    let functions = Explored { side: "place", faithful };
    let broken = "torch:mutant_torch_malloc,mutant_torch_free_as_power_of_two";
    functions.is_found_shrunk_and_found_again(broken, "PLACE-LEDGER-04", 6);
}

/// Sequences ask functions for nothing that they do not serve.
#[rstest]
#[case("torch:mutant_torch_malloc,mutant_torch_free")]
#[case("cupy:mutant_cupy_malloc,mutant_cupy_free")]
#[case("malloc:mutant_malloc,mutant_free")]
fn nothing_is_found_in_faithful_functions(#[case] symbols: &str) {
    let mut explore = Command::new(program());
    explore.args(["explore", "place"]).args(subject(symbols)).args(["--seed", "7"]);
    let output = explore.args(["--ops", "6400"]).output().expect("the program was found above");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(printed.contains("6,400 operations in 16 sequences"), "{printed}");
    assert!(printed.ends_with("nothing found\n") && !printed.contains("note:"), "{printed}");
}

/// A side, and its mutant that breaks nothing.
struct Explored {
    side: &'static str,
    faithful: &'static str,
}

impl Explored {
    fn is_found_shrunk_and_found_again(&self, symbol: &str, requirement: &str, steps: usize) {
        let side = self.side;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let subject = subject(symbol);
        let mut explore = Command::new(program());
        explore.args(["explore", side]).args(&subject);
        explore.args(["--seed", "7", "--ops", "12800", "--jobs", "1", "--out"]);
        let output = explore.arg(folder.path()).output().expect("the program was found above");
        let printed = String::from_utf8_lossy(&output.stdout);
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{printed}{complaints}");

        let name = fixture_name(requirement);
        let path = folder.path().join(format!("{name}.yaml"));
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}\n{printed}"));
        let catalogue = Catalogue::embedded().expect("the catalogue is read by its own tests");
        let place = format!("cases/{side}/explored/{name}.yaml");
        let planned = fixture::plan_file(&place, &text, &catalogue);
        let planned = planned.unwrap_or_else(|refusal| panic!("{refusal}"));
        let count = text.lines().filter(|line| line.starts_with("  - do:")).count();
        assert_eq!(planned.len(), 1);
        assert!(count <= steps, "{count} steps:\n{text}");

        let (code, printed) = self.run(&subject, &path);
        assert_eq!(code, Some(1), "{printed}");
        assert!(printed.contains(requirement), "{requirement} is not found again:\n{printed}");

        let (code, printed) = self.run(&self::subject(self.faithful), &path);
        assert_eq!(code, Some(0), "a faithful subject breaks it too:\n{text}\n{printed}");
    }

    /// Runs one fixture: how the program exits, and what it prints.
    fn run(&self, subject: &[String], fixture: &Path) -> (Option<i32>, String) {
        let mut run = Command::new(program());
        let run = run.args(["run", self.side]).args(subject).arg("--fixtures").arg(fixture);
        let output = run.output().expect("the program was found above");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// The arguments for a mutant: a symbol, or `ABI:MALLOC,FREE`.
fn subject(symbols: &str) -> Vec<String> {
    match symbols.contains(':') {
        true => {
            let library = library("liballocert_mutants.so").display().to_string();
            vec![library, "--abi".to_owned(), symbols.to_owned()]
        }
        false => vec![mutant(symbols)],
    }
}

fn mutant(symbol: &str) -> String {
    format!("{}:{symbol}", library("liballocert_mutants.so").display())
}

fn fixture_name(requirement: &str) -> String {
    format!("{}-seed-7", requirement.to_lowercase())
}

/// The same seed writes the same file, and nothing that is there is lost.
#[test]
fn the_same_seed_finds_the_same_and_no_file_is_replaced() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let subject = mutant("mutant_writes_to_live_block");
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
    let subject = mutant("mutant_writes_to_live_block");
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
