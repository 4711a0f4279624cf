//! What a run leaves on the disk: the whole run file, or a partial one that can be judged. The real
//! program.

mod unsteady;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rstest::rstest;
use tempfile::TempDir;

fn allocert(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
    command.args(arguments).env("ALLOCERT_LIBCUDA", allocert_test_support::driver());
    command.output().expect("the program that cargo built starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("our words are UTF-8")
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

/// The names of the files in a folder, in their order.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is there");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("an entry").file_name().into_string().expect("UTF-8")
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

/// A run of cases that take a second or more each, of which two have ended.
fn begun(folder: &TempDir, out: &str) -> Child {
    let mut command = unsteady::run_of("slow");
    command.args(["--jobs", "1", "--out", out, "--filter", "place/alloc/**"]);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).env("TMPDIR", folder.path());
    let child = command.spawn().expect("the program that cargo built starts");
    let partial = format!("{out}.partial");
    let until = Instant::now() + Duration::from_secs(60);
    let observed = || fs::read_to_string(&partial).unwrap_or_default();
    while observed().matches("{\"observation\"").count() < 2 {
        assert!(Instant::now() < until, "no case ended: {}", observed());
        thread::sleep(Duration::from_millis(20));
    }
    child
}

fn stop(child: Child, signal: &str) -> Output {
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.expect("kill").success());
    child.wait_with_output().expect("it ends")
}

#[rstest]
#[case::ctrl_c("-INT")]
#[case::terminated("-TERM")]
#[case::killed("-KILL")]
fn an_interrupted_run_leaves_what_was_there_and_what_it_observed(#[case] signal: &str) {
    let (folder, temporary) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir());
    let temporary = temporary.expect("a folder");
    let run = path(&folder, "run.jsonl.gz");
    fs::write(&run, "an earlier run").expect("written");
    let ended = stop(begun(&temporary, &run), signal);
    assert_eq!(fs::read_to_string(&run).expect("read"), "an earlier run");
    assert_eq!(files(folder.path()), ["run.jsonl.gz", "run.jsonl.gz.partial"]);
    let partial = path(&folder, "run.jsonl.gz.partial");
    if signal != "-KILL" {
        assert_eq!(ended.status.code(), Some(3));
        let words = text(&ended.stderr);
        let hint = format!(" are in {partial}; `allocert judge --partial {partial}` judges them\n");
        assert!(words.starts_with("allocert: interrupted; ") && words.ends_with(&hint), "{words}");
    }

    let refused = allocert(&["judge", &partial]);
    assert_eq!(refused.status.code(), Some(2));
    let words = text(&refused.stderr);
    assert!(words.contains("or judge these with `allocert judge --partial`"), "{words}");

    let judged = allocert(&["judge", "--partial", &partial, "--verbose"]);
    assert_eq!(judged.status.code(), Some(3), "{judged:?}");
    let printed = text(&judged.stdout);
    let reason = "\nnot-observed: the run was interrupted before the case ended\n    place/alloc/";
    assert!(printed.contains(reason), "{printed}");
    let last = printed.lines().last().expect("a summary");
    assert!(last.starts_with("no violation, but a case has no result; "), "{printed}");
    // The line that was being written when the program was killed counts for nothing.
    let bytes = fs::read(&partial).expect("read");
    fs::write(&partial, &bytes[..bytes.len() - 100]).expect("written");
    assert_eq!(allocert(&["judge", "--partial", &partial]).status.code(), Some(3));
}

#[test]
fn a_violation_in_a_partial_run_is_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = path(&folder, "run.jsonl");
    let library = allocert_test_support::library("liballocert_mutants.so").display().to_string();
    let subject = format!("{library}:mutant_nep49_free_trusts_size");
    assert_eq!(allocert(&["run", "nep49", &subject, "--out", &run]).status.code(), Some(1));
    let text = fs::read_to_string(&run).expect("read");
    let without_end: Vec<&str> = text.lines().take(text.lines().count() - 2).collect();
    fs::write(&run, without_end.join("\n")).expect("written");
    let judged = allocert(&["judge", "--partial", &run]);
    assert_eq!(judged.status.code(), Some(1), "{judged:?}");
}

