//! Findings are grouped by cause: over cases, and under the violation that leads to them.

use std::collections::BTreeMap;

use allocert_suite::Catalogue;
use allocert_suite::causes::causes;
use allocert_suite::report::style::Palette;
use allocert_suite::report::terminal::{self, Detail};
use allocert_suite::report::{Completeness, Report, junit};
use allocert_suite::run_format::Judged;
use allocert_suite::verdict::{Check, Finding, Place, Verdict, Witness};
use rstest::rstest;

use crate::observation_builder::{Recorder, alloc, catalogue_text, free, memalloc, memory};
use crate::run_file::header;

/// `EMM-T-10` and `EMM-T-11` carry defects and lead to all of `EMM-T-`; `EMM-T-02` is a SHOULD.
/// `EMM-U-01` comes first. `EMM-T-12` carries a defect and stands for an operation.
fn catalogue() -> Catalogue {
    let entries = "
- causes: [EMM-T-10, EMM-T-11]
  consequences: [EMM-T-*]
  because: nobody can read it
- causes: [EMM-T-12]
  consequences: [EMM-OP-MEMALLOC]
  because: what raised tells nothing
- causes: [EMM-T-02]
  consequences: [EMM-T-01]
  because: a warning leads to nothing that is worse
- causes: [EMM-OP-CREATE]
  consequences: [EMM-OP-DESTROY]
  shows_later: true
  because: the case looks for the cause later
- causes: [EMM-OP-DROP]
  consequences: [EMM-OP-RESET]
  at_earlier_step: true
  because: the case tries the plain call first
- causes: [EMM-OP-RESET]
  consequences: [EMM-OP-DROP]
  because: what was reset is gone
- causes: [EMM-OP-GET_MEMORY_INFO]
  consequences: [EMM-OP-DESTROY]
  in_other_cases: true
  because: what cannot be asked cannot be destroyed in any case
";
    let duty = |id: &str, defect: &str| {
        format!(
            "- id: {id}\n  level: MUST\n  role: plugin\n  statement: Statement of {id}.\n  \
             source: {{text: a text, section: a section}}\n  versions: [one]\n  \
             observed_by: [trace]\n  defects: [{defect}]\n"
        )
    };
    let text =
        format!("{}{}{}", catalogue_text(), duty("EMM-T-10", "ten"), duty("EMM-T-11", "eleven"));
    let text = format!("{text}{}  comes_first: true\n", duty("EMM-U-01", "twelve"));
    let text = format!("{text}{}  operation: instantiate\n", duty("EMM-T-12", "thirteen"));
    Catalogue::from_files([("emm/test.yaml", text.as_str()), ("emm/consequences.yaml", entries)])
        .unwrap_or_else(|refusals| panic!("{refusals:#?}"))
}

/// A finding of a case in the making: requirement, step, defect, message.
type Seen<'a> = (&'a str, Option<u32>, Option<&'a str>, &'a str);

fn judged(case: &str, findings: &[Seen<'_>]) -> Judged {
    let mut recorder = Recorder::new(memalloc("{EMM-T-01: {returns: {}}}"))
        .step(&[alloc(1, 64)], memory(1, 64))
        .step(&[free(1, 0)], serde_json::json!({}))
        .rest();
    case.clone_into(&mut recorder.case.id);
    case.clone_into(&mut recorder.seen.case);
    let catalogue = catalogue();
    let mut judgement = recorder.judged();
    judgement.findings = findings
        .iter()
        .map(|(requirement, step, defect, observed)| Finding {
            requirement: (*requirement).to_owned(),
            level: catalogue.get(requirement).expect("it exists").level,
            case: case.to_owned(),
            step: *step,
            place: Place { file: "cases/a.yaml".to_owned(), line: 1 },
            check: None,
            defect: defect.map(str::to_owned),
            expected: "something".to_owned(),
            observed: (*observed).to_owned(),
            events: Vec::new(),
            expected_because: None,
        })
        .collect();
    judgement.verdict = Verdict::Violates;
    Judged { case: recorder.case, observation: Some(recorder.seen), judgement }
}

/// Each cause as its requirement, the number of its findings, and the numbers of what follows.
fn grouped(cases: &[Judged]) -> Vec<(String, usize, BTreeMap<String, usize>)> {
    let catalogue = catalogue();
    let grouped = causes(&catalogue, cases);
    let all: usize = cases.iter().map(|judged| judged.judgement.findings.len()).sum();
    assert_eq!(grouped.iter().map(|cause| cause.len()).sum::<usize>(), all, "a finding is lost");
    let name = |cause: &allocert_suite::causes::Cause<'_>| {
        let consequences = cause.consequences.iter();
        let consequences = consequences.map(|(id, found)| ((*id).to_owned(), found.len()));
        let requirement = cause.first().finding.requirement.clone();
        (requirement, cause.findings.len(), consequences.collect())
    };
    grouped.iter().map(name).collect()
}

