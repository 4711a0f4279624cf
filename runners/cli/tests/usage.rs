//! What a person is told when the command line, a file or the subject is wrong: the real program,
//! its exit code and its words.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use allocert_requirements::{Catalogue, Interface, RefusalCode};
use rstest::rstest;
use serde_json::{Value, json};

fn allocert(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
    command
        .args(arguments)
        .env_remove("ALLOCERT_PYTHON")
        .output()
        .expect("the program that cargo built starts")
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Exit code and standard error; a refusal prints nothing else.
fn refused(arguments: &[&str]) -> (i32, String) {
    let output = allocert(arguments);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    let words = String::from_utf8(output.stderr).expect("our words are UTF-8");
    assert!(words.starts_with("allocert: ") && !words.contains("panicked"), "{words}");
    let code = output.status.code().expect("no signal");
    assert!(code != 2 || shows_a_code(&words), "{words}");
    (code, words.trim_end().to_owned())
}

/// Whether a message has the code of a refusal: `error[unknown-case]: `, `fixture broken[...]: `.
fn shows_a_code(words: &str) -> bool {
    let code = words.split_once('[').and_then(|(_, rest)| rest.split_once("]: "));
    code.is_some_and(|(code, _)| RefusalCode::by_name(code).is_some())
}

#[rstest]
#[case::no_interface(
    &["run", "cuda", "reference"],
    "allocert: error[unknown-interface]: there is no side `cuda`; there are emm, emm-host, \
     cai-producer, cai-consumer, nep49, nep49-host, place"
)]
#[case::no_reference(
    &["run", "emm", "reference:arena"],
    "allocert: error[unknown-reference]: there is no reference subject `arena` of emm; there are \
     pool, deferred, host-only"
)]
#[case::no_library(
    &["run", "emm", "./libpool.so"],
    "allocert: error[missing-library]: there is no library ./libpool.so; build the plugin or \
     correct the path"
)]
#[case::file_name(
    &["run", "emm", "pool.py"],
    "allocert: error[invalid-subject]: `pool.py` is a file name; a Python subject is a module as \
     `import` takes it: `pool`"
)]
#[case::no_run_file(
    &["judge", "none.jsonl"],
    "allocert: error[unreadable-file]: cannot read the run file none.jsonl: No such file or \
     directory (os error 2)"
)]
#[case::no_fixture(
    &["fixtures", "check", "none.yaml"],
    "allocert: error[unreadable-file]: cannot read none.yaml: No such file or directory (os error \
     2)"
)]
#[case::faults_of_a_host(
    &["run", "emm-host", "numba.cuda", "--faults"],
    "allocert: error[option-conflict]: --faults is for emm, nep49-host, place; emm-host is not \
     swept: numba-cuda makes driver calls in this case, and the trace does not tell them from \
     those of the subject"
)]
#[case::faults_of_a_producer(
    &["run", "cai-producer", "reference", "--faults=every"],
    "allocert: error[option-conflict]: --faults is for emm, nep49-host, place; cai-producer is \
     not swept: no requirement of the side says what a failed call may lead to"
)]
#[case::faults_of_a_consumer(
    &["run", "cai-consumer", "reference", "--faults"],
    "allocert: error[option-conflict]: --faults is for emm, nep49-host, place; cai-consumer is \
     not swept: no requirement of the side says what a failed call may lead to"
)]
#[case::faults_of_a_handler(
    &["run", "nep49", "reference", "--faults"],
    "allocert: error[option-conflict]: --faults is for emm, nep49-host, place; nep49 is not \
     swept: a handler takes its memory from a source of its own, such as malloc() of libc, and \
     allocert cannot make that fail"
)]
#[case::no_such_reference_of_places(
    &["run", "place", "reference:buddy"],
    "allocert: error[unknown-reference]: there is no reference subject `buddy` of place; there are \
     pool"
)]
#[case::allocator_in_python_without_abi(
    &["run", "place", "module:attribute"],
    "allocert: error[invalid-subject]: `module:attribute` is a Python subject of place: say how it \
     is called, by --abi cupy|rmm|cuda-core|nvmath"
)]
#[case::abi_of_a_plugin(
    &["run", "emm", "reference", "--abi", "torch"],
    "allocert: error[option-conflict]: --abi is for place alone, whose subjects are a table, two \
     functions or a Python object; it does not apply to emm"
)]
#[case::no_such_abi(
    &["run", "place", "reference", "--abi", "torhc"],
    "allocert: error[unknown-abi]: there is no ABI `torhc` of place; there are torch, cupy, \
     malloc, rmm, cuda-core, nvmath"
)]
#[case::one_function(
    &["run", "place", "./lib.so", "--abi", "torch:take"],
    "allocert: error[unknown-abi]: `torch:take` names no two functions: write torch:MALLOC,FREE"
)]
#[case::functions_of_no_library(
    &["run", "place", "module:attribute", "--abi", "torch"],
    "allocert: error[unknown-abi]: --abi torch is for shared libraries alone, and this subject is \
     a Python object; its ABIs are cupy, rmm, cuda-core, nvmath"
)]
#[case::abi_of_objects(
    &["run", "place", "./lib.so", "--abi", "rmm"],
    "allocert: error[unknown-abi]: --abi rmm is for Python objects alone, and this subject is a \
     shared library; its ABIs are torch, cupy, malloc"
)]
#[case::functions_of_another_profile(
    &["run", "place", "reference", "--abi", "torch", "--profile", "paddle"],
    "allocert: error[option-conflict]: --abi torch is judged by the profile torch, so --profile \
     paddle does not apply"
)]
#[case::profile_of_functions(
    &["run", "place", "reference", "--profile", "torch"],
    "allocert: error[option-conflict]: the profile torch is for allocators that have no table: \
     add --abi torch"
)]
#[case::no_folder_for_out(
    &["run", "emm", "reference", "--out", "none/run.jsonl"],
    "allocert: error[unwritable-file]: cannot write none/run.jsonl: No such file or directory (os \
     error 2)"
)]
fn a_wrong_command_line_is_refused_in_one_line(#[case] arguments: &[&str], #[case] words: &str) {
    assert_eq!(refused(arguments), (2, words.to_owned()));
}

/// The recording driver that was built for the tests.
fn recorder() -> std::path::PathBuf {
    allocert_test_support::driver()
}

/// Exit code and words of a run on a real driver, which `ALLOCERT_REAL_DRIVER` says to be at
/// `path`.
fn run_on(path: &str, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
    command.args(["run", "emm", "reference", "--driver", "real"]).args(arguments);
    command.env("ALLOCERT_REAL_DRIVER", path).env("ALLOCERT_LIBCUDA", recorder());
    let output = command.output().expect("the program that cargo built starts");
    (output.status.code().expect("no signal"), lossy(&output.stdout), lossy(&output.stderr))
}

#[test]
fn without_a_real_driver_nothing_runs() {
    let (code, printed, words) = run_on("/nonexistent/libcuda.so.1", &[]);
    assert_eq!((code, printed.as_str()), (3, ""));
    let said = words.lines().collect::<Vec<_>>();
    assert_eq!(said[0], "allocert: there is no real driver to run on");
    assert!(
        said[1].contains("ALLOCERT_REAL_DRIVER=/nonexistent/libcuda.so.1")
            && said[1].contains("; set "),
        "{words}"
    );
}

#[test]
fn cases_do_not_share_a_process_on_a_real_driver() {
    let (code, _, words) = run_on("/nonexistent/libcuda.so.1", &["--isolation", "none"]);
    assert_eq!(code, 2);
    assert!(
        words.starts_with(
            "allocert: error[option-conflict]: --driver real takes --isolation case alone: "
        ),
        "{words}"
    );
}

#[test]
fn a_real_driver_cannot_be_made_to_fail() {
    let (code, _, words) = run_on("/nonexistent/libcuda.so.1", &["--faults"]);
    assert_eq!(code, 2);
    assert!(
        words.starts_with("allocert: error[option-conflict]: --driver real takes no --faults: "),
        "{words}"
    );
}