#[rstest]
#[case::no_run("x", "run.jsonl", "not a run file of allocert")]
#[case::compressed("x", "run.jsonl.gz", "only a file that is not compressed can be partial")]
#[case::other_suite(
    "{\"header\":{\"format\":2,\"allocert\":\"9.9\",\"suite\":\"0\",\"interface\":\"emm\",\
     \"subject\":{\"argument\":\"x\"},\"driver\":{\"kind\":\"sim\"},\"selection\":{}}}\n",
    "run.jsonl",
    "it was made with another suite; judge it with allocert 9.9"
)]
fn what_is_no_partial_run_is_refused(
    #[case] content: &str,
    #[case] name: &str,
    #[case] reason: &str,
) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(name), content).expect("written");
    let refused = allocert(&["judge", "--partial", &path(&folder, name)]);
    assert_eq!(refused.status.code(), Some(2));
    let words = text(&refused.stderr);
    assert!(words.starts_with("allocert: error[invalid-run-file]: "), "{words}");
    assert!(words.contains(reason), "{words}");
}

#[test]
fn two_runs_do_not_write_one_partial_file() {
    let (folder, temporary) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir());
    let temporary = temporary.expect("a folder");
    let run = path(&folder, "run.jsonl");
    let first = begun(&temporary, &run);
    let before = fs::read(format!("{run}.partial")).expect("read");
    let second = allocert(&["run", "nep49", "reference", "--out", &run]);
    assert_eq!(second.status.code(), Some(2));
    let words = text(&second.stderr);
    assert!(words.ends_with(".partial: another run writes it; name another file\n"), "{words}");
    let after = fs::read(format!("{run}.partial")).expect("read");
    assert!(after.starts_with(&before));
    stop(first, "-KILL");
}

#[test]
fn a_whole_run_replaces_the_file_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let (run, link) = (path(&folder, "run.jsonl"), path(&folder, "link.jsonl"));
    let arguments = ["run", "emm", "reference", "--filter", "emm/zero/*", "--out"];
    let write = |out: &str| allocert(&[&arguments[..], &[out]].concat()).status.code();
    fs::write(format!("{run}.partial"), "{\"header\":{\"of a run that was killed")
        .expect("written");
    assert_eq!(write(&run), Some(0));
    assert_eq!(files(folder.path()), ["run.jsonl"]);
    let others_read =
        |path: &str| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    let by_shell = path(&folder, "by-shell");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("> {by_shell}")]).status().expect("sh");
    assert_eq!(others_read(&run), others_read(&by_shell), "as any program writes it");
    fs::remove_file(&by_shell).expect("removed");

    // A link stays one, and the file behind it keeps its permissions.
    symlink(&run, &link).expect("linked");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o600)).expect("changed");
    fs::write(&run, "an earlier run").expect("written");
    assert_eq!(write(&link), Some(0));
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    assert_eq!(others_read(&run), 0o600);
    assert_eq!(files(folder.path()), ["link.jsonl", "run.jsonl"]);
    assert_eq!(allocert(&["judge", &run]).status.code(), Some(0));
    assert_eq!(write("/dev/null"), Some(0));
}

#[test]
fn a_refused_run_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (run, junit) = (path(&folder, "run.jsonl"), path(&folder, "junit.xml"));
    let missing = path(&folder, "none.yaml");
    let more = ["--out", &run, "--junit", &junit];
    let commands: [&[&str]; 4] = [
        &["run", "emm", "reference", "--expect", &missing],
        &["run", "nep49", "json:dumps"],
        &["run", "emm", "reference", "--profile", "none"],
        &["run", "emm", "reference", "--filter", "none/*"],
    ];
    for command in commands {
        let refused = allocert(&[command, &more].concat());
        assert_ne!(refused.status.code(), Some(0), "{command:?}");
        assert_eq!(files(folder.path()), [""; 0], "{command:?}");
    }
    // Two names of one file that is not there yet.
    let other_name = path(&folder, "./run.jsonl");
    let refused = allocert(&["run", "emm", "reference", "--out", &run, "--junit", &other_name]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("it is given twice, or it is also read"));
    assert_eq!(files(folder.path()), [""; 0]);
}

/// It may be the only copy of something, even the subject itself.
#[test]
fn a_file_that_only_has_the_name_of_a_partial_run_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, partial) = (path(&folder, "run.jsonl"), path(&folder, "run.jsonl.partial"));
    fs::write(&partial, "mine").expect("written");
    let refused = allocert(&["run", "emm", "reference", "--out", &out]);
    assert_eq!(refused.status.code(), Some(2));
    let words = format!("cannot write {partial}: it is no file of an earlier run; ");
    assert!(text(&refused.stderr).contains(&words), "{}", text(&refused.stderr));
    assert_eq!(fs::read(&partial).expect("read"), b"mine");
}

