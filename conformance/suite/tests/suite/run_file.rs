//! The run file: what is written is read back, and what is not a complete run is refused with its
//! line.

use std::collections::BTreeMap;

use allocert_suite::applicability::Applicability;
use allocert_suite::judge;
use allocert_suite::nouns::Need;
use allocert_suite::offer::Driver;
use allocert_suite::reason::Reason;
use allocert_suite::run_format::{self, DriverInfo, FORMAT, Header, Judged, Subject, Writer};

use crate::observation_builder::{Recorder, alloc, memalloc, memory};

pub(crate) fn header() -> Header {
    Header {
        format: FORMAT,
        allocert: "0.1.0".to_owned(),
        suite: "0123456789abcdef".to_owned(),
        interface: "emm".to_owned(),
        profile: Some("numba-cuda-0.30".to_owned()),
        subject: Subject { argument: "reference".to_owned(), ..Subject::default() },
        subject_file: None,
        driver: DriverInfo { kind: Driver::Sim, version: Some(13000), device: None },
        started_unix_ms: Some(1_700_000_000_000),
        selection: None,
    }
}

fn judged() -> Judged {
    let recorder = Recorder::new(memalloc("{EMM-T-01: {returns: {size_bytes: {is: 64}}}}"))
        .step(&[alloc(1, 64)], memory(1, 64))
        .rest();
    Judged { judgement: recorder.judged(), case: recorder.case, observation: Some(recorder.seen) }
}

/// A case that was not run.
fn unseen() -> Judged {
    let case = judged().case;
    let reason = Applicability::NotApplicable(Reason::NotDeclared { need: Need::Ipc });
    Judged { judgement: judge::not_run(&case, reason), case, observation: None }
}

fn written() -> String {
    let mut writer = Writer::begin(Vec::new(), &header()).expect("a vector");
    writer.add(&judged()).expect("a vector");
    writer.add(&unseen()).expect("a vector");
    String::from_utf8(writer.finish().expect("a vector")).expect("JSON")
}

fn refusal(text: &str) -> String {
    run_format::read("run.jsonl", text.as_bytes()).expect_err("not a run").to_string()
}

#[test]
fn a_run_is_read_back_and_judged_to_the_same() {
    let run = run_format::read("run.jsonl", written().as_bytes()).expect("own output");
    assert_eq!(run.header, header());
    assert_eq!(run.cases, [judged(), unseen()]);
    assert_eq!(
        (run.footer.cases, run.footer.verdicts),
        (2, BTreeMap::from([("not-applicable".to_owned(), 1), ("violates".to_owned(), 1)]))
    );
    let again = &run.cases[0];
    let seen = again.observation.as_ref().expect("it was run");
    assert_eq!(
        judge::judge(&crate::observation_builder::catalogue(), &again.case, seen),
        again.judgement
    );
}

#[test]
fn a_run_that_was_cut_off_is_refused() {
    let text = written();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        refusal(&(lines[..4].join("\n") + "\n")),
        "run.jsonl:4: the file ends without a footer: the run was cut off after 1 cases; run it \
         again, or judge these with `allocert judge --partial`"
    );
    let middle = &text[..text.len() - 10];
    assert!(refusal(middle).contains("without a footer"), "{}", refusal(middle));
}

#[test]
fn nothing_stands_behind_the_footer() {
    let text = written();
    let behind = "a run ends with its footer, and this line is behind it; give each run file by \
                  itself, or join shards with `allocert merge`";
    for line in text.lines() {
        assert_eq!(
            refusal(&format!("{text}{line}\n")),
            format!("run.jsonl:{}: {behind}", text.lines().count() + 1)
        );
    }
}

#[test]
fn another_file_is_refused() {
    assert!(refusal("").starts_with("run.jsonl:1: not a run file of allocert"));
    assert!(refusal("{\"a\": 1}\n").starts_with("run.jsonl:1: not a run file of allocert"));
    assert!(refusal("\u{0}\u{1}\n").starts_with("run.jsonl:1: not a run file of allocert"));
}

#[test]
fn the_record_of_a_matrix_names_the_command_that_reports_on_it() {
    let text = written().replacen("\"interface\":\"emm\"", "\"interface\":\"cai-pair\"", 1);
    assert_eq!(
        refusal(&text),
        "run.jsonl:1: the record of `allocert matrix`: two libraries ran in each case, and no \
         command reads it again; make other reports with `allocert matrix --html`, `--markdown` or \
         `--expect`"
    );
}

#[test]
fn another_format_names_its_program() {
    let text = written().replacen("\"format\":2", "\"format\":7", 1);
    assert_eq!(
        refusal(&text),
        "run.jsonl:1: written in format 7, this program reads format 2; judge it with the allocert \
         that wrote it (0.1.0)"
    );
}

/// Whoever takes the record of a failure away cannot keep a verdict without it.
#[test]
fn a_verdict_without_an_observation_is_refused() {
    let text = written();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("{\"obs")).collect();
    assert_eq!(
        refusal(&lines.join("\n")),
        "run.jsonl:3: case emm/test/case has the verdict violates, and nothing was observed of it"
    );
}

#[test]
fn a_footer_that_counts_other_verdicts_is_refused() {
    let text = written().replacen("\"violates\":1", "\"conforms\":1", 1);
    let words = refusal(&text);
    assert!(words.contains("the footer counts the verdicts {\"conforms\": 1"), "{words}");
}

#[test]
fn lines_out_of_order_are_refused() {
    let text = written();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.swap(1, 2);
    assert_eq!(refusal(&lines.join("\n")), "run.jsonl:2: this line belongs to no case");
    let mut short: Vec<&str> = text.lines().collect();
    short.drain(1..4);
    assert_eq!(
        refusal(&short.join("\n")),
        "run.jsonl:4: the footer counts 2 cases, the file holds 1"
    );
}

/// Whatever is cut off behind the header, the cases that are whole are read.
#[test]
fn what_is_whole_of_a_run_that_was_cut_off_is_read() {
    let text = written();
    let header_end = text.find('\n').expect("a header") + 1;
    let mut read = std::collections::BTreeSet::new();
    for end in header_end..text.len() {
        let run = run_format::read_partial("run.jsonl", &text.as_bytes()[..end]);
        let run = run.unwrap_or_else(|error| panic!("cut off after {end}: {error}"));
        assert_eq!(run.footer.cases, run.cases.len() as u64);
        read.insert(run.cases.len());
    }
    assert_eq!(Vec::from_iter(read), [0, 1, 2]);
    let whole = run_format::read_partial("run.jsonl", text.as_bytes()).expect("a whole run");
    assert_eq!(whole.cases, [judged(), unseen()]);
    assert!(run_format::read_partial("run.jsonl", &text.as_bytes()[..header_end - 2]).is_err());
}