/// A copy of the software driver stands in for the genuine one: what is forwarded to it conforms as
/// on itself.
#[test]
fn the_reference_conforms_behind_the_recorder_too() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let genuine = folder.path().join("libcuda.so.1");
    std::fs::copy(recorder(), &genuine).expect("a copy");
    let out = folder.path().join("run.jsonl").display().to_string();
    let genuine = genuine.display().to_string();
    let (code, printed, words) = run_on(&genuine, &["--jobs", "2", "--out", &out]);
    assert_eq!((code, words.as_str()), (0, ""), "{printed}");
    assert!(printed.starts_with("emm reference on the real driver, suite "), "{printed}");
    let run = std::fs::read_to_string(&out).expect("the run");
    assert!(
        run.lines().next().is_some_and(|header| header.contains(
            r#""driver":{"kind":"real","version":13000,"device":"allocert software GPU"}"#
        )),
        "{run:.600}"
    );
    assert!(run.contains("software_driver_only"), "cases that choose the memory are not run");
    assert!(run.contains(r#""injected":true"#), "faults are injected in front of it");
}

#[rstest]
#[case::run(&["run", "emm", "reference", "--profile", "nbep8"])]
#[case::coverage(&["coverage", "emm", "--profile", "nbep8"])]
#[case::list(&["list", "emm", "--profile", "nbep8"])]
fn an_unknown_profile_gets_the_closest_one(#[case] arguments: &[&str]) {
    let words = "allocert: error[unknown-profile]: emm has no profile `nbep8`, did you mean \
         nbep7?\n  there are nbep7, \
         numba-docs, numba-cuda-0.30";
    assert_eq!(refused(arguments), (2, words.to_owned()));
}

/// An interface is all its sides, a side is itself.
#[rstest]
#[case::interface("cai", &["cai-consumer/", "cai-producer/"])]
#[case::side("nep49-host", &["nep49-host/"])]
fn list_takes_an_interface_or_a_side(#[case] word: &str, #[case] groups: &[&str]) {
    let output = allocert(&["list", word]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("our words are UTF-8");
    let cases = || text.lines().filter(|line| line.contains('/'));
    assert!(cases().all(|case| groups.iter().any(|group| case.starts_with(group))), "{text}");
    assert!(groups.iter().all(|group| cases().any(|case| case.starts_with(group))), "{text}");
}

#[test]
fn cases_are_selected_by_a_requirement_that_they_state() {
    let output = allocert(&["list", "emm", "--filter", "EMM-ZERO-0[12]"]);
    let text = String::from_utf8(output.stdout).expect("our words are UTF-8");
    let cases: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(cases.contains(&"emm/zero/device") && cases.contains(&"emm/ipc/zero-size"), "{text}");
    assert!(cases.iter().all(|case| case.contains("zero")), "{text}");
}

#[test]
fn a_profile_of_no_interface_is_refused() {
    let (code, words) = refused(&["list", "--profile", "zzz"]);
    assert_eq!(code, 2);
    assert!(
        words.starts_with(
            "allocert: error[unknown-profile]: there is no profile `zzz`\n  there are nbep7, "
        ),
        "{words}"
    );
}

#[rstest]
#[case::shard(
    &["run", "emm", "reference", "--shard", "3/2"],
    "expected I/N with I from 1 to N, such as 1/4"
)]
#[case::timeout(&["run", "emm", "reference", "--timeout", "0"], "0 is not in 1..")]
#[case::jobs(&["run", "emm", "reference", "--jobs", "0"], "a whole number from 1 on")]
#[case::subcommand(&["record"], "unrecognized subcommand 'record'")]
#[case::nothing(&["run", "emm"], "<SUBJECT>")]
#[case::glob(&["run", "emm", "reference", "--filter", "a["], "--filter is no glob")]
fn a_wrong_option_is_refused_with_the_reason(#[case] arguments: &[&str], #[case] reason: &str) {
    let (code, words) = refused(arguments);
    assert_eq!(code, 2, "{words}");
    assert!(words.contains(reason), "{words}");
}

#[test]
fn a_mutant_that_is_not_there_has_the_exit_code_of_a_filter() {
    let words = "allocert: nothing to do: no mutant matches `none-*`".to_owned();
    assert_eq!(refused(&["mutants", "--filter", "none-*"]), (4, words));
}

#[test]
fn mutants_that_were_not_built_are_named_with_the_command_that_builds_them() {
    let folder = installed(true);
    let mut command = Command::new(folder.path().join("allocert"));
    let output = command
        .args(["mutants", "emm", "--flavor", "native"])
        .env_remove("ALLOCERT_LIBCUDA")
        .output()
        .expect("it starts");
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        words.starts_with("allocert: liballocert_mutants.so is not beside this program in "),
        "{words}"
    );
    assert!(words.ends_with("; `cargo build -p allocert-mutants` builds it\n"), "{words}");
}

#[test]
fn python_mutants_without_their_host_say_what_they_need() {
    let folder = installed(true);
    let mut command = Command::new(folder.path().join("allocert"));
    let output = command
        .args(["mutants", "emm", "--filter", "python-info-constant", "--python", "/bin/true"])
        .env_remove("ALLOCERT_LIBCUDA")
        .output()
        .expect("it starts");
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        words.ends_with("name it with --python, or leave them out with --flavor native\n"),
        "{words}"
    );
}

#[rstest]
#[case(&["run", "emm", "reference", "--filter", "emm/none/*"])]
#[case(&["list", "--filter", "emm/none/*"])]
fn a_filter_that_takes_nothing_has_its_own_exit_code(#[case] arguments: &[&str]) {
    let words =
        "allocert: nothing to do: no case matches `emm/none/*`; `allocert list` names them all";
    assert_eq!(refused(arguments), (4, words.to_owned()));
}

#[test]
fn a_shard_without_cases_ran_nothing() {
    let (code, words) = refused(&["run", "emm", "reference", "--shard", "100000/100000"]);
    assert_eq!((code, words.contains("this shard is empty")), (4, true), "{words}");
}

#[test]
fn an_unknown_id_gets_the_closest_one() {
    let (code, words) = refused(&["explain", "EMM-ALOC-01"]);
    assert_eq!(code, 2);
    let told = "allocert: error[unknown-id]: no requirement, freedom, case, profile or C contract \
                is called EMM-ALOC-01, did you mean EMM-ALLOC-01?";
    assert_eq!(words, told);
}

#[test]
fn the_code_of_a_refusal_is_explained() {
    let output = allocert(&["explain", "unknown-case"]);
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stdout), @"
    unknown-case  a refusal, with exit code 2

        No case has this name.
        Use the suggestion, or look the name up with `allocert list`.
    ");
}

#[test]
fn a_bad_fixture_is_shown_with_its_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("cases/emm/alloc/wrong.yaml");
    write(
        &path,
        "# Nothing.\ncase: emm/alloc/wrong\nabout: x\nsteps:\n  - do: {memallok: {size: 1, as: \
         a}}\n",
    );
    let given = folder.path().display().to_string();
    let (code, words) = refused(&["fixtures", "check", &given]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(words.replace(&given, "GIVEN"), @"
    allocert: fixture broken[unknown-word]: unknown word `memallok`
     --> GIVEN/cases/emm/alloc/wrong.yaml:5:10
      |
    5 |   - do: {memallok: {size: 1, as: a}}
      |          ^^^^^^^^
      |
      = help: did you mean `memalloc`?
    ");
}

#[test]
fn a_pipe_is_no_fixture() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pipe = folder.path().join("pipe.yaml");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let words = format!(
        "allocert: error[unreadable-file]: cannot read {}: it is neither a file nor a folder",
        pipe.display()
    );
    for path in [pipe.display().to_string(), folder.path().display().to_string()] {
        assert_eq!(refused(&["fixtures", "check", &path]), (2, words.clone()));
    }
}

#[test]
fn a_file_that_is_no_run_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.jsonl");
    write(&path, "{\"a\": 1}\n");
    let (code, words) = refused(&["judge", &path.display().to_string()]);
    assert_eq!(code, 2);
    assert!(words.contains("run.jsonl:1: not a run file of allocert"), "{words}");
}

#[test]
fn an_expectation_file_is_read_before_anything_runs() {
    let (code, words) = refused(&["run", "emm", "reference", "--expect", "none.yaml"]);
    assert_eq!(code, 2);
    assert!(
        words.starts_with("allocert: error[unreadable-file]: cannot read the expectation file "),
        "{words}"
    );
}

