//! The text that a user reads.

use std::time::Duration;

use allocert_explore::report::{BrokenReport, FixtureOutput, Report, ShrinkOutcome, render};
use allocert_suite::report::style::Palette;
use allocert_suite::{Level, Side};

fn report(broken: Vec<BrokenReport>, notes: &[&str]) -> String {
    let notes = notes.iter().map(|note| (*note).to_owned()).collect();
    let (subject, elapsed) = ("./libpool.so".to_owned(), Duration::from_millis(4_000));
    let report = Report {
        side: Side::Emm,
        subject,
        seed: 7,
        operations: 1_000_000,
        sequences: 2_500,
        elapsed,
        broken,
        notes,
    };
    render(&report, Palette::default())
}

fn broken(outcome: ShrinkOutcome) -> BrokenReport {
    BrokenReport {
        requirement: "EMM-ALLOC-13".to_owned(),
        level: Level::Must,
        statement: "An allocation keeps its content for as long as it lives.".to_owned(),
        sequence: 12,
        drawn_steps: 402,
        outcome,
    }
}

fn shrunk(fixture: FixtureOutput) -> BrokenReport {
    let steps = [
        "initialize",
        "memalloc {size: 64, as: a1}",
        "fill {memory: a1, byte: 8}",
        "read {memory: a1}",
    ];
    broken(ShrinkOutcome::Shrunk {
        steps: steps.map(str::to_owned).to_vec(),
        at: Some(3),
        candidates: 93,
        expected: "uniform is 8".to_owned(),
        observed: "uniform is 0".to_owned(),
        fixture,
    })
}

#[test]
fn nothing_found() {
    insta::assert_snapshot!(report(
        Vec::new(),
        &["the subject declares `ipc` and declines it, so it was left out"]
    ));
}

#[test]
fn a_finding_with_its_fixture() {
    let file = "./emm-alloc-13-seed-7.yaml".to_owned();
    let new = FixtureOutput::Created {
        file: file.clone(),
        case: "emm/explored/emm-alloc-13-seed-7".to_owned(),
    };
    insta::assert_snapshot!(report(
        vec![shrunk(new), shrunk(FixtureOutput::AlreadyThere { file })],
        &[]
    ));
}

/// What a subject says moves no cursor, and is no command of GitHub or of Azure Pipelines.
#[test]
fn what_the_subject_says_orders_nobody_about() {
    let words = "raised E: \u{1b}[2J\u{7}\n::error file=x::no\r\n##vso[task.complete]";
    let file = FixtureOutput::AlreadyThere { file: words.to_owned() };
    let mut hostile = shrunk(file);
    let ShrinkOutcome::Shrunk { steps, expected, observed, .. } = &mut hostile.outcome else {
        unreachable!("it is shrunk");
    };
    for text in [expected, observed].into_iter().chain(steps) {
        words.clone_into(text);
    }
    let error = words.to_owned();
    let unwritten = shrunk(FixtureOutput::NotWritten { error, text: words.to_owned() });
    let shown = report(vec![hostile, unwritten], &[words]);
    let commands = shown.lines().filter(|line| line.trim_start().starts_with("::"));
    assert_eq!((commands.count(), shown.contains("##vso")), (0, false), "{shown}");
    let moves = |c: char| c.is_control() && c != '\n';
    assert!(!shown.contains(moves), "{shown:?}");
    assert!(shown.contains(r"observed: raised E: \u{1b}[2J\u{7}\n::error"), "{shown}");
}

#[test]
fn a_finding_that_cannot_be_written_is_printed() {
    let error =
        "cannot write /emm-alloc-13-seed-7.yaml: Permission denied (os error 13)".to_owned();
    let nowhere = FixtureOutput::NotWritten {
        error,
        text: "# Broke EMM-ALLOC-13.\ncase: emm/explored/x\n".to_owned(),
    };
    insta::assert_snapshot!(report(vec![shrunk(nowhere)], &[]));
}

#[test]
fn a_finding_that_is_not_found_alone() {
    insta::assert_snapshot!(report(
        vec![broken(ShrinkOutcome::OnlyAfterOthers), broken(ShrinkOutcome::NotReproduced)],
        &[]
    ));
}
