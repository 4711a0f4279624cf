//! Expectation files with conditions, and files that are brought up to date. The real program.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rstest::rstest;
use tempfile::TempDir;

/// Exit code, standard output and standard error of a run on a mutant of a handler.
fn run(more: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
    command.args(["run", "nep49", &subject(TRUSTS_SIZE)]).args(more);
    let output = command.output().expect("the program that cargo built starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("our words are UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const TRUSTS_SIZE: &str = "mutant_nep49_free_trusts_size";
/// Ends the process in the first call for which there is no memory.
const ABORTS: &str = "mutant_nep49_abort_when_short";

fn subject(name: &str) -> String {
    let library = allocert_test_support::library("liballocert_mutants.so");
    format!("{}:{name}", library.display())
}

/// A folder with an expectation file that has these entries.
fn expectations(entries: &str) -> (TempDir, PathBuf) {
    expectations_of(TRUSTS_SIZE, entries)
}

fn expectations_of(name: &str, entries: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("known.yaml");
    let text =
        format!("# What is known.\nsubject: {}\nseen_on: today\nexpected:{entries}", subject(name));
    fs::write(&file, text).expect("written");
    (folder, file)
}

const KNOWN: &str = "
  # The size that NumPy gives is believed.
  - requirement: NEP49-FREE-02
    cases: [\"nep49/**\"]
    reason: it is built so
";

const GONE: &str = "
  - requirement: NEP49-FREE-01
    cases: [\"nep49/free/*\"]
    reason: null is freed
";

#[test]
fn a_file_is_brought_up_to_date_and_then_stays() {
    let (_folder, file) = expectations(GONE);
    let path = file.display().to_string();
    assert_eq!(run(&["--expect", &path]).0, Some(1));
    let (code, printed, words) = run(&["--expect", &path, "--update-expectations"]);
    assert_eq!((code, words.as_str()), (Some(0), ""), "{printed}");
    let note = format!("note: {path}: 1 entry was removed and 1 was added\n");
    assert!(printed.ends_with(&note), "{printed}");
    let text = fs::read_to_string(&file).expect("read");
    assert!(text.starts_with("# What is known.\nsubject: "), "{text}");
    assert!(!text.contains("NEP49-FREE-01") && text.contains("- requirement: NEP49-FREE-02\n"));
    let (code, printed, _) = run(&["--expect", &path, "--update-expectations"]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains(": 0 entries were removed and 0 were added\n"), "{printed}");
    assert_eq!(fs::read_to_string(&file).expect("read"), text);
    assert_eq!(run(&["--expect", &path]).0, Some(0));
}

#[rstest]
#[case::holds("{driver: sim}", 0, "")]
#[case::does_not("{driver: real}", 1, "1 entry of FILE does not apply: its `when` does not hold")]
fn an_entry_is_for_the_runs_that_its_condition_names(
    #[case] when: &str,
    #[case] code: i32,
    #[case] note: &str,
) {
    let (_folder, file) = expectations(&format!("{KNOWN}    when: {when}\n"));
    let path = file.display().to_string();
    let (ended, printed, words) = run(&["--expect", &path]);
    assert_eq!((ended, words.as_str()), (Some(code), ""), "{printed}");
    assert_eq!(printed.contains("note: "), !note.is_empty(), "{printed}");
    assert!(printed.replace(&path, "FILE").contains(note), "{printed}");
}

#[rstest]
#[case::filter(KNOWN, &["--filter", "nep49/free/*"], "needs a run of all cases of the side")]
#[case::shard(KNOWN, &["--shard", "1/2"], "needs a run of all cases of the side")]
#[case::brackets(
    " [{requirement: NEP49-FREE-01, cases: [\"nep49/free/*\"], reason: x}]\n",
    &[],
    "cannot be updated: write each entry of `expected` in lines of its own"
)]
fn what_cannot_be_updated_stays(#[case] entries: &str, #[case] more: &[&str], #[case] why: &str) {
    let (_folder, file) = expectations(entries);
    let before = fs::read_to_string(&file).expect("read");
    let path = file.display().to_string();
    let update = ["--expect", &path, "--update-expectations"];
    let (code, printed, words) = run(&[&update[..], more].concat());
    assert_eq!((code, printed.as_str()), (Some(2), ""), "{words}");
    assert!(words.starts_with("allocert: error[") && words.contains(why), "{words}");
    assert_eq!(fs::read_to_string(&file).expect("read"), before);
}

#[rstest]
#[case::run(&[])]
#[case::update(&["--update-expectations"])]
fn a_file_about_another_subject_is_refused(#[case] more: &[&str]) {
    let (_folder, file) = expectations_of(ABORTS, KNOWN);
    let before = fs::read_to_string(&file).expect("read");
    let path = file.display().to_string();
    let (code, printed, words) = run(&[&["--expect", &path], more].concat());
    assert_eq!((code, printed.as_str()), (Some(2), ""), "{words}");
    let [meant, given] = [subject(ABORTS), subject(TRUSTS_SIZE)];
    let expected = format!("[other-subject]: it is about the subject {meant}, and this is {given}");
    assert!(words.contains(&expected) && words.contains(&format!("{path}:2:1")), "{words}");
    assert!(words.contains(&format!("write `subject: {given}` if this one lists")), "{words}");
    assert_eq!(fs::read_to_string(&file).expect("read"), before);
}

#[test]
fn a_library_is_the_same_subject_in_each_folder() {
    let elsewhere = format!("subject: ./build/liballocert_mutants.so:{TRUSTS_SIZE}\n");
    for subject in [&elsewhere, ""] {
        let (_folder, file) = expectations("");
        let text = format!("{subject}seen_on: today\nexpected:{KNOWN}");
        fs::write(&file, text).expect("written");
        let (code, printed, words) = run(&["--expect", &file.display().to_string()]);
        assert_eq!((code, words.as_str()), (Some(0), ""), "{printed}");
    }
}

#[test]
fn other_versions_than_the_file_was_seen_on_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("known.yaml");
    let version = env!("CARGO_PKG_VERSION");
    for (seen, is_other) in [("0.0.1", true), (version, false)] {
        let text =
            format!("subject: reference\nseen_on: allocert reference pool {seen}\nexpected: []\n");
        fs::write(&file, text).expect("written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
        command.args(["run", "emm", "reference", "--filter", "emm/zero/*", "--expect"]).arg(&file);
        let output = command.output().expect("the program that cargo built starts");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{printed}");
        let note =
            format!("and this run has allocert reference pool {version}; look at its entries");
        assert_eq!(printed.contains(&note), is_other, "{printed}");
    }
}

#[test]
fn there_is_nothing_to_update_without_a_file() {
    let (code, _, words) = run(&["--update-expectations"]);
    assert_eq!(code, Some(2));
    assert!(words.contains("--expect <FILE>"), "{words}");
}

/// Exploring goes on behind a violation that is known.
#[test]
fn exploring_does_not_look_for_what_is_known() {
    let entries = KNOWN.replace("NEP49-FREE-02", "NEP49-EXIT-01");
    let (folder, file) = expectations_of(ABORTS, &entries);
    let (out, known) = (folder.path().display().to_string(), file.display().to_string());
    let subject = subject(ABORTS);
    let explore = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
        command.args(["explore", "nep49", &subject, "--ops", "20000", "--out", &out]).args(more);
        command.output().expect("the program that cargo built starts")
    };
    let printed = |more: &[&str]| String::from_utf8(explore(more).stdout).expect("UTF-8");
    assert!(printed(&[]).contains("\nNEP49-EXIT-01 MUST "));
    let text = printed(&["--expect", &known]);
    assert!(!text.contains("\nNEP49-EXIT-01 MUST "), "{text}");
    assert!(text.contains("not looked for, because it is expected: NEP49-EXIT-01\n"), "{text}");
    assert_eq!(explore(&["--expect", "none.yaml"]).status.code(), Some(2));
}
