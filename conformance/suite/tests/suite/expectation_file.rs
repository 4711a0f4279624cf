//! Expectation files: a listed violation is expected, a listed violation that does not happen fails
//! the run.

use allocert_suite::expectation_file::ExpectationFile;
use allocert_suite::expectation_update::{Update, update};
use allocert_suite::reason::Reason;
use allocert_suite::verdict::{Judgement, Verdict};
use rstest::rstest;
use serde_json::json;

use crate::observation_builder::{Recorder, alloc, catalogue, free, memalloc, memory};

const LISTED: &str = "subject: mine\nseen_on: mine 1.0\nexpected:\n  \
    - requirement: EMM-CHECK-LEAK\n    cases: [\"emm/test/*\"]\n    \
    reason: it keeps a pool\n    issue: https://example.org/1\n";

fn leaking() -> Judgement {
    Recorder::new(memalloc("{EMM-T-01: {returns: {}}}"))
        .step(&[alloc(1, 64)], memory(1, 64))
        .rest()
        .judged()
}

fn clean() -> Judgement {
    let recorder =
        Recorder::new(memalloc("{EMM-T-01: {returns: {}}}")).step(&[alloc(1, 64)], memory(1, 64));
    recorder.step(&[free(1, 0)], json!({})).rest().judged()
}

fn applied(text: &str, mut judgements: Vec<Judgement>) -> Vec<Verdict> {
    let expectations = ExpectationFile::read("expect.yaml", text, &catalogue())
        .unwrap_or_else(|refusal| panic!("{refusal}"));
    expectations.apply(&mut judgements.iter_mut().collect::<Vec<_>>());
    judgements.into_iter().map(|judgement| judgement.verdict).collect()
}

#[rstest]
#[case::that_day("2026-11-23", Ok(()))]
#[case::later("2026-12-01", Ok(()))]
#[case::earlier("2026-11-22", Err("the entry of EMM-CHECK-LEAK has expired"))]
#[case::no_date("soon", Err("`soon` is no day such as 2027-01-31"))]
fn an_entry_holds_until_its_last_day(#[case] expires: &str, #[case] expected: Result<(), &str>) {
    let text = format!("{LISTED}    expires: {expires}\n");
    let today = jiff::civil::date(2026, 11, 23);
    let checked = ExpectationFile::read("expect.yaml", &text, &catalogue())
        .and_then(|file| file.check_dates(&text, today));
    match (checked, expected) {
        (Ok(()), Ok(())) => {}
        (Err(refusal), Err(words)) => {
            let refusal = refusal.to_string();
            assert!(refusal.contains(words) && refusal.contains("expect.yaml:8"), "{refusal}");
        }
        (checked, _) => panic!("{checked:?}"),
    }
}

/// An entry about a case that is not there would look like a violation that no longer happens, or
/// list nothing for ever. A swept case is there if the case that it changes is.
#[rstest]
#[case::there("[emm/test/case]", None)]
#[case::glob("['emm/test/*']", None)]
#[case::swept("['emm/test/case!cuMemAlloc_v2@1=2']", None)]
#[case::gone("[emm/test/case, emm/test/cake]", Some("did you mean `emm/test/case`?"))]
#[case::swept_gone(
    "['emm/test/none!cuMemAlloc_v2@1=2']",
    Some("`emm/test/none!cuMemAlloc_v2@1=2`")
)]
fn an_entry_about_a_case_that_is_not_there_is_refused(
    #[case] cases: &str,
    #[case] words: Option<&str>,
) {
    let text = format!(
        "subject: x\nseen_on: x 1\nexpected:\n  - requirement: EMM-T-01\n    cases: {cases}\n    \
         reason: known\n"
    );
    let mut file =
        ExpectationFile::read("expect.yaml", &text, &catalogue()).expect("it is well formed");
    let checked = file.check_cases(&text, &["emm/test/case", "emm/other/case"]);
    match words {
        None => assert_eq!(checked.map_err(|refusal| refusal.to_string()), Ok(())),
        Some(words) => {
            let refusal = checked.expect_err("the case is not there").to_string();
            assert!(refusal.contains(words) && refusal.contains("expect.yaml:5"), "{refusal}");
        }
    }
}