/// The exit code is that of the command, wherever the reader was.
#[rstest]
#[case::of_results("list", 0)]
#[case::of_a_refusal("explain none 2>&1", 2)]
#[case::of_a_wrong_option("run --none 2>&1", 2)]
fn a_reader_that_leaves_is_no_error(#[case] arguments: &str, #[case] code: i32) {
    let program = env!("CARGO_BIN_EXE_allocert");
    // `true` has ended before the program begins.
    let script = format!("set -o pipefail; (sleep 0.2; '{program}' {arguments}) | true");
    let output = Command::new("bash").args(["-c", &script]).output().expect("bash");
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
        (Some(code), "")
    );
}

#[test]
fn standard_output_on_a_full_disk_is_refused_like_a_file() {
    let program = env!("CARGO_BIN_EXE_allocert");
    let script = format!("'{program}' list > /dev/full");
    let output = Command::new("bash").args(["-c", &script]).output().expect("bash");
    let words = String::from_utf8_lossy(&output.stderr);
    let start = "allocert: error[unwritable-file]: cannot write to standard output: No space left";
    assert_eq!((output.status.code(), words.starts_with(start)), (Some(2), true), "{words}");
}

#[test]
fn the_embedded_fixtures_have_nothing_wrong() {
    let output = allocert(&["fixtures", "check"]);
    assert!(String::from_utf8_lossy(&output.stdout).ends_with(", nothing wrong\n"), "{output:?}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_help_of_a_run_names_all_profiles() {
    let output = allocert(&["run", "--help"]);
    let help = String::from_utf8(output.stdout).expect("our words are UTF-8");
    let (_, of_option) = help.split_once("--profile <NAME>").expect("the option is there");
    let (text, _) = of_option.split_once("[default:").expect("the default is there");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let catalogue = Catalogue::embedded().expect("the catalogue is right");
    for interface in Interface::all() {
        let names: Vec<&str> =
            catalogue.profiles(interface).map(|profile| profile.name.as_str()).collect();
        let listed = match names.as_slice() {
            [] => continue,
            [one] => format!("{one} for {}", interface.name()),
            [others @ .., last] => {
                format!("{} or {last} for {}", others.join(", "), interface.name())
            }
        };
        assert!(text.contains(&listed), "`{listed}` is not in `{text}`");
    }
}

#[test]
fn help_names_the_exit_codes() {
    let output = allocert(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stdout), @"
    Certifies GPU memory allocators and GPU arrays against their specification, without a GPU

    Usage: allocert <COMMAND>

    Commands:
      run       Run the cases of a side on a subject and judge what was recorded
      certify   Run all cases of a side, and write a certificate if the subject conforms
      verify    Judge the run of a certificate again, and compare it with what the certificate says
      judge     Judge a recorded run again
      merge     Join the runs of all shards of a side into one run
      report    Report recorded runs in the format of another tool
      snapshot  Write what the subject did in each case as a snapshot file
      diff      Show what changed between two runs, the verdicts first
      trace     Show all that was recorded of one case, step by step
      debug     Run one case under a debugger, without a time limit
      explore   Try random sequences of operations, and write each violation as a fixture
      matrix    Pass the arrays of each library to each other library, and show which pairs work
      explain   Explain a requirement, freedom, case, profile, C contract or the code of a refusal
      show      Print the fixture of a case, with the numbers of its lines
      list      List the cases
      coverage  Show which requirements are tested by how many cases
      mutants   Run the suite on subjects that violate requirements, and show which it finds
      variants  Run the suite on subjects that use freedoms of the texts, and show which it blames
      fixtures  Work on fixture files
      new       Write a small plugin for emm, with its tests and a workflow for GitHub
      help      Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    `allocert completions SHELL` and `allocert man` print completions and the manual page.

    Exit codes:
      0  no violation of a MUST, or only those that the expectation file lists
      1  a violation of a MUST, or a listed violation that no longer happens;
         of mutants and variants: a mutant survives, or a variant is blamed
      2  the command line, a fixture or an expectation file is wrong, or the subject cannot be used
      3  allocert could not do its work
      4  no case has a result
      5  a case ran and what it asks about was not observed, and neither the expectation file nor
         --allow-not-observed says that this is known
    ");
}

/// One run in every format; a file that is refused, or that is not asked for, is not written.
#[test]
fn a_recorded_run_is_reported_in_each_format() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (run, other) = (path("run.jsonl"), path("other.jsonl"));
    for (out, reference) in [(&run, "reference"), (&other, "reference:deferred")] {
        let output = allocert(&["run", "emm", reference, "--filter", "emm/zero/*", "--out", out]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    let begins = [
        ("terminal", "emm reference on the software driver"),
        ("json", "{\n  \"cases\": ["),
        ("junit", "<?xml version"),
        ("sarif", "{\n  \"$schema\""),
        ("ctrf", "{\n  \"generatedBy\": \"allocert\""),
        ("tap", "TAP version 14\n1..15\nok 1 - emm/zero/"),
        ("markdown", "## allocert: no violation\n"),
        ("badge", "{\n  \"color\": \"yellowgreen\""),
        ("html", "<!DOCTYPE html>"),
    ];
    for (format, begin) in begins {
        let output = allocert(&["report", &run, "--format", format]);
        let text = String::from_utf8(output.stdout).expect("our words are UTF-8");
        assert!(text.starts_with(begin), "{format}: {text}");
        let file = path(format);
        let output = allocert(&["report", &run, "--format", format, "--out", &file]);
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &[][..]));
        assert_eq!(fs::read_to_string(&file).expect("it is written"), text);
    }
    // There is nothing to annotate.
    let output = allocert(&["report", &run, "--format", "github"]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &[][..]));
    let twice = allocert(&["report", &run, &run, "--format", "html", "--out", &path("twice")]);
    assert_eq!(twice.status.code(), Some(0), "{twice:?}");
    let output = allocert(&["report", &run, &other, "--format", "html"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("reference:deferred"), "{output:?}");

    let new = path("new");
    for arguments in [
        ["report", run.as_str(), &other, "--format", "tap", "--out", &new],
        ["report", new.as_str(), &run, "--format", "html", "--out", &other],
        ["report", run.as_str(), &other, "--format", "html", "--out", &run],
    ] {
        let before = fs::read(&run).expect("it is there");
        let (code, words) = refused(&arguments);
        assert_eq!((code, Path::new(&new).exists()), (2, false), "{words}");
        assert_eq!(fs::read(&run).expect("it is there"), before);
    }
}

#[test]
fn a_disk_that_is_full_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run.jsonl").display().to_string();
    let certify = ["run", "emm", "reference", "--filter", "emm/zero/twice-in-a-row", "--out"];
    assert_eq!(allocert(&[&certify[..], &[&run]].concat()).status.code(), Some(0));
    let report = ["report", &run, "--format", "junit", "--out"];
    // A run shows what it found all the same.
    let left = "\nthe report is all that is left of the run; make room, or name another file\n";
    for (command, shown, hint) in
        [(&certify[..], "no violation; 1 of 1 cases ran\n", left), (&report, "", "\n")]
    {
        let output = allocert(&[command, &["/dev/full"]].concat());
        let (printed, words) = (lossy(&output.stdout), lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(2), "{words}");
        let expected = "allocert: error[unwritable-file]: cannot write /dev/full: No space left";
        assert!(words.starts_with(expected) && words.ends_with(hint), "{words}");
        assert!(printed.ends_with(shown) && printed.is_empty() == shown.is_empty(), "{printed}");
    }
}

