//! Cases that are run several times, and runs that may take so much time. The real program.

mod unsteady;

use std::process::Command;

use rstest::rstest;

const CASE: &str = "place/alloc/keeps-bytes/place:cpu/size:64";

/// Exit code, standard output and standard error of a run of functions of the library.
fn run(functions: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let counter = tempfile::NamedTempFile::new().expect("a temporary file");
    let mut command = unsteady::run_of(functions);
    command.args(more).env("UNSTEADY_COUNTER", counter.path());
    let output = command.output().expect("the program that cargo built starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("our words are UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_case_that_fails_in_some_repeats_is_named_with_its_share() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("run.jsonl").display().to_string();
    let arguments = ["--filter", CASE, "--jobs", "1", "--repeat", "8", "--out", &out];
    let (code, printed, words) = run("unsteady", &arguments);
    assert_eq!((code, words.as_str()), (Some(1), ""), "{printed}");
    let (report, repeats) = printed.split_at(printed.find("8 repeats: ").expect("the repeats"));
    insta::assert_snapshot!(repeats, @"
    8 repeats: 1 of 1 cases had several verdicts
      place/alloc/keeps-bytes/place:cpu/size:64
        2 of 8 do not conform (25.0%, 95% interval 7.1% to 59.1%): 6 conforms, 2 violates
    ");
    assert!(report.starts_with("likeliest cause of all 4 findings: "), "{report}");
    // The run file has the repeat that violates, and the share.
    let judged = Command::new(env!("CARGO_BIN_EXE_allocert")).args(["judge", &out]).output();
    let judged = judged.expect("the program that cargo built starts");
    assert_eq!(judged.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&judged.stdout), printed);
}

#[test]
fn a_case_that_is_always_the_same_is_not_named() {
    let (code, printed, _) = run("unsteady", &["--filter", CASE, "--jobs", "1", "--repeat", "3"]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.ends_with("\n3 repeats: 0 of 1 cases had several verdicts\n"), "{printed}");
}

#[test]
fn cases_that_did_not_run_in_time_are_named_and_not_green() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("run.jsonl").display().to_string();
    let filter = ["--filter", "place/alloc/{keeps-bytes,last-byte,neighbours}/**", "--jobs", "1"];
    let more = ["--max-time", "1", "--verbose", "--out", &out];
    let (code, printed, words) = run("slow", &[&filter[..], &more].concat());
    assert_eq!((code, words.as_str()), (Some(3), ""), "{printed}");
    let reason = "\nnot-observed: not run, because the run was longer than --max-time 1\n";
    let (_, unrun) = printed.split_once(reason).expect("the reason is there");
    assert!(unrun.starts_with("    place/alloc/"), "{printed}");
    let mut judge = Command::new(env!("CARGO_BIN_EXE_allocert"));
    let judged = judge.args(["judge", &out, "--verbose"]).output().expect("it starts");
    assert_eq!(judged.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&judged.stdout), printed);
}

#[rstest]
#[case::slow(
    "slow",
    3,
    "\nnot-observed: the subject is slow: its calls returned, and the case did not \
     end in 1 s; --timeout allows more\n    place/free/rounds-host\n"
)]
#[case::stuck("stuck", 1, "no end after 1 s in step ")]
fn a_subject_that_is_slow_does_not_hang(
    #[case] functions: &str,
    #[case] code: i32,
    #[case] words: &str,
) {
    let case = ["--filter", "place/free/rounds-host", "--timeout", "1", "--jobs", "1"];
    let (ended, printed, _) = run(functions, &case);
    assert_eq!(ended, Some(code), "{printed}");
    assert!(printed.contains(words), "{printed}");
}

#[test]
fn enough_time_changes_nothing() {
    let (code, printed, _) = run("unsteady", &["--filter", CASE, "--max-time", "1000"]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(!printed.contains("--max-time"), "{printed}");
}

#[rstest]
#[case(&["--max-time", "5", "--isolation", "none"], "--max-time takes --isolation case alone: ")]
#[case(&["--repeat", "5", "--faults"], "--repeat does not apply to --faults: ")]
#[case(&["--repeat", "5", "--max-time", "5"], "--repeat does not take --max-time: ")]
#[case(&["--repeat", "0"], "invalid value '0' for '--repeat <N>'")]
#[case(&["--max-time", "0"], "invalid value '0' for '--max-time <S>'")]
fn options_that_exclude_each_other_are_refused(#[case] more: &[&str], #[case] words: &str) {
    let (code, printed, told) = run("unsteady", more);
    assert_eq!((code, printed.as_str()), (Some(2), ""), "{told}");
    assert!(told.contains(words), "{told}");
}