fn alone(requirement: &str, count: usize) -> (String, usize, BTreeMap<String, usize>) {
    (requirement.to_owned(), count, BTreeMap::new())
}

#[test]
fn one_message_in_many_cases_is_one_cause() {
    let cases = [
        judged("a", &[("EMM-T-01", Some(2), None, "size is 65 at 0x7d00")]),
        judged("b", &[("EMM-T-01", Some(3), None, "size is 1024 at 0x7f00")]),
        judged("c", &[("EMM-T-01", Some(2), None, "raised MemoryError")]),
    ];
    assert_eq!(grouped(&cases), [alone("EMM-T-01", 2), alone("EMM-T-01", 1)]);
}

/// Memory of another was given back, and so what the next step looks for is gone.
#[test]
fn what_a_check_saw_leads_to_what_an_expectation_misses() {
    let mut case = judged(
        "a",
        &[
            ("EMM-CHECK-USE_AFTER_FREE", Some(2), None, "given back"),
            ("EMM-CHECK-USE_AFTER_FREE", Some(3), None, "raised DriverError"),
        ],
    );
    let id = "EMM-CHECK-USE_AFTER_FREE".to_owned();
    assert_eq!(grouped(std::slice::from_ref(&case)).len(), 2, "two expectations are two causes");
    case.judgement.findings[0].check = Some(Check::UseAfterFree);
    assert_eq!(grouped(&[case]), [(id.clone(), 1, BTreeMap::from([(id, 1)]))]);
}

#[test]
fn the_likeliest_cause_is_a_must_with_the_most_findings() {
    let warning = ("EMM-T-02", Some(2), None, "slow");
    let cases = [
        judged("a", &[warning, ("EMM-OP-RESET", Some(3), None, "raised")]),
        judged("b", &[warning, ("EMM-OP-DROP", Some(3), None, "raised")]),
        judged("c", &[warning, ("EMM-OP-DROP", Some(3), None, "raised")]),
    ];
    let expected = [alone("EMM-OP-DROP", 2), alone("EMM-OP-RESET", 1), alone("EMM-T-02", 3)];
    assert_eq!(grouped(&cases), expected);
}

/// A case about order that finds a wrong value, and an access that nothing orders or none.
#[rstest]
#[case::nothing_is_out_of_order(None, "EMM-OP-DROP")]
#[case::an_access_is_out_of_order(Some("writes, not ordered after it"), "EMM-T-01")]
fn a_wrong_value_counts_for_order_only_if_an_access_is_out_of_order(
    #[case] role: Option<&str>,
    #[case] first: &str,
) {
    let asks_for_order = |case| {
        let mut judged = judged(case, &[("EMM-T-01", Some(2), None, "the value is 0")]);
        let expect = serde_json::json!({"EMM-T-01": {"returns": {}, "ordered": {"after": "used"}}});
        judged.case.steps[0].expect = serde_json::from_value(expect).expect("expectations");
        let later = role.map(|role| Witness { seq: 2, role: role.to_owned() });
        judged.judgement.findings[0].events.extend(later);
        judged
    };
    let other = judged("c", &[("EMM-OP-DROP", Some(3), None, "raised")]);
    let cases = [asks_for_order("a"), asks_for_order("b"), other];
    let (catalogue, mut ids) = (catalogue(), Vec::new());
    for cause in causes(&catalogue, &cases) {
        ids.push(cause.first().finding.requirement.clone());
    }
    assert_eq!((ids[0].as_str(), ids.len()), (first, 2));
}

#[test]
fn what_makes_a_subject_unusable_comes_first() {
    let (warning, raised) = (("EMM-T-02", Some(2), None, "slow"), "raised");
    let cases = [
        judged("a", &[warning, ("EMM-OP-RESET", Some(3), None, raised)]),
        judged("b", &[warning, ("EMM-OP-RESET", Some(3), None, raised)]),
        judged("c", &[("EMM-U-01", Some(2), Some("twelve"), "the table is too short")]),
    ];
    let expected = [alone("EMM-U-01", 1), alone("EMM-OP-RESET", 2), alone("EMM-T-02", 2)];
    assert_eq!(grouped(&cases), expected);
}

#[test]
fn what_leads_to_violations_of_other_cases_comes_before_them() {
    let follows = ("EMM-OP-DESTROY", Some(5), None, "raised");
    let cases = [
        judged("a", &[follows]),
        judged("b", &[follows]),
        judged("c", &[("EMM-OP-GET_MEMORY_INFO", Some(2), None, "printed")]),
    ];
    assert_eq!(grouped(&cases), [alone("EMM-OP-GET_MEMORY_INFO", 1), alone("EMM-OP-DESTROY", 2)]);
    assert_eq!(grouped(&cases[..2]), [alone("EMM-OP-DESTROY", 2)]);
}