/// Two runs of one subject are the same in every case, threads included; another subject is not.
#[test]
fn runs_are_compared_and_accepted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let run = |reference: &str, name: &str| {
        let out = path(name);
        let output = allocert(&["run", "emm", reference, "--filter", "emm/alloc/*", "--out", &out]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        out
    };
    let diff = |arguments: &[&str]| {
        let output = allocert(&[&["diff"], arguments].concat());
        let text = String::from_utf8(output.stdout).expect("our words are UTF-8");
        (output.status.code().expect("no signal"), text)
    };
    let (one, again) = (run("reference", "one.jsonl"), run("reference", "again.jsonl"));
    let other = run("reference:deferred", "other.jsonl");
    assert_eq!(diff(&[&one, &again]), (0, "no case changed\n".to_owned()));

    // Another subject runs the cases that the run selected.
    let (code, text) = diff(&[&one, "--against", "reference"]);
    assert_eq!((code, text.as_str()), (0, "no case changed\n"));
    assert_eq!(diff(&[&one, "--against", "reference:deferred"]).0, 1);

    let snapshots = path("snapshots");
    let output = allocert(&["snapshot", &one, "--out", &snapshots]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let snapshot = format!("{snapshots}/emm/alloc/exact-size/size=1.snap");
    let before = fs::read_to_string(&snapshot).expect("a snapshot for each case");
    assert!(before.contains("cuMemAlloc_v2(bytesize=33554432) = 0, dptr=p1"), "{before}");
    assert_eq!(diff(&[&snapshots, &again]).0, 0);

    let (code, text) = diff(&[&snapshots, &other, "--pending"]);
    assert_eq!(code, 1);
    assert!(text.contains("- cuMemAlloc_v2(bytesize=33554432)"), "{text}");
    assert!(Path::new(&format!("{snapshot}.new")).exists());
    assert_eq!(fs::read_to_string(&snapshot).expect("it stays"), before);
    let (code, text) = diff(&[&snapshots, &other, "--accept", "--format", "json"]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let changed = document["cases"].as_array().expect("the cases that changed");
    assert_eq!((code, &document["format"]), (0, &json!(1)));
    assert!(changed.iter().any(|one| one["case"] == "emm/alloc/exact-size/size:1"), "{text}");
    assert_eq!(diff(&[&snapshots, &other]).0, 0);
    assert!(!Path::new(&format!("{snapshot}.new")).exists(), "what is accepted is not pending");

    // A run of fewer cases says nothing of the others, and leaves them as they are.
    let few = path("few.jsonl");
    let zero =
        ["run", "emm", "reference:deferred", "--filter", "emm/alloc/aligned/*", "--out", &few];
    assert_eq!(allocert(&zero).status.code(), Some(0));
    assert_eq!(diff(&[&snapshots, &few, "--accept"]), (0, "no case changed\n".to_owned()));
    assert!(Path::new(&snapshot).exists());
    let place = path("place.jsonl");
    let run = ["run", "place", "reference", "--filter", "place/zero", "--out", &place];
    assert_eq!(allocert(&run).status.code(), Some(0));
    let (code, words) = refused(&["diff", &snapshots, &place]);
    assert_eq!((code, words.contains("have no case in common")), (2, true), "{words}");
}

/// All cases of a side, those with threads too.
#[rstest]
#[case("nep49")]
#[case("place")]
fn one_subject_behaves_the_same_twice(#[case] side: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let runs = ["one.jsonl", "two.jsonl"].map(|name| folder.path().join(name));
    let [one, two] = runs.map(|path| {
        let path = path.display().to_string();
        assert_eq!(judged(&["run", side, "reference", "--out", &path]).0, Some(0));
        path
    });
    let (code, text) = judged(&["diff", &one, &two]);
    assert_eq!((code, text.as_str()), (Some(0), "no case changed\n"));
}

/// A disk may be full, or, as here, a file may stand where a later snapshot needs a folder.
#[test]
fn snapshots_are_written_all_or_none() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (run, snapshots) = (path("run.jsonl"), path("snapshots"));
    let cases = ["--filter", "emm/{alloc/exact-size,info/*}", "--out", &run];
    let output = allocert(&[&["run", "emm", "reference"][..], &cases].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let in_the_way = format!("{snapshots}/emm/info");
    fs::create_dir_all(format!("{snapshots}/emm")).expect("an empty folder");
    fs::write(&in_the_way, "").expect("a file");

    let (code, words) = refused(&["snapshot", &run, "--out", &snapshots]);
    assert_eq!((code, words.contains(&in_the_way)), (2, true), "{words}");
    let left = fs::read_dir(format!("{snapshots}/emm")).expect("it stays");
    assert_eq!(left.count(), 1, "no other file or folder");

    fs::remove_file(&in_the_way).expect("it is there");
    let output = allocert(&["snapshot", &run, "--out", &snapshots]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(Path::new(&format!("{snapshots}/emm/alloc/exact-size/size=1.snap")).exists());
}

/// The lines of a run whose conforming cases are said to be none of the profile.
fn without_observations(lines: &[&str]) -> Vec<String> {
    let reason = r#""verdict":{"not_applicable":{"reason":{"outside_profile":{"profile":"p"}}}}"#;
    let cases = lines.iter().filter(|line| line.starts_with("{\"verdict\"")).count();
    let kept = lines.iter().filter(|line| !line.starts_with("{\"observation\""));
    let changed = kept.map(|line| match line.starts_with("{\"footer\"") {
        true => {
            format!(
                "{{\"footer\":{{\"cases\":{cases},\"verdicts\":{{\"not-applicable\":{cases}}}}}}}"
            )
        }
        false => line.replace("\"verdict\":\"conforms\"", reason),
    });
    changed.collect()
}

/// Whoever takes the failing cases out of a run file, adds one or changes what one expects gets no
/// verdict, as long as this program has the suite that the run was made with.
#[test]
fn a_run_file_that_is_not_what_its_header_says_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (run, edited) = (path("run.jsonl"), path("edited.jsonl"));
    let arguments = ["run", "emm", "reference", "--filter", "emm/zero/*", "--shard", "1/2"];
    let output = allocert(&[&arguments[..], &["--out", &run]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(allocert(&["judge", &run]).status.code(), Some(0));
    let text = fs::read_to_string(&run).expect("the run file");
    let lines: Vec<&str> = text.lines().collect();
    let refused_as = |lines: &[&str], word: &str| {
        let mut edited_text = lines.join("\n") + "\n";
        // The footer counts what is there now.
        for (name, line) in [("cases", "\n{\"case\""), ("conforms", "\"verdict\":\"conforms\"")] {
            let counted = |text: &str| format!("\"{name}\":{}", text.matches(line).count());
            edited_text = edited_text.replace(&counted(&text), &counted(&edited_text));
        }
        let text = edited_text;
        fs::write(&edited, text).expect("it can be written");
        let snapshots = path("snapshots");
        let readers = [
            &["judge", &edited][..],
            &["report", &edited],
            &["diff", &edited, &run],
            &["snapshot", &edited, "--out", &snapshots],
        ];
        for reader in readers {
            let (code, words) = refused(reader);
            assert_eq!((code, words.contains(word)), (2, true), "{reader:?}: {words}");
        }
        assert!(!Path::new(&snapshots).exists(), "a refused snapshot writes nothing");
    };
    let second = lines.iter().skip(2).position(|line| line.starts_with("{\"case\""));
    let second = second.expect("there are several cases") + 2;
    refused_as(&[&lines[..1], &lines[second..]].concat(), "is missing");
    let changed = lines[1].replacen("\"about\":\"", "\"about\":\"not ", 1);
    refused_as(&[&[lines[0], &changed], &lines[2..]].concat(), "is not as this suite states it");
    let header = lines[0].replacen("\"shard\":\"1/2\"", "\"shard\":\"2/2\"", 1);
    refused_as(&[&[header.as_str()], &lines[1..]].concat(), "is missing");
    let header = lines[0].replacen("\"interface\":\"emm\"", "\"interface\":\"nothing\"", 1);
    refused_as(&[&[header.as_str()], &lines[1..]].concat(), "allocert knows no side `nothing`");
    let left_out = without_observations(&lines);
    let left_out: Vec<&str> = left_out.iter().map(String::as_str).collect();
    refused_as(&left_out, " is called not applicable, and the subject can run it");
    // Another suite has other cases. The report says that they were not compared.
    let (before, after) = lines[0].split_once("\"suite\":\"").expect("the header has the suite");
    let header = format!("{before}\"suite\":\"x{}", &after[1..]);
    fs::write(&edited, [&[header.as_str()], &lines[1..]].concat().join("\n") + "\n")
        .expect("written");
    let judged = allocert(&["judge", &edited]);
    let printed = String::from_utf8_lossy(&judged.stdout);
    assert!(printed.contains(": whether it has all cases is not known\n"), "{printed}");
}

/// What `nep49` asks is mostly in the results of the steps. A file without the count is one of an
/// older version.
#[rstest]
#[case::no_event(true, true, "its trace has 0 events, and ")]
#[case::no_event_and_no_count(true, false, "step 0 has an outcome and no markers in the trace")]
#[case::no_call(false, true, " were recorded: the run file was changed")]
fn a_run_without_its_events_has_no_result(
    #[case] all: bool,
    #[case] counts: bool,
    #[case] words: &str,
) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run.jsonl").display().to_string();
    let arguments = ["run", "nep49", "reference", "--filter", "nep49/alloc/aligned/*"];
    assert_eq!(judged(&[&arguments[..], &["--out", &run]].concat()).0, Some(0));
    let text = fs::read_to_string(&run).expect("the run file");
    let changed = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if let Some(observation) = line.get_mut("observation") {
            let events = observation["events"].as_array_mut().expect("a list");
            events.retain(|event| !all && event.get("call").is_none());
            let fields = observation.as_object_mut().expect("an object");
            let recorded = fields.remove("events_recorded");
            assert!(recorded.is_some(), "the harness counts");
            if counts {
                fields.extend(recorded.map(|count| ("events_recorded".to_owned(), count)));
            }
        }
        format!("{line}\n")
    };
    fs::write(&run, text.lines().map(changed).collect::<String>()).expect("it can be written");
    let (code, printed) = judged(&["judge", &run]);
    assert_eq!(code, Some(3), "{printed}");
    assert!(printed.contains("harness-error: the record contradicts itself: "), "{printed}");
    assert!(printed.contains(words), "{printed}");
}

/// A finding names a file that an installed program does not have on the disk.
#[rstest]
#[case("emm/alloc/exact-size/size:255")]
#[case("fixtures/cases/emm/alloc/exact-size.yaml")]
#[case("fixtures/cases/emm/alloc/exact-size.yaml:11")]
fn the_fixture_of_a_case_is_shown(#[case] case: &str) {
    let output = allocert(&["show", case]);
    let text = String::from_utf8(output.stdout).expect("fixtures are UTF-8");
    assert!(text.starts_with("fixtures/cases/emm/alloc/exact-size.yaml\n   1  #"), "{text}");
    assert!(text.contains("\n   3  case: emm/alloc/exact-size\n"), "{text}");
}

/// A run file is untrusted: the id of a case must not lead out of the folder.
#[test]
fn a_snapshot_is_not_written_outside_of_its_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let run = path("run.jsonl");
    let filter = "emm/alloc/exact-size/size:1";
    let output = allocert(&["run", "emm", "reference", "--filter", filter, "--out", &run]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = fs::read_to_string(&run).expect("the run file");
    let outside = text.replace(filter, "../../out/size");
    fs::write(&run, &outside).expect("it can be written");
    let snapshot = ["snapshot", &run, "--out", &path("a/b")];
    let (code, words) = refused(&snapshot);
    assert_eq!((code, words.contains("matches no case")), (2, true), "{words}");
    // Of a run of another suite nobody here knows the cases.
    fs::write(&run, outside.replacen("\"suite\":\"", "\"suite\":\"x", 1)).expect("written");
    let (code, words) = refused(&snapshot);
    assert_eq!((code, words.contains("an id that names no file")), (2, true), "{words}");
    let (code, words) = refused(&["diff", &run, &run, "--accept"]);
    assert_eq!((code, words.contains("it is no folder")), (2, true), "{words}");
    let (code, words) = refused(&["diff", &path(""), &run]);
    assert_eq!((code, words.contains("holds no snapshot")), (2, true), "{words}");
}

#[test]
fn a_case_that_is_not_there_is_not_shown() {
    let (code, words) = refused(&["show", "emm/alloc/exact-seize/size:1"]);
    assert_eq!((code, words.contains("did you mean emm/alloc/exact-size/size:1?")), (2, true));
}

#[rstest]
#[case(
    &["matrix", "emm"],
    2,
    "allocert: error[unknown-interface]: `emm` has no matrix; cai has one"
)]
#[case(
    &["matrix", "cai", "--filter", "nothing"], 4,
    "allocert: nothing to do: no case matches `nothing`; there are plain, bytes"
)]
#[case(
    &["matrix", "cai", "--producers", "a-b"], 2,
    "allocert: error[invalid-subject]: `a-b` is no module[:attribute] that Python could import"
)]
fn a_matrix_of_nothing_is_refused(
    #[case] arguments: &[&str],
    #[case] code: i32,
    #[case] message: &str,
) {
    let output = allocert(arguments);
    assert_eq!(output.status.code(), Some(code));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.starts_with(message), "{told}");
}

