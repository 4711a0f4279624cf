//! The front end as a crate sees it. This program starts itself as the test of a crate, whose
//! expectation file an environment variable names.
#![forbid(unsafe_code)]

use std::env;
use std::fs;
use std::process::{Command, ExitCode, Output, Stdio};

use allocert_cargo::{Options, main_with};
use libtest_mimic::{Arguments, Failed, Trial};

const EXPECT: &str = "ALLOCERT_FRONT_END_EXPECT";
/// By NBEP 7 every manager reports memory information, and this one does not.
const SUBJECT: &str = "reference:host-only";
const VIOLATION: (&str, &str) = ("EMM-INFO-10", "emm/info/always-answers");

fn main() -> ExitCode {
    let Some(file) = env::var_os(EXPECT) else {
        let trials = [
            ("a_violation_fails", a_violation_fails as fn()),
            ("a_known_violation_passes", a_known_violation_passes),
            ("an_entry_that_is_out_of_date_fails", an_entry_that_is_out_of_date_fails),
            ("of_cases_that_did_not_run_nothing_is_known", of_cases_that_did_not_run),
            ("a_file_about_no_case_is_refused", a_file_about_no_case_is_refused),
            ("a_reader_that_leaves_is_no_panic", a_reader_that_leaves_is_no_panic),
        ];
        let trials = trials.map(|(name, run)| {
            Trial::test(name, move || {
                run();
                Ok::<(), Failed>(())
            })
        });
        return libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code();
    };
    let expect = (!file.is_empty()).then(|| file.into());
    let profile = Some("nbep7".to_owned());
    main_with("emm", SUBJECT, &Options { expect, profile, ..Options::default() })
}

fn a_violation_fails() {
    let (code, printed) = run("", "emm/info");
    assert_eq!(code, Some(101), "{printed}");
    assert!(printed.contains("MUST EMM-INFO-10: the subject violated this"), "{printed}");
}

fn a_known_violation_passes() {
    let (code, printed) = run_with(&[VIOLATION], "emm/info");
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("known violation: it is host-only"), "{printed}");
}

fn an_entry_that_is_out_of_date_fails() {
    let (code, printed) = run_with(&[VIOLATION, ("EMM-INFO-01", "emm/info/*")], "emm/info");
    assert_eq!(code, Some(101), "{printed}");
    let words = "known.yaml:7 expects a violation of EMM-INFO-01, and there is none";
    assert!(printed.contains(words), "{printed}");
}

fn of_cases_that_did_not_run() {
    let (code, printed) = run_with(&[("EMM-INFO-01", "emm/*")], "emm/zero");
    assert_eq!(code, Some(0), "{printed}");
}

fn a_file_about_no_case_is_refused() {
    let (code, printed) = run_with(&[("EMM-INFO-01", "emm/info/none")], "emm/info");
    assert_eq!(code, Some(2), "{printed}");
    assert!(printed.contains("no case of this side is called `emm/info/none`"), "{printed}");
}

fn a_reader_that_leaves_is_no_panic() {
    let mut child = command("", "emm/info").stdout(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), words.as_ref()), (Some(141), ""));
}

/// Runs the test of a crate that knows these violations, on the cases that match.
fn run_with(known: &[(&str, &str)], filter: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("known.yaml");
    let entry = |(requirement, case): &(&str, &str)| {
        format!(
            "  - requirement: {requirement}\n    cases: [{case}]\n    reason: it is host-only\n"
        )
    };
    let entries: String = known.iter().map(entry).collect();
    let text = format!("subject: {SUBJECT}\nseen_on: allocert\nexpected:\n{entries}");
    fs::write(&file, text).expect("it can be written");
    run(&file.display().to_string(), filter)
}

fn run(expect: &str, filter: &str) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = command(expect, filter).output().expect("it starts");
    let printed = [stdout, stderr].concat();
    (status.code(), String::from_utf8(printed).expect("our words are UTF-8"))
}

fn command(expect: &str, filter: &str) -> Command {
    let program = env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.arg(filter).env(EXPECT, expect).stdin(Stdio::null()).stderr(Stdio::piped());
    command
}