#[test]
fn what_leads_to_violations_of_other_cases_takes_those_that_say_the_same() {
    let follows = ("EMM-OP-DESTROY", Some(5), None, "raised 4711");
    let cases = [
        judged("a", &[follows]),
        judged("b", &[("EMM-OP-DESTROY", Some(5), None, "printed")]),
        judged("c", &[("EMM-OP-GET_MEMORY_INFO", Some(2), None, "raised 12")]),
    ];
    let folded = BTreeMap::from([("EMM-OP-DESTROY".to_owned(), 1)]);
    let expected = [("EMM-OP-GET_MEMORY_INFO".to_owned(), 1, folded), alone("EMM-OP-DESTROY", 1)];
    assert_eq!(grouped(&cases), expected);
}

#[test]
fn consequences_are_folded_under_the_cause_in_their_case() {
    let defect = ("EMM-T-10", Some(2), Some("ten"), "no tuple");
    let cases = [
        judged("a", &[("EMM-T-01", Some(3), None, "raised"), defect]),
        judged("b", &[defect, ("EMM-T-01", Some(2), None, "there is no fact")]),
        judged("c", &[("EMM-T-01", Some(3), None, "raised")]),
    ];
    let folded = BTreeMap::from([("EMM-T-01".to_owned(), 2)]);
    assert_eq!(
        grouped(&cases),
        [("EMM-T-10".to_owned(), 2, folded), alone("EMM-T-01", 1)],
        "case c has no cause, so its finding stands alone"
    );
}

/// An operation that raised leaves nothing to compare, as a defect does.
#[test]
fn an_operation_that_raised_explains_the_expectations_of_its_step() {
    let findings =
        [("EMM-OP-MEMALLOC", Some(2), None, "raised"), ("EMM-T-12", Some(2), None, "raised")];
    let folded = BTreeMap::from([("EMM-OP-MEMALLOC".to_owned(), 1)]);
    assert_eq!(grouped(&[judged("a", &findings)]), [("EMM-T-12".to_owned(), 1, folded)]);
}

#[test]
fn a_cause_that_shows_later_explains_what_shows_before() {
    let findings = [
        ("EMM-OP-DESTROY", Some(2), None, "raised"),
        ("EMM-OP-CREATE", Some(4), None, "raised"),
        ("EMM-OP-DESTROY", Some(5), None, "raised"),
    ];
    let folded = BTreeMap::from([("EMM-OP-DESTROY".to_owned(), 2)]);
    assert_eq!(grouped(&[judged("a", &findings)]), [("EMM-OP-CREATE".to_owned(), 1, folded)]);
}

/// Each of two requirements leads to the other: the step says which is the cause.
#[rstest]
#[case::earlier("EMM-OP-DROP", 2, "EMM-OP-RESET", 3)]
#[case::later("EMM-OP-RESET", 2, "EMM-OP-DROP", 3)]
#[case::at_the_same_step("EMM-OP-RESET", 2, "EMM-OP-DROP", 2)]
fn the_earlier_of_two_that_lead_to_each_other_is_the_cause(
    #[case] cause: &str,
    #[case] at: u32,
    #[case] consequence: &str,
    #[case] shown_at: u32,
) {
    let findings =
        [(consequence, Some(shown_at), None, "raised"), (cause, Some(at), None, "raised")];
    let folded = BTreeMap::from([(consequence.to_owned(), 1)]);
    assert_eq!(grouped(&[judged("a", &findings)]), [(cause.to_owned(), 1, folded)]);
}

/// What must not be folded under the first finding, although the catalogue explains it.
#[rstest]
#[case::an_earlier_step(
    ("EMM-T-10", Some(3), Some("ten"), "no tuple"), ("EMM-T-01", Some(2), None, "raised"))]
#[case::something_worse(
    ("EMM-T-02", Some(2), None, "slow"), ("EMM-T-01", Some(3), None, "raised"))]
#[case::a_second_defect_of_the_export(
    ("EMM-T-10", Some(2), Some("ten"), "list"), ("EMM-T-11", Some(2), Some("eleven"), "str"))]
#[case::by_an_expectation_under_the_requirement_of_a_defect(
    ("EMM-T-10", Some(2), None, "there is no fact"), ("EMM-T-01", Some(3), None, "raised"))]
#[case::what_the_catalogue_does_not_explain(
    ("EMM-T-10", Some(2), Some("ten"), "no tuple"), ("EMM-OP-DROP", Some(3), None, "raised"))]