/// A copy of the program in a folder of its own, with or without a file in the recording driver's
/// place.
fn installed(driver: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("tmp")).expect("writable");
    let program = folder.path().join("allocert");
    std::fs::hard_link(env!("CARGO_BIN_EXE_allocert"), &program)
        .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_allocert"), &program).map(drop))
        .expect("a second name for the program");
    if driver {
        write(&folder.path().join("liballocert_libcuda.so"), "");
    }
    folder
}

/// Runs the copy on the harness's scripted worker (`runners/harness/tests/worker.py`).
fn scripted(folder: &Path, subject: &str) -> Command {
    let worker = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harness/tests/worker.py");
    let mut command = Command::new(folder.join("allocert"));
    command
        .args(["run", "emm", subject, "--filter", "emm/alloc/exact-size", "--python"])
        .arg(worker);
    command.env("TMPDIR", folder.join("tmp")).env_remove("ALLOCERT_LIBCUDA");
    command
}

#[test]
fn a_missing_driver_is_named_with_the_command_that_builds_it() {
    let folder = installed(false);
    let output = scripted(folder.path(), "scripted:fine").output().expect("it starts");
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        words.starts_with("allocert: liballocert_libcuda.so is not beside this program in "),
        "{words}"
    );
    assert!(words.ends_with("; `cargo build -p allocert-libcuda` builds it\n"), "{words}");
}

#[test]
fn a_subject_that_cannot_be_loaded_is_no_violation() {
    let folder = installed(true);
    let output = scripted(folder.path(), "scripted:refuses").output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    let words = "allocert: error[subject-refused]: the subject scripted:refuses cannot be loaded \
                 (import): No module named 'pool'\n  Traceback\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), words);
}

/// The headers of a library: 8 bytes of the file, from 4096 on, are to be mapped.
const CUT_OFF: [u8; 120] = {
    let fields: [(usize, [u8; 2]); 13] = [
        (0, *b"\x7fE"),
        (2, *b"LF"),
        (4, [2, 1]),  // 64 bits, little endian
        (6, [1, 0]),  // version
        (16, [3, 0]), // a shared library
        (18, [62, 0]),
        (20, [1, 0]),
        (32, [64, 0]), // where the program headers begin
        (54, [56, 0]), // the bytes of each
        (56, [1, 0]),  // how many they are
        (64, [1, 0]),  // to be mapped
        (72, [0, 16]), // from here on
        (96, [8, 0]),  // so many bytes
    ];
    let mut bytes = [0; 120];
    let mut index = 0;
    while index < fields.len() {
        let (at, [first, second]) = fields[index];
        bytes[at] = first;
        bytes[at + 1] = second;
        index += 1;
    }
    bytes
};

#[rstest]
#[case::of_another_machine(
    b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\xf3\0\x01\0\0\0",
    "it is built for RISC-V, and this machine runs "
)]
#[case::no_library(b"# a script", "it is no ELF file, so it is no shared library of this system")]
#[case::cut_off(
    &CUT_OFF,
    ": cannot be loaded: the file is cut off: it has 120 bytes, and its header names 4104 at \
     least; copy or build it again\n"
)]
fn a_library_that_this_machine_cannot_load_is_explained(
    #[case] content: &[u8],
    #[case] reason: &str,
) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let library = folder.path().join("lib.so");
    fs::write(&library, content).expect("the folder is ours");
    let output = allocert(&["run", "nep49", &library.display().to_string()]);
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains(reason), "{words}");
}

#[test]
fn an_interpreter_that_is_not_there_is_the_command_lines_fault() {
    let folder = installed(true);
    let mut command = Command::new(folder.path().join("allocert"));
    let output = command
        .args(["run", "emm", "pool", "--python", "/none/python"])
        .env_remove("ALLOCERT_LIBCUDA")
        .output()
        .expect("it starts");
    let words = "allocert: error[cannot-start]: cannot start `/none/python`: No such file or \
                 directory \
                 (os error 2); name another interpreter with --python\n";
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
        (Some(2), words)
    );
}