#[test]
fn a_listed_violation_is_expected() {
    assert_eq!(
        applied(LISTED, vec![leaking(), clean()]),
        [Verdict::ExpectedViolation, Verdict::Conforms]
    );
}

#[test]
fn a_violation_elsewhere_is_not() {
    let elsewhere = LISTED.replace("emm/test/*", "emm/other/*");
    assert_eq!(applied(&elsewhere, vec![leaking()]), [Verdict::Violates]);
}

#[test]
fn an_entry_that_is_not_true_any_more_fails_the_run() {
    let message =
        "expect.yaml:4 expects a violation of EMM-CHECK-LEAK, and there is none: the entry can go"
            .to_owned();
    assert_eq!(applied(LISTED, vec![clean()]), [Verdict::UnexpectedConformance { message }]);
}

#[test]
fn an_entry_whose_cases_did_not_run_says_nothing() {
    let mut unrun = clean();
    unrun.verdict = Verdict::HarnessError { message: "gone".to_owned() };
    assert_eq!(applied(LISTED, vec![unrun.clone()]), [unrun.verdict]);
}

#[test]
fn a_broken_file_is_refused_with_its_line() {
    let refusal = |text: &str| {
        ExpectationFile::read("expect.yaml", text, &catalogue()).expect_err("broken").to_string()
    };
    insta::assert_snapshot!(refusal(&LISTED.replace("EMM-CHECK-LEAK", "EMM-CHECK-LEAF")), @r"
    expectation file broken[unknown-requirement]: the catalogue has no requirement `EMM-CHECK-LEAF`
     --> expect.yaml:4:18
      |
    4 |   - requirement: EMM-CHECK-LEAF
      |                  ^^^^^^^^^^^^^^
      |
      = help: did you mean `EMM-CHECK-LEAK`?
    ");
    insta::assert_snapshot!(refusal(&LISTED.replace("reason:", "because:")), @r"
    expectation file broken[unknown-field]: unknown field `because`
     --> expect.yaml:6:5
      |
    6 |     because: it keeps a pool
      |     ^^^^^^^
      |
      = help: one of: requirement, verdict, cases, reason, issue, expires, when
    ");
}

/// A run of some cases says nothing of an entry that also means others.
#[rstest]
#[case::all_ran(&["emm/test/case"], "unexpected-conformance")]
#[case::one_was_not_selected(&["emm/test/case", "emm/test/other"], "conforms")]
fn an_entry_is_out_of_date_once_all_its_cases_ran(#[case] side: &[&str], #[case] verdict: &str) {
    let mut file = ExpectationFile::read("expect.yaml", LISTED, &catalogue())
        .unwrap_or_else(|refusal| panic!("{refusal}"));
    file.check_cases(LISTED, side).unwrap_or_else(|refusal| panic!("{refusal}"));
    let mut judgement = clean();
    file.apply(&mut [&mut judgement]);
    assert_eq!(judgement.verdict.name(), verdict);
}

const NOT_OBSERVED: &str = "subject: mine\nseen_on: mine 1.0\nexpected:\n  \
    - verdict: not-observed\n    cases: [\"emm/test/*\"]\n    reason: it calls the runtime\n";

/// It called a function that the driver does not have.
fn unseen() -> Judgement {
    let reason = Reason::NotInDriver { step: 3, function: "cuGetExportTable".to_owned() };
    Judgement { verdict: Verdict::NotObserved { reason }, ..clean() }
}

/// The driver has too few devices, so the case was not run.
fn left_out() -> Judgement {
    let reason = Reason::TooFewDevices { needed: 2, found: 1 };
    Judgement { verdict: Verdict::NotObserved { reason }, ..clean() }
}

fn judged_by(text: &str, mut judgements: Vec<Judgement>) -> Vec<Judgement> {
    let file = ExpectationFile::read("expect.yaml", text, &catalogue());
    let file = file.unwrap_or_else(|refusal| panic!("{refusal}"));
    file.apply(&mut judgements.iter_mut().collect::<Vec<_>>());
    judgements
}

#[test]
fn a_case_that_is_listed_as_not_observed_does_not_fail_the_run() {
    let [seen, unlisted] = [NOT_OBSERVED, LISTED].map(|text| judged_by(text, vec![unseen()]));
    assert_eq!(seen[0].verdict, unseen().verdict, "the verdict stays");
    assert_eq!(seen[0].expected_because.as_deref(), Some("it calls the runtime"));
    assert!(!seen[0].fails_the_run() && unlisted[0].fails_the_run());
}

#[rstest]
#[case::observed(vec![clean()], &["unexpected-conformance"])]
#[case::one_is_not(vec![clean(), unseen()], &["conforms", "not-observed"])]
#[case::violates(vec![leaking()], &["violates"])]
#[case::not_run(vec![left_out()], &["not-observed"])]
fn an_entry_of_cases_that_were_observed_is_stale(
    #[case] judgements: Vec<Judgement>,
    #[case] verdicts: &[&str],
) {
    let judged = judged_by(NOT_OBSERVED, judgements.clone());
    let names: Vec<&str> = judged.iter().map(|one| one.verdict.name()).collect();
    assert_eq!(names, verdicts);
    for one in judged {
        if let Verdict::UnexpectedConformance { message } = one.verdict {
            assert_eq!(
                message,
                "expect.yaml:4 says that the case is not observed, and it was: the entry can go"
            );
        }
    }
    let stale = verdicts == ["unexpected-conformance"];
    assert_eq!(updated(NOT_OBSERVED, &judgements).1, usize::from(stale));
}

#[test]
fn a_case_that_is_not_observed_gets_an_entry() {
    let elsewhere = Judgement { case: "emm/new/size:1".to_owned(), ..unseen() };
    let new = [unseen(), elsewhere, left_out()];
    let (text, removed, added) = updated(NOT_OBSERVED, &new);
    assert_eq!((removed, added), (0, 1));
    insta::assert_snapshot!(text.strip_prefix(NOT_OBSERVED).expect("the rest stays"), @r#"
      - verdict: not-observed
        cases:
          - "emm/new/size:1"
        reason: found by --update-expectations; say why it is known
    "#);
    assert_eq!(updated(&text, &new), (text.clone(), 0, 0), "what was added is what happens");
}

#[rstest]
#[case::both("verdict: not-observed\n    requirement: EMM-CHECK-LEAK")]
#[case::none("issue: https://example.org/1")]
fn an_entry_expects_one_thing(#[case] first: &str) {
    let text = NOT_OBSERVED.replace("verdict: not-observed", first);
    let refusal = ExpectationFile::read("expect.yaml", &text, &catalogue());
    let refusal = refusal.expect_err("it is refused").to_string();
    assert!(
        refusal.contains("has either `requirement: ID` or `verdict: not-observed`")
            && refusal.contains("expect.yaml:4"),
        "{refusal}"
    );
}

/// The entry holds for runs whose header fits, and for no other.
#[rstest]
#[case::no_condition("{}", true)]
#[case::driver("{driver: sim}", true)]
#[case::other_driver("{driver: real}", false)]
#[case::version("{versions: {numba-cuda: \">=0.30,<0.31\"}}", true)]
#[case::other_version("{versions: {numba_cuda: \"<0.30\"}}", false)]
#[case::of_the_subject("{versions: {my-plugin: \"==2\"}}", true)]
#[case::not_recorded("{versions: {cupy: \">=0\"}}", false)]
#[case::device("{device: NVIDIA H200}", true)]
#[case::device_by_glob("{driver: sim, device: '*H[12]00*'}", true)]
#[case::other_device("{device: '*A100*'}", false)]
#[case::both("{driver: sim, versions: {numba-cuda: \"!=0.30.4\"}}", false)]
fn an_entry_holds_where_its_conditions_do(#[case] when: &str, #[case] holds: bool) {
    let text = format!("{LISTED}    when: {when}\n");
    let file = ExpectationFile::read("expect.yaml", &text, &catalogue());
    let file = file.unwrap_or_else(|refusal| panic!("{refusal}"));
    let mut header = crate::run_file::header();
    let details = [("host", json!({"numba_cuda": "0.30.4"})), ("name", json!("my_plugin"))];
    header.driver.device = Some("NVIDIA H200".to_owned());
    header.subject.details = details.map(|(name, value)| (name.to_owned(), value)).into();
    header.subject.details.insert("version".to_owned(), json!("2.0"));
    let (applying, left_out) = file.for_run(&header.driver, &header.subject.details);
    assert_eq!((applying.entries.len(), left_out), if holds { (1, 0) } else { (0, 1) });
}

#[test]
fn a_run_that_names_no_device_is_not_on_it() {
    let text = format!("{LISTED}    when: {{device: '*'}}\n");
    let file = ExpectationFile::read("expect.yaml", &text, &catalogue());
    let file = file.unwrap_or_else(|refusal| panic!("{refusal}"));
    let header = crate::run_file::header();
    assert_eq!(file.for_run(&header.driver, &header.subject.details).1, 1);
}

#[rstest]
#[case::glob("{device: '[H'}", "`device` is no glob: ")]
#[case::range("{versions: {numba-cuda: newest}}", "`newest` is no range of versions")]
#[case::driver("{driver: fast}", "fast")]
#[case::unknown("{os: linux}", "os")]
fn a_condition_that_means_nothing_is_refused(#[case] when: &str, #[case] words: &str) {
    let text = format!("{LISTED}    when: {when}\n");
    let refusal = ExpectationFile::read("expect.yaml", &text, &catalogue());
    let words_of_refusal = refusal.expect_err("it is refused").to_string();
    assert!(words_of_refusal.contains(words), "{words_of_refusal}");
    assert!(words_of_refusal.contains("expect.yaml:"), "{words_of_refusal}");
}

const COMMENTED: &str = "\
# About mine.
subject: mine
expected:
  # It keeps a pool.
  - requirement: EMM-CHECK-LEAK
    cases: [\"emm/test/*\"] # all
    # why
    reason: it keeps a pool

  # The next one is about another case.
  - requirement: EMM-CHECK-LEAK
    cases: [\"emm/other/*\"]
    reason: another
seen_on: mine 1.0
";

fn updated(text: &str, judgements: &[Judgement]) -> (String, usize, usize) {
    let file = ExpectationFile::read("expect.yaml", text, &catalogue());
    let file = file.unwrap_or_else(|refusal| panic!("{refusal}"));
    let judgements: Vec<&Judgement> = judgements.iter().collect();
    let Update { text, removed, added } = update(&file, text, &judgements);
    (text, removed, added)
}

#[test]
fn a_file_that_is_right_stays_as_it_is() {
    assert_eq!(updated(COMMENTED, &[leaking()]), (COMMENTED.to_owned(), 0, 0));
}

#[rstest]
#[case::that_stays(leaking())]
#[case::that_loses_an_entry(clean())]
#[case::that_gets_an_entry(Judgement { case: "emm/new/size:1".to_owned(), ..leaking() })]
fn a_file_keeps_its_ends_of_lines(#[case] judgement: Judgement) {
    let (expected, ..) = updated(COMMENTED, std::slice::from_ref(&judgement));
    let (text, ..) = updated(&COMMENTED.replace('\n', "\r\n"), &[judgement]);
    assert_eq!(text, expected.replace('\n', "\r\n"));
}

#[test]
fn an_entry_that_is_not_true_any_more_goes_with_its_comment_and_others_stay() {
    let (text, removed, added) = updated(COMMENTED, &[clean()]);
    assert_eq!((removed, added), (1, 0));
    insta::assert_snapshot!(text, @r#"
    # About mine.
    subject: mine
    expected:

      # The next one is about another case.
      - requirement: EMM-CHECK-LEAK
        cases: ["emm/other/*"]
        reason: another
    seen_on: mine 1.0
    "#);
}

/// A blank line parts a comment from the entry below it.
#[rstest]
#[case::of_the_file("# About all.\n\n  # It keeps\n  # a pool.\n", "# About all.\n\n")]
#[case::parted("  # It keeps a pool.\n\n", "  # It keeps a pool.\n\n")]
#[case::none("", "")]
fn a_comment_goes_with_the_entry_that_it_stands_above(#[case] above: &str, #[case] left: &str) {
    let text = COMMENTED.replace("  # It keeps a pool.\n", above);
    let expected = format!("expected:\n{left}\n  # The next one is about another case.\n");
    let (updated, ..) = updated(&text, &[clean()]);
    assert!(updated.contains(&expected), "{updated}");
}

#[test]
fn a_new_violation_comes_behind_the_other_entries() {
    let elsewhere = |case: &str| Judgement { case: case.to_owned(), ..leaking() };
    let new = [leaking(), elsewhere("emm/new/size:1"), elsewhere("emm/new/a[b]")];
    let (text, removed, added) = updated(COMMENTED, &new);
    assert_eq!((removed, added), (0, 1));
    let (before, end) = COMMENTED.split_at(COMMENTED.find("seen_on").expect("it is there"));
    let middle = text.strip_prefix(before).and_then(|text| text.strip_suffix(end));
    insta::assert_snapshot!(middle.expect("all else stays"), @r#"
      - requirement: EMM-CHECK-LEAK
        cases:
          - "emm/new/a[[]b[]]"
          - "emm/new/size:1"
        reason: found by --update-expectations; say why it is known
    "#);
    assert_eq!(updated(&text, &new), (text.clone(), 0, 0), "what was added is what happens");
}

#[test]
fn a_file_can_lose_its_last_entry_and_get_its_first() {
    let (empty, removed, _) = updated(LISTED, &[clean()]);
    assert_eq!(empty, "subject: mine\nseen_on: mine 1.0\nexpected: []\n");
    assert_eq!(removed, 1);
    let (text, _, added) = updated(&empty, &[leaking()]);
    assert_eq!(added, 1);
    assert!(text.contains("expected:\n  - requirement: EMM-CHECK-LEAK\n    cases:\n"), "{text}");
    assert_eq!(applied(&text, vec![leaking()]), [Verdict::ExpectedViolation]);
}

#[rstest]
#[case::same("mine:Manager", "mine:Manager", true)]
#[case::module_alone("mine", "mine:Manager", false)]
#[case::folder("./libpool.so", "/build/release/libpool.so", true)]
#[case::no_folder("libpool.so:table", "target/debug/libpool.so:table", true)]
#[case::symbol("libpool.so:table", "./libpool.so:other", false)]
#[case::no_symbol("libpool.so", "./libpool.so:other", false)]
#[case::library("./libpool.so", "./libpool2.so", false)]
#[case::abi("./lib.so --abi torch:a,b", "/lib/lib.so --abi torch:a,b", true)]
#[case::each_abi("./lib.so", "/lib/lib.so --abi torch:a,b", true)]
#[case::other_abi("./lib.so --abi torch:a,b", "./lib.so --abi torch:c,d", false)]
#[case::no_abi("./lib.so --abi torch:a,b", "./lib.so", false)]
#[case::several("[mine, yours]", "yours", true)]
#[case::neither("[mine, yours]", "theirs", false)]
fn a_file_is_about_the_subjects_that_it_names(
    #[case] meant: &str,
    #[case] argument: &str,
    #[case] is_about: bool,
) {
    let text = LISTED.replace("subject: mine", &format!("subject: {meant}"));
    let file = ExpectationFile::read("expect.yaml", &text, &catalogue());
    let file = file.unwrap_or_else(|refusal| panic!("{refusal}"));
    assert_eq!(file.check_subject(&text, argument).is_ok(), is_about);
}

#[test]
fn a_file_without_a_subject_is_about_each() {
    let text = LISTED.replace("subject: mine\n", "");
    let file = ExpectationFile::read("expect.yaml", &text, &catalogue());
    let file = file.unwrap_or_else(|refusal| panic!("{refusal}"));
    assert!(file.check_subject(&text, "mine").is_ok() && !text.contains("subject"));
}

#[test]
fn a_list_of_no_subjects_is_refused() {
    let text = LISTED.replace("subject: mine", "subject: []");
    let refusal = ExpectationFile::read("expect.yaml", &text, &catalogue()).expect_err("no list");
    assert_eq!(refusal.line, 1);
    assert!(refusal.message.contains("name a subject, or leave `subject` out"), "{refusal}");
}
