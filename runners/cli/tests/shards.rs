//! Runs of shards are joined into one run, and nothing else is. The real program.

use std::fs;
use std::process::Command;
use std::sync::LazyLock;

use rstest::rstest;

mod unsteady;

/// Exit code, standard output and standard error.
fn told(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
    command.args(arguments).env("ALLOCERT_LIBCUDA", allocert_test_support::driver());
    let output = command.output().expect("the program that cargo built starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("our words are UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Run files by name: the shards of one run, the whole run, and runs that are no part of it.
static RUNS: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = |name: &str, subject: &str, filter: &str, more: &[&str]| {
        let out = folder.path().join(name).display().to_string();
        let arguments = ["run", "emm", subject, "--filter", filter, "--out", &out];
        let (code, printed, words) = told(&[&arguments[..], more].concat());
        assert_eq!((code, words.as_str()), (Some(0), ""), "{printed}");
    };
    let filter = "emm/{zero,alloc}/*";
    run("whole.jsonl", "reference", filter, &[]);
    run("1.jsonl", "reference", filter, &["--shard", "1/3"]);
    run("2.jsonl.gz", "reference", filter, &["--shard", "2/3"]);
    run("3.jsonl", "reference", filter, &["--shard", "3/3"]);
    run("of-two.jsonl", "reference", filter, &["--shard", "2/2"]);
    run("other-subject.jsonl", "reference:deferred", filter, &["--shard", "2/3"]);
    run("other-filter.jsonl", "reference", "emm/zero/*", &["--shard", "2/3"]);
    let profile = ["--shard", "2/3", "--profile", "nbep7"];
    run("other-profile.jsonl", "reference", filter, &profile);
    let twice = |name: &str, shard: &str| {
        run(name, "reference", filter, &["--shard", shard, "--repeat", "2"]);
    };
    twice("other-repeat.jsonl", "2/3");
    twice("repeated-3.jsonl", "3/3");
    run("thrice-1.jsonl", "reference", filter, &["--shard", "1/3", "--repeat", "3"]);
    let text = fs::read_to_string(folder.path().join("1.jsonl")).expect("written");
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().position(|line| line.starts_with("{\"verdict\"")).expect("a verdict");
    let again = [&lines[..=end], &lines[1..]].concat().join("\n") + "\n";
    // The footer counts what is there now: the case conforms.
    let count = |text: &str, what: &str| text.matches(what).count();
    let footer = |what: &str, name: &str, text: &str| format!("\"{name}\":{}", count(text, what));
    let again = [("\n{\"case\"", "cases"), ("\"verdict\":\"conforms\"", "conforms")].iter().fold(
        again.clone(),
        |edited, (what, name)| {
            edited.replace(&footer(what, name, &text), &footer(what, name, &again))
        },
    );
    fs::write(folder.path().join("case-twice.jsonl"), again).expect("written");
    let foreign = text.replacen("\"suite\":\"", "\"suite\":\"0", 1);
    fs::write(folder.path().join("other-suite.jsonl"), foreign).expect("written");
    folder
});

fn path(name: &str) -> String {
    RUNS.path().join(name).display().to_string()
}

#[test]
fn a_merged_run_is_judged_like_one_that_was_not_divided() {
    let out = path("merged.jsonl.gz");
    // In any order.
    let (code, printed, words) =
        told(&["merge", &path("3.jsonl"), &path("1.jsonl"), &path("2.jsonl.gz"), "--out", &out]);
    assert_eq!((code, words.as_str()), (Some(0), ""));
    let cases = printed.replace(&out, "OUT");
    assert!(cases.starts_with("OUT: ") && cases.ends_with(" cases of 3 shards\n"), "{cases}");
    assert_eq!(told(&["judge", &out]), told(&["judge", &path("whole.jsonl")]));
    let tap = |run: &str| told(&["report", run, "--format", "tap"]).1;
    assert_eq!(tap(&out), tap(&path("whole.jsonl")), "the cases are in the order of the plan");
    assert_eq!(told(&["diff", &out, &path("whole.jsonl")]).0, Some(0));
    let (code, _, words) = told(&["merge", &out, "--out", &path("again.jsonl")]);
    assert_eq!(code, Some(2));
    assert!(words.ends_with("it is no part of a run: it was made without --shard\n"), "{words}");
}