#[test]
fn a_program_that_is_no_interpreter_is_the_command_lines_fault() {
    let folder = installed(true);
    let mut command = Command::new(folder.path().join("allocert"));
    let output = command
        .args(["run", "emm", "pool", "--python", "/bin/true"])
        .env_remove("ALLOCERT_LIBCUDA")
        .output()
        .expect("it starts");
    let words = "allocert: error[unusable-python]: the worker `/bin/true` ended with exit code 0 \
                 before it \
                 connected; \
                 is it Python 3.10 or later? name another interpreter with --python\n";
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
        (Some(2), words)
    );
}

#[test]
fn a_subject_that_hangs_while_it_is_loaded_has_at_least_the_time_of_an_import() {
    let folder = installed(true);
    let begin = std::time::Instant::now();
    let output = scripted(folder.path(), "scripted:hangs_loading")
        .args(["--timeout", "1"])
        .output()
        .expect("it starts");
    let words = "allocert: error[subject-unloadable]: the subject scripted:hangs_loading cannot \
                 be loaded: \
                 the worker said nothing for 10 s, while it loaded it\n";
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
        (Some(2), words)
    );
    assert!(begin.elapsed() < std::time::Duration::from_secs(60));
}

#[test]
fn a_recorded_run_is_judged_again_to_the_same_words() {
    let folder = installed(true);
    let out = folder.path().join("run.jsonl");
    let first = scripted(folder.path(), "scripted:fine")
        .arg("--out")
        .arg(&out)
        .output()
        .expect("it starts");
    let again = allocert(&["judge", &out.display().to_string()]);
    assert_eq!(
        first.status.code(),
        Some(3),
        "a worker that writes no trace is not believed: {first:?}"
    );
    assert_eq!((again.status.code(), again.stdout), (first.status.code(), first.stdout));
}

/// Exit code and words of a command that works on the software driver and complains of nothing.
fn judged(arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
    let output = command
        .args(arguments)
        .env("ALLOCERT_LIBCUDA", recorder())
        .output()
        .expect("the program that cargo built starts");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_run_is_judged_by_its_profile_unless_another_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("run.jsonl").display().to_string();
    let run = [
        "run",
        "emm",
        "reference",
        "--filter",
        "emm/{info,reset}",
        "--out",
        &out,
        "--profile",
        "nbep7",
    ];
    let (code, first) = judged(&run);
    assert_eq!(code, Some(0), "{first}");
    let line = first.lines().nth(1).expect("the profile");
    assert!(
        line.starts_with("profile nbep7: ")
            && line.ends_with("requirements are left out (more: allocert explain nbep7)"),
        "{line}"
    );
    assert!(
        first.contains(
            "not-applicable: the profile nbep7 contains nothing of what the case states\n"
        ),
        "{first}"
    );
    assert_eq!(judged(&["judge", &out]).1, first);
    let (code, other) = judged(&["judge", &out, "--profile", "numba-cuda-0.30"]);
    assert_eq!(code, Some(0), "{other}");
    assert!(
        other.contains(
            "not-observed: the run was made with the profile nbep7, which leaves the case out; "
        ),
        "{other}"
    );
    assert!(
        other.contains(
            "not-applicable: the profile numba-cuda-0.30 contains nothing of what the case states\n"
        ),
        "{other}"
    );
    let text = std::fs::read_to_string(&out).expect("the run file");
    let of_python = text.replacen("\"flavor\":\"native\"", "\"flavor\":\"python\"", 1);
    assert_ne!(of_python, text);
    std::fs::write(&out, of_python).expect("it can be written");
    let (code, words) = refused(&["judge", &out, "--profile", "numba-cuda-0.30"]);
    assert_eq!(code, 2, "{words}");
    assert!(
        words.contains("made in a host that is true to the profile nbep7; to judge the plugin by"),
        "{words}"
    );
}

#[test]
fn ctrl_c_ends_the_workers_and_leaves_nothing_behind() {
    let folder = installed(true);
    let child =
        scripted(folder.path(), "scripted:hangs_everywhere").args(["--timeout", "60"]).spawn();
    let mut child = child.expect("it starts");
    let tmp = folder.path().join("tmp");
    let left = || std::fs::read_dir(&tmp).expect("it exists").count();
    wait_until(|| Path::new(&tmp).join("hangs").exists());
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
    std::fs::remove_file(tmp.join("hangs")).expect("the worker's sign of life");
    assert_eq!(left(), 0, "the run's folder is still there");
    let pattern = folder.path().display().to_string();
    let found = Command::new("pgrep").args(["-f", &pattern]).output().expect("pgrep");
    assert_eq!(String::from_utf8_lossy(&found.stdout), "", "a worker is still there");
}

#[rstest]
#[case::address_space(
    "ulimit -v 8000000",
    "the limit on address space (`ulimit -v`) is 8192000000 bytes"
)]
#[case::files(
    "ulimit -f 1000",
    "this system would not let the harness make the trace ring: File too large"
)]
fn a_limit_of_the_system_is_not_the_subjects_fault(#[case] limit: &str, #[case] words: &str) {
    let folder = installed(true);
    let command =
        format!("{limit}; exec {} run emm reference", folder.path().join("allocert").display());
    let mut shell = Command::new("bash");
    let output = shell
        .args(["-c", &command])
        .env("TMPDIR", folder.path().join("tmp"))
        .output()
        .expect("it starts");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains(words), "{told}");
    assert_eq!(std::fs::read_dir(folder.path().join("tmp")).expect("it exists").count(), 0);
}

#[test]
fn a_small_stack_is_enough() {
    let command =
        format!("ulimit -s 128; exec {} run emm reference", env!("CARGO_BIN_EXE_allocert"));
    let output = Command::new("bash")
        .args(["-c", &command])
        .env("ALLOCERT_LIBCUDA", "") // as if it were unset
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

fn wait_until(true_now: impl Fn() -> bool) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !true_now() {
        assert!(std::time::Instant::now() < until, "it never happened");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
    std::fs::write(path, text).expect("writable");
}

#[rstest]
#[case::seed(
    &["explore", "emm", "reference", "--seed", "seven"],
    "invalid value 'seven' for '--seed <S>'"
)]
#[case::ops(&["explore", "emm", "reference", "--ops", "0"], "0 is not in 1..")]
#[case::repeat(&["run", "emm", "reference", "--repeat", "0"], "a whole number from 1 on")]
#[case::interface(
    &["explore", "emm-host", "reference"],
    "there is no model of `emm-host` to explore with; there are emm, nep49"
)]
#[case::subject(&["explore", "emm", "./libpool.so"], "there is no library ./libpool.so")]
#[case::folder(
    &["explore", "emm", "reference", "--out", "/proc/none"],
    "cannot write fixtures to /proc/none: "
)]
fn a_wrong_exploration_is_refused_with_the_reason(
    #[case] arguments: &[&str],
    #[case] reason: &str,
) {
    let (code, words) = refused(arguments);
    assert_eq!(code, 2, "{words}");
    assert!(words.contains(reason), "{words}");
}

#[test]
fn nothing_is_found_in_the_reference_by_20000_operations() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().display().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
    command.args(["explore", "emm", "reference", "--ops", "20000", "--seed", "11", "--out", &out]);
    let output = command
        .env("ALLOCERT_LIBCUDA", recorder())
        .output()
        .expect("the program that cargo built starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(printed.starts_with("emm reference on the software driver, seed 11\n20,"), "{printed}");
    assert!(printed.ends_with("nothing found\n"), "{printed}");
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("it is there").count(),
        0,
        "no fixture is written"
    );
}

/// What a program wrote for a newer or an older format says so itself.
#[test]
fn a_fixture_that_exploring_wrote_says_how_it_is_made_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("emm-alloc-13-seed-7.yaml");
    let head = "# Broke EMM-ALLOC-13 in a random sequence of operations.\n\
        # Written by allocert 0.0.1; made again by: \
        allocert explore emm ./libpool.so --seed 7 --ops 4000\n";
    write(
        &path,
        &format!(
            "{head}case: emm/explored/emm-alloc-13-seed-7\nabout: x\nsteps:\n  - do: \
             {{initialise: {{}}}}\n"
        ),
    );
    let (code, words) = refused(&["fixtures", "check", &path.display().to_string()]);
    assert_eq!(code, 2);
    let (words, origin) = words.split_once(" (").expect("a help with the origin");
    let told = "written by allocert 0.0.1, and made again by `allocert explore emm ./libpool.so \
                --seed 7 --ops 4000`)";
    assert_eq!(origin, told);
    let given = folder.path().display().to_string();
    insta::assert_snapshot!(words.replace(&given, "GIVEN"), @"
    allocert: fixture broken[unknown-word]: unknown word `initialise`
     --> GIVEN/emm-alloc-13-seed-7.yaml:6:10
      |
    6 |   - do: {initialise: {}}
      |          ^^^^^^^^^^
      |
      = help: did you mean `initialize`?
    ");
}