fn this_stands_alone(#[case] cause: Seen<'_>, #[case] other: Seen<'_>) {
    let groups = grouped(&[judged("a", &[cause, other])]);
    let mut ids: Vec<&str> = groups.iter().map(|(id, ..)| id.as_str()).collect();
    ids.sort_unstable();
    let mut both = [cause.0, other.0];
    both.sort_unstable();
    assert_eq!(ids, both, "{groups:?}");
}

/// An expectation under the requirement of one defect fails because of another defect.
#[test]
fn a_defect_explains_the_expectations_of_its_peers_and_its_own() {
    let findings = [
        ("EMM-T-10", Some(2), None, "there is no fact"),
        ("EMM-T-11", Some(2), None, "there is no fact"),
        ("EMM-T-10", Some(2), Some("ten"), "no tuple"),
    ];
    let folded = BTreeMap::from([("EMM-T-10".to_owned(), 1), ("EMM-T-11".to_owned(), 1)]);
    assert_eq!(grouped(&[judged("a", &findings)]), [("EMM-T-10".to_owned(), 1, folded)]);
}

/// A listed cause does not hide what no expectation file lists.
#[test]
fn a_listed_cause_explains_only_what_is_listed() {
    let findings =
        [("EMM-T-10", Some(2), Some("ten"), "no tuple"), ("EMM-T-01", Some(3), None, "raised")];
    let mut case = judged("a", &findings);
    case.judgement.findings[0].expected_because = Some("known".to_owned());
    assert_eq!(grouped(&[case]), [alone("EMM-T-01", 1), alone("EMM-T-10", 1)]);
}

/// The first line of the report names the cause; what follows from it is one line.
#[test]
fn reports_begin_with_the_cause() {
    let defect = ("EMM-T-10", Some(2), Some("ten"), "no tuple");
    let raised = ("EMM-T-01", Some(3), None, "raised Unusable");
    let warning = ("EMM-T-02", Some(3), None, "slow");
    let cases = [
        judged("emm/a/first", &[raised, defect, warning]),
        judged("emm/a/second", &[raised, defect]),
        judged("emm/a/third", &[("EMM-OP-DROP", Some(3), None, "raised")]),
    ];
    let (header, catalogue) = (header(), catalogue());
    let report = Report {
        header: &header,
        cases: &cases,
        catalogue: &catalogue,
        completeness: Completeness::Known,
        repeats: None,
    };
    let text = terminal::render(&report, Detail::Findings, Palette { colour: false });
    insta::assert_snapshot!("terminal", text);
    insta::assert_snapshot!("junit", junit::render(&report).expect("a string"));
}

#[rstest]
#[case::unknown("causes: [EMM-T-01], consequences: [EMM-T-99]", "no requirement `EMM-T-99`")]
#[case::unknown_cause("causes: [EMM-T-99], consequences: [EMM-T-01]", "no requirement `EMM-T-99`")]
#[case::empty("causes: [EMM-T-01], consequences: [EMM-NO-*]", "`EMM-NO-*` adds no requirement")]
#[case::itself(
    "causes: [EMM-T-01], consequences: [EMM-T-01]",
    "EMM-T-01 is a consequence of itself"
)]
#[case::no_cause("causes: [], consequences: [EMM-T-01]", "requirements of one side")]
fn a_wrong_entry_of_consequences_is_refused(#[case] entry: &str, #[case] message: &str) {
    refuses(&format!("- {{{entry}, because: so}}\n"), message);
}

#[test]
fn a_circle_of_consequences_is_refused() {
    let text = "- {causes: [EMM-T-01], consequences: [EMM-T-02], because: so}\n\
                - {causes: [EMM-T-02], consequences: [EMM-OP-DROP], because: so}\n\
                - {causes: [EMM-OP-DROP], consequences: [EMM-T-01], because: so}\n";
    refuses(text, "is a consequence of itself, through its other consequences");
}

#[rstest]
#[case::both_ways("at_earlier_step: true, shows_later: true, ", "", "cannot show at an earlier")]
#[case::round_a_later_one("at_earlier_step: true, ", "shows_later: true, ", "of itself")]
fn an_earlier_step_allows_no_other_circle(
    #[case] first: &str,
    #[case] second: &str,
    #[case] message: &str,
) {
    let text = format!(
        "- {{causes: [EMM-T-01], consequences: [EMM-OP-DROP], {first}because: so}}\n\
         - {{causes: [EMM-OP-DROP], consequences: [EMM-T-01], {second}because: so}}\n"
    );
    refuses(&text, message);
}

fn refuses(entries: &str, message: &str) {
    let files =
        [("emm/test.yaml", catalogue_text()), ("emm/consequences.yaml", entries.to_owned())];
    let files = files.iter().map(|(file, text)| (*file, text.as_str()));
    let refusals = Catalogue::from_files(files).expect_err("it is wrong");
    let text: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    assert!(text.concat().contains(message), "{text:?}");
}