#[rstest]
#[case::missing(&["1.jsonl", "3.jsonl"], "1.jsonl: it is shard 1/3, and shard 2/3 is missing; ")]
#[case::twice(
    &["1.jsonl", "2.jsonl.gz", "3.jsonl", "1.jsonl"],
    "1.jsonl: it is shard 1/3, and so is "
)]
#[case::mixed(&["1.jsonl", "of-two.jsonl", "3.jsonl"], "of-two.jsonl: it is shard 2/2, and ")]
#[case::whole(&["1.jsonl", "whole.jsonl"], "whole.jsonl: it is no part of a run: ")]
#[case::subject(
    &["1.jsonl", "other-subject.jsonl", "3.jsonl"],
    "other-subject.jsonl: its `subject` is not that of "
)]
#[case::filter(
    &["1.jsonl", "other-filter.jsonl", "3.jsonl"],
    "other-filter.jsonl: its `selection` is not that of "
)]
#[case::profile(
    &["1.jsonl", "other-profile.jsonl", "3.jsonl"],
    "other-profile.jsonl: its `profile` is not that of "
)]
#[case::suite(
    &["2.jsonl.gz", "3.jsonl", "other-suite.jsonl"],
    "other-suite.jsonl: its `suite` is not that of "
)]
#[case::repeat(
    &["1.jsonl", "other-repeat.jsonl", "3.jsonl"],
    "other-repeat.jsonl: its `--repeat` is not that of "
)]
#[case::repeat_count(
    &["thrice-1.jsonl", "other-repeat.jsonl", "repeated-3.jsonl"],
    "other-repeat.jsonl: its `--repeat` is not that of "
)]
#[case::case_twice(&["case-twice.jsonl", "2.jsonl.gz", "3.jsonl"], " is there twice; ")]
fn what_is_not_every_shard_of_one_run_is_refused(#[case] runs: &[&str], #[case] reason: &str) {
    let out = tempfile::NamedTempFile::new().expect("a temporary file");
    fs::write(out.path(), "an earlier run").expect("written");
    let runs: Vec<String> = runs.iter().map(|name| path(name)).collect();
    let mut arguments = vec!["merge"];
    arguments.extend(runs.iter().map(String::as_str));
    let out_name = out.path().display().to_string();
    arguments.extend(["--out", &out_name]);
    let (code, printed, words) = told(&arguments);
    assert_eq!((code, printed.as_str()), (Some(2), ""), "{words}");
    assert!(words.starts_with("allocert: error[invalid-run-file]: "), "{words}");
    assert!(words.contains(reason), "{words}");
    assert_eq!(fs::read_to_string(out.path()).expect("read"), "an earlier run");
}

#[test]
fn a_shard_is_not_overwritten() {
    let before = fs::read(path("1.jsonl")).expect("read");
    let (code, _, words) = told(&["merge", &path("1.jsonl"), "--out", &path("1.jsonl")]);
    assert_eq!(code, Some(2));
    assert!(words.contains("it is given twice, or it is also read"), "{words}");
    assert_eq!(fs::read(path("1.jsonl")).expect("read"), before);
}

/// A case that fails in some repeats is flaky in the joined run as in that of its shard.
#[test]
fn the_repeats_of_all_shards_are_joined() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = |file: &str| folder.path().join(file).display().to_string();
    let shards = [name("1.jsonl"), name("2.jsonl")];
    for (index, out) in shards.iter().enumerate() {
        let shard = format!("{}/2", index + 1);
        let mut command = unsteady::run_of("unsteady");
        command.args(["--filter", "place/alloc/keeps-bytes/**", "--jobs", "1", "--repeat", "8"]);
        command.args(["--shard", &shard, "--out", out]);
        command.env("UNSTEADY_COUNTER", name(&format!("counter-{index}")));
        assert!(command.output().expect("it starts").status.code() < Some(2));
    }
    let out = name("merged.jsonl");
    let (code, _, words) = told(&["merge", &shards[0], &shards[1], "--out", &out]);
    assert_eq!((code, words.as_str()), (Some(0), ""));
    let repeats = |run: &String| {
        let text = fs::read_to_string(run).expect("a run file");
        let footer = text.lines().last().expect("a footer");
        let footer: serde_json::Value = serde_json::from_str(footer).expect("JSON");
        footer["footer"]["repeats"].clone()
    };
    let (joined, parts) = (repeats(&out), [repeats(&shards[0]), repeats(&shards[1])]);
    assert_eq!(joined["count"], 8);
    let verdicts = |repeats: &serde_json::Value| {
        repeats["verdicts"].as_object().expect("the verdicts by case").clone()
    };
    let all = parts.iter().flat_map(verdicts).collect::<serde_json::Map<_, _>>();
    assert_eq!(verdicts(&joined), all);
    let judged = told(&["judge", &out]).1;
    assert!(judged.contains("\n8 repeats: ") && !judged.contains(" 0 of "), "{judged}");
}
