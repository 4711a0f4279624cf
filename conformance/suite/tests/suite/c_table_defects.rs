//! Side effects of calls of the C table that a worker reports.

use allocert_suite::observation::{TableCalls, TableDefect};
use allocert_suite::{Catalogue, fixture, judge};
use rstest::rstest;

use crate::observation_builder::{Recorder, error};

fn catalogue() -> Catalogue {
    Catalogue::embedded().unwrap_or_else(|refusals| panic!("{refusals:#?}"))
}

/// A recorder of a case that calls the table once, in step 2.
fn calling() -> Recorder {
    let text = "# A case of the suite's own tests.\ncase: emm/test\nabout: a test\nneeds: [table]\n\
        steps:\n  \
        - do: {call: {release: {plus: 7}}}\n    \
        expect: {EMM-TABLE-13: {raises: [invalid_value]}}\n";
    let case = fixture::plan_file("cases/emm/test.yaml", text, &catalogue());
    let mut refused = error("allocert_emm_status", None, "release: token 7 was never given");
    refused.status = Some("INVALID_VALUE".into());
    Recorder::new(case.unwrap_or_else(|refusal| panic!("{refusal}")).remove(0)).raise(&[], refused)
}

/// Findings as `requirement step: observed`, and whether this requirement was looked at.
fn judged(recorder: &Recorder, looked_at: &str) -> (Vec<String>, bool) {
    let judgement = judge::judge(&catalogue(), &recorder.case, &recorder.seen);
    let told = judgement.findings.iter().map(|finding| {
        let step = finding.step.map_or_else(String::new, |step| format!(" {step}"));
        format!("{}{step}: {}", finding.requirement, finding.observed)
    });
    (told.collect(), judgement.checked.contains(looked_at))
}

fn table_calls(defects: &[(&str, &str)]) -> Option<TableCalls> {
    let defect = |(defect, observed): &(&str, &str)| TableDefect {
        call: "release".to_owned(),
        defect: (*defect).to_owned(),
        observed: (*observed).to_owned(),
    };
    Some(TableCalls { calls: 1, defects: defects.iter().map(defect).collect() })
}

#[test]
fn a_subject_without_a_table_has_no_table_calls() {
    assert_eq!(judged(&calling().rest(), "EMM-TABLE-05"), (Vec::new(), false));
}

#[rstest]
#[case::nothing(&[], &[])]
#[case::text(
    &[("no_error_text", "last_error() is NULL")],
    &["EMM-TABLE-05 2: release: last_error() is NULL"],
)]
#[case::several(
    &[("unknown_status", "status 9"), ("size_changed", "0")],
    &["EMM-TABLE-03 2: release: status 9", "EMM-TABLE-07 2: release: 0"],
)]
#[case::of_no_requirement(&[("odd", "anything")], &[])]
fn each_defect_is_a_finding_of_its_requirement(
    #[case] defects: &[(&str, &str)],
    #[case] found: &[&str],
) {
    let mut recorder = calling();
    recorder.seen.steps[2].table_calls = table_calls(defects);
    let (told, looked_at) = judged(&recorder.rest(), "EMM-TABLE-05");
    assert_eq!(told, found);
    assert!(looked_at);
}

#[test]
fn a_table_leaves_no_context_where_it_found_none() {
    let mut recorder = calling();
    let at = recorder.seen.events.len() - 2;
    recorder.seen.events[at].context = 0;
    let python = judged(&recorder.rest(), "EMM-TABLE-26");
    assert_eq!(python, (Vec::new(), false));
    let mut recorder = calling();
    recorder.seen.steps[2].table_calls = table_calls(&[]);
    recorder.seen.events[at].context = 0;
    let (told, looked_at) = judged(&recorder.rest(), "EMM-TABLE-26");
    assert_eq!(
        (told.as_slice(), looked_at),
        (["EMM-TABLE-26 2: context 0xc0 is current afterwards".to_owned()].as_slice(), true)
    );
}