#[test]
fn a_run_file_without_lines_ends() {
    let refused = allocert(&["judge", "/dev/zero"]);
    assert_eq!(refused.status.code(), Some(2));
    let words = text(&refused.stderr);
    assert!(words.contains("/dev/zero:1: ") && words.contains("longer than 256 MiB"), "{words}");
}

/// A project that was written in part would be refused by the next try as a folder in use.
#[rstest]
#[case::new_folder(false)]
#[case::empty_folder(true)]
fn a_full_disk_leaves_no_part_of_a_new_project(#[case] is_there: bool) {
    let folder = tempfile::tempdir().expect("a folder");
    let project = path(&folder, "project");
    if is_there {
        fs::create_dir(&project).expect("a folder");
    }
    let program = env!("CARGO_BIN_EXE_allocert");
    let command = format!("ulimit -f 4; trap '' XFSZ; exec {program} new c {project}");
    let ended = Command::new("bash").args(["-c", &command]).output().expect("bash");
    let words = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{words}");
    assert!(words.contains(": cannot write ") && words.contains("File too large"), "{words}");
    let left = fs::read_dir(&project).map(Iterator::count).ok();
    assert_eq!(left, is_there.then_some(0));
    assert_eq!(allocert(&["new", "c", &project]).status.code(), Some(0));
}

/// A limit on the size of files ends writing as a full disk does, with another word for it.
#[test]
fn a_full_disk_leaves_what_was_there_and_what_was_observed_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = path(&folder, "run.jsonl");
    fs::write(&run, "an earlier run").expect("written");
    let program = env!("CARGO_BIN_EXE_allocert");
    // The trace of a worker needs 16 MiB, and these cases write 20 MiB.
    let command = format!(
        "ulimit -f 17000; exec {program} run place reference --filter 'place/{{free,oom}}/*' \
         --out {run}"
    );
    let mut shell = Command::new("bash");
    shell.args(["-c", &command]).env("ALLOCERT_LIBCUDA", allocert_test_support::driver());
    let ended = shell.output().expect("bash");
    let (printed, words) = (text(&ended.stdout), text(&ended.stderr));
    assert_eq!(ended.status.code(), Some(2), "{words}");
    let all = printed.lines().find_map(|line| line.strip_prefix("no violation; "));
    let all: u32 = all.and_then(|line| line.split(' ').next()?.parse().ok()).expect(&printed);
    let unwritten = format!("allocert: error[unwritable-file]: cannot write {run}: File too large");
    assert!(words.starts_with(&unwritten), "{words}");
    let partial = format!("{run}.partial");
    let kept = format!(" are in {partial}; `allocert judge --partial {partial}` judges them\n");
    assert!(words.contains(&kept), "{words}");
    assert!(words.ends_with(" with --out, and run again\n"), "{words}");

    assert_eq!(fs::read_to_string(&run).expect("read"), "an earlier run");
    assert_eq!(files(folder.path()), ["run.jsonl", "run.jsonl.partial"]);
    let judged = allocert(&["judge", "--partial", &partial]);
    assert_eq!(judged.status.code(), Some(3), "{judged:?}");
    let last = text(&judged.stdout);
    let last = last.lines().last().expect("a summary");
    let ran = last.strip_prefix("no violation, but a case has no result; ").expect(last);
    let ran: u32 = ran.split(' ').next().and_then(|count| count.parse().ok()).expect(last);
    assert!(words.contains(&format!("the first {ran} cases that ended are in")), "{words}{last}");
    assert!(words.contains(&format!("the {} cases after them are not: ", all - ran)), "{words}");
}

#[rstest]
#[case::run(&["run", "emm", "reference", "--filter", "emm/zero/*"])]
#[case::certify(&["certify", "nep49", "reference", "--out", "none"])]
#[case::explore(&["explore", "nep49", "reference", "--ops", "100"])]
fn a_folder_for_temporary_files_that_cannot_be_written_is_named(#[case] arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
    command.args(arguments).env("ALLOCERT_LIBCUDA", allocert_test_support::driver());
    // Nobody can write there, not even root.
    let output = command.env("TMPDIR", "/proc").output().expect("the program that cargo built");
    let words = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words}");
    let expected = "allocert: error[unwritable-file]: cannot write temporary files in /proc: ";
    assert!(words.starts_with(expected), "{words}");
    assert!(words.ends_with("or name another folder with TMPDIR\n"), "{words}");
}
