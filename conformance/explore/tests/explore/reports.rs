//! What a person reads.

use std::time::Duration;

use allocert_explore::report::{Outcome, Report, Shown, Written, render};
use allocert_suite::Level;
use allocert_suite::report::style::Palette;

fn report(shown: Vec<Shown>, notes: &[&str]) -> String {
    let notes = notes.iter().map(|note| (*note).to_owned()).collect();
    let (subject, elapsed) = ("./libpool.so".to_owned(), Duration::from_millis(4_000));
    let report =
        Report { subject, seed: 7, operations: 1_000_000, sequences: 2_500, elapsed, shown, notes };
    render(&report, Palette::default())
}

fn shown(outcome: Outcome) -> Shown {
    Shown {
        requirement: "EMM-ALLOC-13".to_owned(),
        level: Level::Must,
        statement: "An allocation keeps its content for as long as it lives.".to_owned(),
        sequence: 12,
        drawn: 402,
        outcome,
    }
}

fn shrunk(written: Written) -> Shown {
    let steps = [
        "initialize",
        "memalloc {size: 64, as: a1}",
        "fill {memory: a1, byte: 8}",
        "read {memory: a1}",
    ];
    shown(Outcome::Shrunk {
        steps: steps.map(str::to_owned).to_vec(),
        at: Some(3),
        candidates: 93,
        expected: "uniform is 8".to_owned(),
        observed: "uniform is 0".to_owned(),
        written,
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
    let new =
        Written::New { file: file.clone(), case: "emm/explored/emm-alloc-13-seed-7".to_owned() };
    insta::assert_snapshot!(report(vec![shrunk(new), shrunk(Written::There { file })], &[]));
}

#[test]
fn a_finding_that_cannot_be_written_is_printed() {
    let error =
        "cannot write /emm-alloc-13-seed-7.yaml: Permission denied (os error 13)".to_owned();
    let nowhere = Written::Nowhere {
        error,
        text: "# Broke EMM-ALLOC-13.\ncase: emm/explored/x\n".to_owned(),
    };
    insta::assert_snapshot!(report(vec![shrunk(nowhere)], &[]));
}

#[test]
fn a_finding_that_is_not_found_alone() {
    insta::assert_snapshot!(report(vec![shown(Outcome::NotAlone), shown(Outcome::NotAgain)], &[]));
}