/// A fixture need not be in its place to be read; its file has the last word of its name.
#[rstest]
#[case::out_of_place("aligned.yaml", 0, "")]
#[case::another_name("other.yaml", 2, "the case is called `emm/mine/aligned`")]
fn a_fixture_out_of_its_place_is_read_by_its_own_name(
    #[case] file: &str,
    #[case] code: i32,
    #[case] words: &str,
) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(file);
    let steps = "steps:\n  - do: {initialize: {}}\n    expect:\n      EMM-INIT-01: {returns: {}}\n";
    write(&path, &format!("# Mine.\ncase: emm/mine/aligned\nabout: x\n{steps}"));
    for arguments in [vec!["fixtures", "check"], vec!["run", "emm", "reference", "--fixtures"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
        command.args(arguments).arg(&path).env("ALLOCERT_LIBCUDA", recorder());
        let output = command.output().expect("the program that cargo built starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(words), "{said}");
    }
}

/// `timeout` sends its signal to the program and to its group.
#[test]
fn two_signals_at_once_end_a_run_in_order() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
    command
        .args(["explore", "emm", "reference", "--ops", "1000000000000"])
        .env("ALLOCERT_LIBCUDA", recorder());
    command.env("TMPDIR", folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program that cargo built starts");
    let left = || std::fs::read_dir(folder.path()).expect("it is there").count();
    while left() == 0 {
        thread::sleep(Duration::from_millis(10));
    }
    let pid = child.id().to_string();
    // In between the program may reach its first wait, and be about to end already.
    for _ in 0..2 {
        let _ = Command::new("kill").args(["-TERM", &pid]).stderr(Stdio::null()).status();
    }
    let output = child.wait_with_output().expect("it ends");
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), left()), (Some(3), 0), "{words}");
    assert_eq!(words, "allocert: interrupted; the workers were ended and nothing was judged\n");
}

/// `env` stands in for a debugger: it starts what it is given.
#[test]
fn a_case_runs_under_a_debugger_and_is_shown() {
    let id = "emm/alloc/exact-size/size:1";
    let (code, shown) = judged(&["debug", "emm", "reference", id, "--", "env"]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.starts_with("emm/alloc/exact-size/size:1 conforms\n"), "{shown}");
    assert!(shown.contains("memalloc {as: a, size: 1} on m\n  returned {"), "{shown}");
}

#[rstest]
#[case(
    &["debug", "emm", "reference", "emm/alloc/exact-siz/size:1"],
    "unknown-case",
    "there is no case `emm/alloc/exact-siz/size:1`, did you mean emm/alloc/exact-size/size:1?"
)]
#[case(
    &["debug", "place", "reference", "place/free/rounds"],
    "unknown-case",
    "there is no case `place/free/rounds`, but 2 below it, place/free/rounds/place:cuda and \
     place/free/rounds/place:cuda_pinned"
)]
#[case(
    &["show", "nep49/free"],
    "unknown-case",
    "there is no case `nep49/free`, but 28 below it: nep49/free/guessed-size-large/guess:1, \
     nep49/free/guessed-size-large/guess:4096 and 26 more"
)]
#[case(
    &["show", "nep49/free/leak-of-man"],
    "unknown-case",
    "there is no case `nep49/free/leak-of-man`, did you mean nep49/free/leak-of-many?"
)]
#[case(
    &["debug", "emm", "reference", "emm/alloc/exact-size/size:1", "--", "/none/gdb"],
    "cannot-start",
    "cannot start `/none/gdb`: No such file or directory (os error 2); install it, or name \
     another debugger behind `--`"
)]
#[case(
    &["trace", "none.jsonl", "emm/alloc/exact-size/size:1"],
    "unreadable-file",
    "cannot read the run file none.jsonl: No such file or directory (os error 2)"
)]
fn what_cannot_be_debugged_is_refused(
    #[case] arguments: &[&str],
    #[case] code: &str,
    #[case] words: &str,
) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
    let output = command.args(arguments).env("ALLOCERT_LIBCUDA", recorder()).output();
    let output = output.expect("the program that cargo built starts");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        format!("allocert: error[{code}]: {words}\n")
    );
}

#[test]
fn a_kept_run_has_a_run_file_whose_cases_can_be_shown() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let kept = folder.path().join("kept").display().to_string();
    let (code, report) =
        judged(&["run", "emm", "reference", "--filter", "emm/reset", "--keep", &kept]);
    assert_eq!(code, Some(0), "{report}");
    let run = format!("{kept}/run.jsonl");
    let (code, shown) = judged(&["trace", &run, "emm/reset/before-initialize"]);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("reset {} on m\n  returned {none: true}\n"), "{shown}");
    let words = refused(&["trace", &run, "emm/reset/none"]).1;
    assert!(
        words.starts_with("allocert: error[unknown-case]: there is no case `emm/reset/none`"),
        "{words}"
    );
    let again = ["run", "emm", "reference", "--filter", "emm/reset", "--keep", &kept];
    let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
    let output = command.args(again).env("ALLOCERT_LIBCUDA", recorder()).output();
    let output = output.expect("the program that cargo built starts");
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(words.ends_with("/kept: it is not empty\n"), "{words}");
}

/// A compressed run file is judged to the same words as a plain one, and is much smaller.
#[test]
fn a_run_file_is_compressed_if_its_name_says_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = |end: &str| folder.path().join(format!("run.jsonl{end}")).display().to_string();
    let plain = name("");
    let run = ["run", "emm", "reference", "--filter", "emm/alloc/*", "--out"];
    assert_eq!(judged(&[&run[..], &[plain.as_str()]].concat()).0, Some(0));
    let size = |path: &String| std::fs::metadata(path).expect("written").len();
    for compressed in [name(".gz"), name(".zst")] {
        assert_eq!(judged(&[&run[..], &[compressed.as_str()]].concat()).0, Some(0));
        assert!(size(&compressed) * 5 < size(&plain), "{} {}", size(&compressed), size(&plain));
        assert_eq!(judged(&["judge", &compressed]), judged(&["judge", &plain]));
        assert_eq!(judged(&["trace", &compressed, "emm/alloc/exact-size/size:1"]).0, Some(0));
    }
}

/// Compressed files that were cut off at any place, damaged, or not compressed at all.
#[rstest]
#[case::gzip("run.jsonl.gz")]
#[case::zstd("run.jsonl.zst")]
fn a_damaged_compressed_run_file_is_refused(#[case] file: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(file);
    let name = path.display().to_string();
    let run = ["run", "emm", "reference", "--filter", "emm/alloc/exact-size/*", "--out", &name];
    assert_eq!(judged(&run).0, Some(0));
    let whole = std::fs::read(&path).expect("written");
    let middle = whole.len() / 2;
    let mut flipped = whole.clone();
    flipped[middle] ^= 0x55;
    let damaged = [
        whole[..4].to_vec(),
        whole[..middle].to_vec(),
        whole[..whole.len() - 1].to_vec(),
        [whole.as_slice(), b"more"].concat(),
        flipped,
        b"{\"header\": {}}\n".to_vec(),
    ];
    for bytes in damaged {
        std::fs::write(&path, &bytes).expect("written");
        let (code, words) = refused(&["judge", &name]);
        assert_eq!(code, 2, "{words}");
        assert!(words.starts_with("allocert: error[invalid-run-file]: "), "{words}");
    }
    std::fs::write(&path, &whole[..middle]).expect("written");
    let (_, words) = refused(&["judge", &name]);
    assert!(words.contains("the compressed file is cut off or damaged"), "{words}");
    // A file that was copied, or decompressed, under the old name.
    std::fs::write(&path, "{\"header\":{}}\n").expect("written");
    let (_, words) = refused(&["judge", &name]);
    let expected = format!("{name}: its name is that of a compressed file, and it is none of that");
    assert!(words.contains(&expected), "{words}");
}

