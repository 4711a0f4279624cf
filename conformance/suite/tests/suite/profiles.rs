//! Profiles: a requirement outside of the profile is not judged, and every report says so.

use allocert_suite::applicability::outside;
use allocert_suite::expectation_file::ExpectationFile;
use allocert_suite::reason::Reason;
use allocert_suite::report::terminal::{self, Detail};
use allocert_suite::report::{Completeness, Report, explain, style::Palette};
use allocert_suite::run_format::Judged;
use allocert_suite::verdict::Verdict;
use allocert_suite::{Catalogue, judge};

use crate::observation_builder::{Recorder, alloc, catalogue_text, error, memalloc, memory};
use crate::run_file::header;

const PROFILES: &str = "profiles:
  - {name: one, kind: text, default: true, about: the first text}
  - {name: two, kind: host, about: the second text as its host reads it}
differences:
  - name: size
    about: the size of memory
    positions:
      - {profile: one, section: Sizes, says: as asked, requirements: [EMM-T-01]}
      - {profile: two, section: host.size, says: rounds up, requirements: [EMM-T-02]}
";

/// The catalogue of these tests with EMM-T-02 in another profile than everything else, and that or
/// the first in force.
fn catalogue(name: &str) -> Catalogue {
    let (before, after) = catalogue_text()
        .split_once("- id: EMM-T-02")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .expect("it is there");
    let text = format!(
        "{before}- id: EMM-T-02{}",
        after.replacen("versions: [one]", "versions: [two]", 1)
    );
    let text = text.replace(
        "versions: [one]\n  observed_by: [trace]\n  ",
        "versions: [one, two]\n  observed_by: [trace]\n  ",
    );
    let files = [("emm/test.yaml", text.as_str()), ("emm/profiles.yaml", PROFILES)];
    let mut catalogue =
        Catalogue::from_files(files).unwrap_or_else(|refusals| panic!("{refusals:#?}"));
    let profile = catalogue.profile(name).cloned();
    catalogue.choose(profile);
    catalogue
}

/// 128 bytes where 64 were asked for: EMM-T-01 and EMM-T-02 both complain, if they may.
fn both() -> Recorder {
    let wrong = "{EMM-T-01: {returns: {size_bytes: {is: 64}}}, \
        EMM-T-02: {returns: {size_bytes: {is: 64}}}}";
    Recorder::new(memalloc(wrong)).step(&[alloc(1, 64)], memory(1, 128)).rest()
}

fn broken(recorder: &Recorder, name: &str) -> Vec<String> {
    let judgement = judge::judge(&catalogue(name), &recorder.case, &recorder.seen);
    assert!(
        judgement.findings.iter().all(|finding| judgement.checked.contains(&finding.requirement))
    );
    judgement
        .findings
        .into_iter()
        .map(|finding| finding.requirement)
        .filter(|id| id.starts_with("EMM-T"))
        .collect()
}

#[test]
fn each_profile_judges_what_it_contains() {
    assert_eq!(broken(&both(), "one"), ["EMM-T-01"]);
    assert_eq!(broken(&both(), "two"), ["EMM-T-02"]);
}

#[test]
fn an_error_that_another_profile_allows_is_not_held_against_the_subject() {
    let allowed = Recorder::new(memalloc("{EMM-T-02: {raises: [any]}}"))
        .raise(&[], error("CudaAPIError", Some(2), "no"))
        .rest();
    let judgement = judge::judge(&catalogue("one"), &allowed.case, &allowed.seen);
    assert_eq!((judgement.verdict, judgement.findings), (Verdict::Conforms, vec![]));
}

#[test]
fn a_case_of_another_profile_alone_is_not_applicable() {
    let reason = Reason::OutsideProfile { profile: "one".to_owned() };
    assert_eq!(outside(&memalloc("{EMM-T-02: {returns: {}}}"), &catalogue("one")), Some(reason));
    assert_eq!(outside(&memalloc("{EMM-T-02: {returns: {}}}"), &catalogue("two")), None);
    assert_eq!(outside(&both().case, &catalogue("one")), None, "one of the two is contained");
}

#[test]
fn an_expected_violation_that_is_not_judged_is_not_missed() {
    let text = "subject: x\nseen_on: y\nexpected:\n  \
        - {requirement: EMM-T-02, cases: [\"**\"], reason: known}\n";
    let of = |name| {
        ExpectationFile::read("expect.yaml", text, &catalogue(name))
            .expect("an expectation file")
            .entries
            .len()
    };
    assert_eq!((of("one"), of("two")), (0, 1));
}

#[test]
fn the_report_says_how_much_is_left_out() {
    let (recorder, catalogue) = (both(), catalogue("two"));
    let judgement = judge::judge(&catalogue, &recorder.case, &recorder.seen);
    let cases = [Judged { case: recorder.case, observation: Some(recorder.seen), judgement }];
    let header = header();
    let text = terminal::render(
        &Report {
            header: &header,
            cases: &cases,
            catalogue: &catalogue,
            completeness: Completeness::Known,
            repeats: None,
        },
        Detail::Causes,
        Palette { colour: false },
    );
    let line = text.lines().find(|line| line.starts_with("profile")).expect("a line");
    assert_eq!(line, "profile two: 1 of 21 requirements are left out (more: allocert explain two)");
}

#[test]
fn a_requirement_is_explained_with_what_each_text_says() {
    insta::assert_snapshot!(
        explain::render("EMM-T-01", &catalogue("one"), &[]).expect("it is known")
    );
}

#[test]
fn a_profile_is_explained_with_what_it_leaves_out() {
    insta::assert_snapshot!(explain::render("two", &catalogue("one"), &[]).expect("it is known"));
}