#[test]
fn another_compression_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.jsonl.xz");
    let (code, words) = refused(&["run", "emm", "reference", "--out", &path.display().to_string()]);
    assert_eq!(code, 2);
    assert!(words.starts_with("allocert: error[unwritable-file]: "), "{words}");
    assert!(words.contains("end its name in .gz or .zst (it ends in .xz)"), "{words}");
    assert!(!path.exists());
    std::fs::write(&path, "compressed").expect("written");
    let (code, words) = refused(&["judge", &path.display().to_string()]);
    assert_eq!(code, 2);
    assert!(words.contains("compressed by gzip or zstd; decompress it first"), "{words}");
}

#[test]
fn no_output_replaces_a_file_that_the_run_reads_or_writes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = |file: &str| folder.path().join(file).display().to_string();
    let (run, library) = (name("run.jsonl"), name("subject.so"));
    std::fs::write(&run, "an earlier run").expect("written");
    std::fs::write(&library, "a library").expect("written");
    let (link, hard_link) = (name("link.jsonl"), name("hard-link.jsonl"));
    std::os::unix::fs::symlink(&library, &link).expect("linked");
    std::fs::hard_link(&library, &hard_link).expect("linked");
    let refused_commands: [&[&str]; 9] = [
        &["run", "nep49", &library, "--out", &library],
        &["run", "nep49", &library, "--out", &link],
        &["run", "nep49", &library, "--out", &hard_link],
        &["run", "nep49", &library, "--junit", &hard_link],
        &["matrix", "cai", "--out", &link, "--html", &hard_link],
        &["matrix", "cai", "--markdown", &run, "--html", &run],
        &["run", "nep49", &library, "--junit", &library],
        &["run", "nep49", &library, "--out", &run, "--junit", &run],
        &["run", "nep49", &library, "--out", &run], // it is no library
    ];
    for arguments in refused_commands {
        assert_eq!(refused(arguments).0, 2, "{arguments:?}");
        assert_eq!(std::fs::read_to_string(&run).expect("read"), "an earlier run");
        assert_eq!(std::fs::read_to_string(&library).expect("read"), "a library");
    }
    let (_, words) = refused(&["run", "nep49", &library, "--out", &hard_link]);
    assert!(words.contains("it is given twice, or it is also read"), "{words}");
    let one = ["run", "emm", "reference", "--filter", "emm/alloc/exact-size", "--out", &run];
    assert_eq!(allocert(&one).status.code(), Some(0));
    let recorded = std::fs::read(&run).expect("read");
    let (code, words) = refused(&["judge", &run, "--junit", &run]);
    assert_eq!(code, 2);
    assert!(words.contains("it is given twice, or it is also read"), "{words}");
    assert!(recorded.starts_with(b"{") && std::fs::read(&run).expect("read") == recorded);
}

/// The file of a subject in Python is known when the subject is loaded.
#[test]
fn no_output_replaces_the_module_of_the_subject() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (module, link) = (folder.path().join("arrays.py"), folder.path().join("run.jsonl"));
    let source = "class Producer:\n    def array(self): ...\n";
    write(&module, source);
    std::fs::hard_link(&module, &link).expect("linked");
    let commands: [&[&str]; 3] = [
        &["run", "cai-producer", "arrays", "--out", "run.jsonl"],
        &["run", "cai-producer", "arrays", "--junit", "arrays.py"],
        &["matrix", "cai", "--producers", "arrays", "--html", "arrays.py"],
    ];
    for arguments in commands {
        let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
        command.args(arguments).current_dir(folder.path()).env("PYTHONPATH", folder.path());
        command.env_remove("ALLOCERT_PYTHON");
        let output = command.output().expect("the program that cargo built starts");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(words.contains("error[unwritable-file]: "), "{words}");
        assert!(words.contains("the subject was loaded from it"), "{words}");
        assert_eq!(std::fs::read_to_string(&module).expect("read"), source);
    }
}

/// The words of a run on a mutant of a handler, and of what has another type than a handler.
fn run_of_handler(symbol: &str) -> Output {
    let folder = allocert_test_support::program().parent().expect("a folder");
    let subject = format!("{}:{symbol}", folder.join("liballocert_mutants.so").display());
    allocert(&["run", "nep49", &subject])
}

#[rstest]
#[case::pointer(
    "not_a_handler_but_a_pointer",
    "`not_a_handler_but_a_pointer` has 8 bytes, so it seems to be a pointer. allocert needs the \
     symbol of the structure PyDataMem_Handler itself, which has 168 bytes, and not of a pointer \
     to it"
)]
#[case::function(
    "not_a_handler_but_a_function",
    "`not_a_handler_but_a_function` is a function. allocert needs the symbol of the structure \
     PyDataMem_Handler itself; where a function makes the structure, export a variable that holds \
     it"
)]
#[case::too_small(
    "not_a_handler_but_a_table",
    "`not_a_handler_but_a_table` has 40 bytes. allocert needs the symbol of the structure \
     PyDataMem_Handler itself, which has 168 bytes"
)]
fn a_symbol_that_is_no_handler_is_refused(#[case] symbol: &str, #[case] words: &str) {
    let output = run_of_handler(symbol);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]), "{printed}");
    assert!(printed.starts_with("allocert: error[subject-refused]: "), "{printed}");
    assert!(printed.trim_end().ends_with(words), "{printed}");
}

#[rstest]
#[case::calloc_wraps("mutant_nep49_calloc_wraps", "NEP49-CALLOC-03", 0)]
#[case::realloc_frees("mutant_nep49_realloc_frees_old", "NEP49-REALLOC-02", 1)]
#[case::free_trusts_size("mutant_nep49_free_trusts_size", "NEP49-FREE-02", 1)]
#[case::free_overwrites_size("mutant_nep49_free_overwrites_size", "NEP49-FREE-02", 1)]
#[case::free_of_null_aborts("mutant_nep49_free_of_null_aborts", "NEP49-FREE-01", 1)]
#[case::short_page("mutant_nep49_short_last_page", "NEP49-ALLOC-02", 1)]
#[case::read_only_block("mutant_nep49_read_only_block", "NEP49-ALLOC-02", 1)]
#[case::blocks_end_with_thread("mutant_nep49_blocks_end_with_thread", "NEP49-THREAD-01", 1)]
#[case::aborts_on_other_thread("mutant_nep49_aborts_on_other_thread", "NEP49-THREAD-01", 1)]
#[case::list_without_lock("mutant_nep49_swapped_free_list", "NEP49-THREAD-02", 1)]
fn the_violation_itself_comes_before_what_follows_from_it(
    #[case] symbol: &str,
    #[case] requirement: &str,
    #[case] exit_code: i32,
) {
    let output = run_of_handler(symbol);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = printed.lines().next().expect("a report");
    assert!(first.contains(&format!("the subject violates {requirement} ")), "{printed}");
    assert!(!printed.contains("harness-error"), "{printed}");
    assert_eq!(output.status.code(), Some(exit_code), "{printed}");
}

/// What a sweep observed waits in a file, and the run file has all of it.
#[test]
fn the_run_file_of_a_sweep_has_whole_observations() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run.jsonl");
    let out = path.display().to_string();
    let filter = "emm/alloc/exact-size";
    let run = ["run", "emm", "reference", "--faults", "--filter", filter, "--out", &out];
    let first = judged(&run);
    assert!(first.1.contains("fault sweep: "), "{}", first.1);
    assert_eq!(judged(&["judge", &out]), first);
    let text = std::fs::read_to_string(&path).expect("written");
    let swept = |line: &&str| line.starts_with("{\"observation\":{\"case\":") && line.contains('!');
    let observations: Vec<&str> = text.lines().filter(swept).collect();
    assert!(observations.len() > 10, "{}", observations.len());
    assert!(observations.iter().all(|line| line.contains("\"step_begin\"")));
    assert!(observations.iter().all(|line| !line.contains("\"steps\":[]")));
}

/// Below `cases` or not, a fixture is named by where it is.
#[rstest]
#[case::anywhere("mine.yaml")]
#[case::in_its_place("cases/emm/zero/mine.yaml")]
fn a_fixture_is_named_as_it_was_given(#[case] file: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(&path, "# Why.\ncase: emm/zero/mine\nabuot: it\nsteps: []\n").expect("written");
    let (code, words) = refused(&["fixtures", "check", &folder.path().display().to_string()]);
    assert_eq!(code, 2, "{words}");
    assert!(words.contains(&format!("--> {}:3:1", path.display())), "{words}");
}
