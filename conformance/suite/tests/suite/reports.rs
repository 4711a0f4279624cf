//! The texts of the reports.

use allocert_contract::trace::Call;
use allocert_suite::applicability::Applicability;
use allocert_suite::judge;
use allocert_suite::nouns::Need;
use allocert_suite::observation::Ending;
use allocert_suite::reason::Reason;
use allocert_suite::report::coverage::{self, Mutant};
use allocert_suite::report::format::{self, Format};
use allocert_suite::report::style::Palette;
use allocert_suite::report::terminal::{self, Detail};
use allocert_suite::report::{Completeness, Report, clean, explain, junit, list, trace};
use allocert_suite::run_format::{Judged, Repeats, Selection};
use allocert_suite::verdict::Verdict;
use allocert_suite::{Catalogue, Side};
use rstest::rstest;
use serde_json::json;

use crate::observation_builder::{Recorder, alloc, case, catalogue, error, free, memalloc, memory};
use crate::run_file::header;

const A: u64 = 0x7d00_0000_0000;

fn renamed(mut recorder: Recorder, id: &str) -> Recorder {
    id.clone_into(&mut recorder.case.id);
    id.clone_into(&mut recorder.seen.case);
    recorder
}

fn judged(recorder: Recorder) -> Judged {
    Judged { judgement: recorder.judged(), case: recorder.case, observation: Some(recorder.seen) }
}

/// One case of every kind: conforming, double free in two permutations, wrong size, crash, chatter,
/// not applicable.
fn run() -> Vec<Judged> {
    let expect = "{EMM-T-01: {returns: {size_bytes: {is: 64}}}}";
    let start = |id: &str| renamed(Recorder::new(memalloc(expect)), id);
    let fine = start("emm/alloc/size/size:64")
        .step(&[alloc(A, 64)], memory(A, 64))
        .step(&[free(A, 0)], json!({}))
        .rest();
    let twice = |id| {
        start(id)
            .step(&[alloc(A, 64)], memory(A, 64))
            .step(&[free(A, 0), free(A, 1)], json!({}))
            .rest()
    };
    let large = start("emm/alloc/size/size:1000")
        .step(&[alloc(A, 1024)], memory(A, 1024))
        .step(&[free(A, 0)], json!({}))
        .rest();
    let dying = Call { result: None, ..free(A, 0) };
    let crash = start("emm/free/crash")
        .step(&[alloc(A, 64)], memory(A, 64))
        .dies(&[dying], Ending::Signal(11))
        .prints("bad\u{1b}[31m red\n");
    let loud = start("emm/alloc/loud")
        .step(&[alloc(A, 64)], memory(A, 64))
        .step(&[free(A, 0)], json!({}))
        .rest()
        .prints("hello\n");
    let unmet = Applicability::NotApplicable(Reason::NotDeclared { need: Need::Ipc });
    let mut unrun = case(
        "needs: [ipc]\nsteps:\n  - do: {memalloc: {size: 64, as: a}}\n    \
         expect: {EMM-T-01: {returns: {}}}\n",
    );
    "emm/ipc/open".clone_into(&mut unrun.id);
    let unrun = Judged { judgement: judge::not_run(&unrun, unmet), case: unrun, observation: None };
    let recorders =
        [fine, twice("emm/free/twice/on:1"), twice("emm/free/twice/on:2"), large, crash, loud];
    recorders.into_iter().map(judged).chain([unrun]).collect()
}

fn report<T>(cases: &[Judged], render: impl Fn(&Report<'_>) -> T) -> T {
    let (header, catalogue) = (header(), catalogue());
    render(&Report {
        header: &header,
        cases,
        catalogue: &catalogue,
        completeness: Completeness::Known,
        repeats: None,
    })
}

#[test]
fn the_terminal_report() {
    insta::assert_snapshot!(report(&run(), |report| terminal::render(
        report,
        Detail::Causes,
        Palette { colour: false }
    )));
}

/// Whatever the exit code, the last line does not say that all is well when it is not.
#[rstest]
#[case(Verdict::Conforms, "no violation; 2 of 2 cases ran")]
#[case(
    Verdict::UnexpectedConformance { message: String::new() },
    "a listed violation no longer happens; 2 of 2 cases ran"
)]
#[case(
    Verdict::HarnessError { message: String::new() },
    "no violation, but a case has no result; 1 of 2 cases ran"
)]
#[case(
    Verdict::Unusable { message: String::new() },
    "no violation, but a case cannot use the subject; 1 of 2 cases ran"
)]
fn the_last_line_agrees_with_the_exit_code(#[case] verdict: Verdict, #[case] last: &str) {
    let mut cases = run();
    cases.truncate(1);
    cases.push(cases[0].clone());
    cases[1].judgement.verdict = verdict;
    let shown = report(&cases, |report| {
        terminal::render(report, Detail::Causes, Palette { colour: false })
    });
    assert_eq!(shown.trim_end().lines().last(), Some(last), "{shown}");
}

/// A run that fails without a violation says why in the formats of GitHub.
#[rstest]
#[case::stale(
    Verdict::UnexpectedConformance { message: "no longer".to_owned() },
    "unexpected-conformance: no longer",
    "warning"
)]
#[case::late(
    Verdict::NotObserved { reason: Reason::OutOfTime { limit_s: 1 } },
    "not-observed: not run, because the run was longer than --max-time 1",
    "error"
)]
#[case::broken(
    Verdict::HarnessError { message: "a,\nb%".to_owned() },
    "harness-error: a,\\nb%",
    "error"
)]
fn a_run_that_fails_without_a_violation_says_why(
    #[case] verdict: Verdict,
    #[case] words: &str,
    #[case] level: &str,
) {
    let mut cases = run();
    cases.truncate(1);
    assert_eq!(rendered(&cases, Format::Github), "");
    assert_eq!(notifications(&cases), json!([]));
    cases.push(cases[0].clone());
    cases[1].judgement.verdict = verdict;
    let text = format!("{words}\nin emm/alloc/size/size:64");
    let annotation = text.replace('%', "%25").replace('\n', "%0A");
    let annotation = format!("::error title=the run of emm fails::{annotation}\n");
    assert_eq!(rendered(&cases, Format::Github), annotation);
    assert_eq!(notifications(&cases), json!([{"level": level, "message": {"text": text}}]));
}

/// A run of cases that do not apply, or of another suite, has no case to name.
#[test]
fn a_run_that_fails_by_no_case_says_why() {
    let (fine, unrun) = (run().swap_remove(0), run().swap_remove(6));
    let nothing = "::error title=the run of emm fails::nothing ran\n";
    assert_eq!(rendered(&[unrun], Format::Github), nothing);
    let shown = |completeness| {
        let render =
            |one: &Report<'_>| rendered_as(Format::Github, &Report { completeness, ..*one });
        report(std::slice::from_ref(&fine), render)
    };
    let unknown = "::error title=the run of emm fails::whether all cases are here is not known: ";
    assert!(shown(Completeness::Unknown).starts_with(unknown));
    assert_eq!(shown(Completeness::Allowed), "");
}

fn notifications(cases: &[Judged]) -> serde_json::Value {
    let document: serde_json::Value =
        serde_json::from_str(&rendered(cases, Format::Sarif)).expect("JSON");
    document["runs"][0]["invocations"][0]["toolExecutionNotifications"].clone()
}

/// Every report says where an exception passed, in characters that do no harm.
#[test]
fn reports_show_the_traceback_of_a_finding() {
    let mut raised = error("KeyError", None, "no key");
    raised.traceback = ["p.py:4 in memalloc", "p\u{1b}.py:6 in inner"].map(Box::from).into();
    let recorder = Recorder::new(memalloc("{EMM-T-01: {returns: {size_bytes: {is: 64}}}}"));
    let cases = [judged(renamed(recorder.raise(&[], raised).rest(), "emm/alloc/raises"))];
    let shown = report(&cases, |report| {
        terminal::render(report, Detail::Causes, Palette { colour: false })
    });
    let lines = "    raised at p.py:4 in memalloc\n              p\\u{1b}.py:6 in inner\n";
    assert!(shown.contains(lines), "{shown}");
    let trace = trace::render(&cases[0], Palette { colour: false });
    assert!(trace.contains("    at p.py:4 in memalloc\n"), "{trace}");
    for format in
        [Format::Json, Format::Junit, Format::Sarif, Format::Ctrf, Format::Tap, Format::Html]
    {
        let text =
            report(&cases, |report| format::render(format, &[*report], Palette { colour: false }));
        let text = text.expect("a string");
        assert!(text.contains("p.py:4 in memalloc") && !text.contains('\u{1b}'), "{text}");
    }
}

/// One requirement broken in fourteen ways: three are shown in full, ten in a line each, and the
/// last is counted.
#[test]
fn what_is_broken_in_many_ways_is_told_briefly() {
    let leak = |place: usize| {
        let id = format!("emm/alloc/leak-{place}");
        let recorder = Recorder::new(memalloc("{EMM-T-01: {returns: {}}}"))
            .step(&[alloc(A, 64)], memory(A, 64))
            .rest();
        let mut judged = judged(renamed(recorder, &id));
        for finding in &mut judged.judgement.findings {
            finding.place.file = format!("cases/{id}.yaml");
            finding.observed.push_str(&format!(", way {}", ["a", "b"][place % 2].repeat(place)));
        }
        judged
    };
    let cases: Vec<Judged> = (1..=14).map(leak).collect();
    insta::assert_snapshot!(report(&cases, |report| terminal::render(
        report,
        Detail::Causes,
        Palette { colour: false }
    )));
}

/// With every finding, a line for each follows the causes.
#[test]
fn every_finding_is_shown_on_request() {
    let text = report(&run(), |report| {
        terminal::render(report, Detail::Findings, Palette { colour: false })
    });
    let (_, list) = text.split_once("every finding of ").expect("the list");
    let lines = list.lines().filter(|line| line.starts_with("    fixtures/")).count();
    let findings: usize = run().iter().map(|judged| judged.judgement.findings.len()).sum();
    assert_eq!(lines, findings, "{text}");
}

#[test]
fn colour_is_only_added() {
    let plain = report(&run(), |report| {
        terminal::render(report, Detail::Causes, Palette { colour: false })
    });
    let coloured =
        report(&run(), |report| terminal::render(report, Detail::Causes, Palette { colour: true }));
    assert!(!plain.contains('\u{1b}'), "an escape in the plain report");
    let mut bare = String::new();
    for (index, part) in coloured.split('\u{1b}').enumerate() {
        bare.push_str(if index == 0 {
            part
        } else {
            part.split_once('m').map_or(part, |(_, rest)| rest)
        });
    }
    assert_eq!(bare, plain);
    assert!(coloured.len() > plain.len());
}

#[test]
fn a_terminal_wants_colour_unless_told_otherwise() {
    assert!(Palette::detect(true, None).colour);
    assert!(!Palette::detect(false, None).colour);
    assert!(!Palette::detect(true, Some("1".as_ref())).colour);
}

#[test]
fn the_junit_report() {
    insta::assert_snapshot!(report(&run(), |report| junit::render(report).expect("a string")));
}

/// Each format once, on the same run. The page is checked in a browser too (`xtask`).
#[rstest]
#[case::json(Format::Json)]
#[case::sarif(Format::Sarif)]
#[case::ctrf(Format::Ctrf)]
#[case::tap(Format::Tap)]
#[case::github(Format::Github)]
#[case::markdown(Format::Markdown)]
#[case::summary(Format::Summary)]
#[case::badge(Format::Badge)]
#[case::html(Format::Html)]
fn the_report_in_the_format_of_another_tool(#[case] format: Format) {
    insta::assert_snapshot!(format.name(), rendered(&run(), format));
}

fn rendered(cases: &[Judged], format: Format) -> String {
    report(cases, |report| {
        format::render(format, &[*report], Palette { colour: false }).expect("a string")
    })
}

/// Swept cases without a finding are counted, so that a fault sweep fits into a test tool.
#[rstest]
#[case::junit(Format::Junit, "2 more injections, without a finding")]
#[case::tap(Format::Tap, "# emm/alloc: 2 more injections, without a finding")]
fn swept_cases_without_a_finding_are_counted(#[case] format: Format, #[case] count: &str) {
    let swept = |call: &str| {
        let recorder = Recorder::new(memalloc("{EMM-T-01: {returns: {}}}"))
            .step(&[alloc(A, 64)], memory(A, 64))
            .step(&[free(A, 0)], json!({}))
            .rest();
        judged(renamed(recorder, &format!("emm/alloc/size!{call}")))
    };
    let cases = [swept("cuMemAlloc_v2@1=2"), swept("cuMemAlloc_v2@1=1")];
    let text = rendered(&cases, format);
    assert!(text.contains(count), "{text}");
    assert!(!text.contains("cuMemAlloc_v2@1"), "{text}");
}

/// A subject's text cannot end a block, begin a command or become markup.
#[rstest]
#[case::github(Format::Github, "\n::error::")]
#[case::markdown(Format::Markdown, "\n```\n#")]
#[case::html(Format::Html, "<script>")]
#[case::tap(Format::Tap, "\nok 2")]
fn a_subjects_text_stays_text_in_every_format(#[case] format: Format, #[case] breaks_out: &str) {
    let mut cases = run();
    let before = rendered(&cases, format).matches(breaks_out).count();
    let hostile = "``` \n```\n# \n::error::x\nok 2\n<script>alert(1)</script>";
    for judged in &mut cases {
        for finding in &mut judged.judgement.findings {
            hostile.clone_into(&mut finding.observed);
        }
    }
    assert_eq!(rendered(&cases, format).matches(breaks_out).count(), before);
}

/// Two runs are two columns; a requirement that one of them does not state is not tested there.
#[test]
fn a_page_has_a_column_for_each_run() {
    let (one, catalogue) = (header(), catalogue());
    let mut other = header();
    "other.so".clone_into(&mut other.subject.argument);
    let (cases, few) = (run(), [run().remove(6)]);
    let reports = [(&one, cases.as_slice()), (&other, &few)].map(|(header, cases)| Report {
        header,
        cases,
        catalogue: &catalogue,
        completeness: Completeness::Known,
        repeats: None,
    });
    let text = format::render(Format::Html, &reports, Palette { colour: false }).expect("a string");
    assert!(text.contains("<a href=\"#run-1\">other.so</a>"), "{text}");
    assert!(text.contains("not tested") && text.contains("no result"), "{text}");
}

/// A run of a few cases, or of unknown ones, is none of the suite.
#[rstest]
#[case::filter(Some("emm/free"), Completeness::Known, "the cases of the filter emm/free", 0)]
#[case::unknown(None, Completeness::Unknown, "whether all its cases are here is not known", 5)]
#[case::allowed(None, Completeness::Allowed, "whether all its cases are here is not known", 0)]
fn a_report_says_which_part_of_a_suite_it_shows(
    #[case] filter: Option<&str>,
    #[case] completeness: Completeness,
    #[case] part: &str,
    #[case] code: u8,
) {
    let (mut header, catalogue) = (header(), catalogue());
    header.selection = Some(Selection { filter: filter.map(str::to_owned), shard: None });
    let cases = [run().remove(0)];
    let report = Report {
        header: &header,
        cases: &cases,
        catalogue: &catalogue,
        completeness,
        repeats: None,
    };
    assert_eq!(report.exit().code(), code);
    for format in [Format::Terminal, Format::Markdown, Format::Json, Format::Html] {
        let text = format::render(format, &[report], Palette { colour: false }).expect("a string");
        assert!(text.contains(part), "{text}");
    }
    let badge = format::render(Format::Badge, &[report], Palette { colour: false });
    assert!(!badge.expect("a string").contains("brightgreen"));
}

#[test]
fn a_requirement_is_explained() {
    let cases = [memalloc("{EMM-T-01: {returns: {}}}")];
    let text = explain::render("EMM-T-01", &catalogue(), &cases).expect("it exists");
    insta::assert_snapshot!(text, @r#"
    EMM-T-01  MUST  plugin

        Statement of EMM-T-01.

    source     a text, "a section"
    versions   one
    observed   by trace
    written in conformance/requirements/catalogue/emm/test.yaml:1

    tested by  fixtures/cases/emm/test/case.yaml
    "#);
    let text = explain::render("emm/test/case", &catalogue(), &cases).expect("it exists");
    insta::assert_snapshot!(text, @r#"
    emm/test/case

        a test

    fixtures/cases/emm/test/case.yaml
       0  {"attach":{"device":0}}
       1  {"create":{"as":"m","device":0}}
       2  {"memalloc":{"size":64,"as":"a"}}
            EMM-T-01: Statement of EMM-T-01.
       3  {"drop":{"name":"a"}}
       4  {"reset":{}}
       5  {"destroy":{}}
       6  {"detach":{}}
    "#);
    assert_eq!(
        explain::render("EMM-T-10", &catalogue(), &cases).expect_err("it does not exist"),
        "no requirement, freedom, case, profile or C contract is called EMM-T-10, did you mean \
         EMM-T-01?"
    );
}

#[test]
fn cases_are_listed() {
    let needing = case(
        "needs: [ipc, peer]\nsteps:\n  - do: {memalloc: {size: 64, as: a}}\n    \
         expect: {EMM-T-01: {returns: {}}}\n",
    );
    insta::assert_snapshot!(list::render(&[memalloc("{EMM-T-01: {returns: {}}}"), needing]), @r"
    emm/test/case            a test
    emm/test/case  ipc,peer  a test
    ");
}

#[test]
fn coverage_counts_cases_and_mutants() {
    let cases = [memalloc("{EMM-T-01: {returns: {}}}")];
    let mutants = [Mutant { name: "leaky", breaks: "EMM-CHECK-LEAK" }];
    insta::assert_snapshot!(coverage::render(&catalogue(), &[Side::Emm], &cases, &mutants, &[]));
}

#[test]
fn coverage_of_both_sides_says_whom_a_requirement_binds() {
    let catalogue = Catalogue::embedded().expect("the catalogue is read by its own tests");
    let rendered = coverage::render(&catalogue, &[Side::Emm, Side::EmmHost], &[], &[], &[]);
    for (id, side) in [("EMM-RESET-01", "emm"), ("EMM-RESET-16", "emm-host")] {
        let row =
            rendered.lines().find(|line| line.starts_with(id)).unwrap_or_else(|| panic!("no {id}"));
        assert_eq!(row.split_whitespace().nth(1), Some(side), "{row}");
    }
}

#[test]
fn a_subjects_text_cannot_move_the_cursor() {
    assert_eq!(clean("a\u{1b}[2J\r\nb\u{202e}c"), "a\\u{1b}[2J\\r\\nb\\u{202e}c");
    assert_eq!(
        clean("\u{feff}##[debug]x ##vso[y]#z"),
        "\\u{feff}\\u{23}#[debug]x \\u{23}#vso[y]#z"
    );
}

/// A double free, a crash and a case that was not run.
#[test]
fn a_trace_shows_each_step_with_its_calls() {
    let (run, palette) = (run(), Palette { colour: false });
    let ids = ["emm/free/twice/on:1", "emm/free/crash", "emm/ipc/open"];
    let wanted = run.iter().filter(|judged| ids.contains(&judged.case.id.as_str()));
    let shown: Vec<String> = wanted.map(|judged| trace::render(judged, palette)).collect();
    insta::assert_snapshot!(shown.join("\n----\n"));
}

/// One case conforms in most repeats, and the others always do the same.
#[rstest]
#[case::terminal(Format::Terminal, &["4 repeats: 1 of 2 cases had several verdicts", SHARE])]
#[case::markdown(Format::Markdown, &[
    "4 repeats: 1 of 2 cases had several verdicts.",
    "- `emm/free/crash`: 1 of 4 do not conform (25.0%, ",
])]
#[case::junit(Format::Junit, &[
    "<property name=\"repeats\" value=\"4\"/>",
    "<property name=\"flaky\" value=\"1 of 4 do not conform (25.0%, ",
])]
#[case::ctrf(Format::Ctrf, &[
    "\"retries\": 3",
    "\"flaky\": true",
    "\"flaky\": 1,",
    "\"repeats\": \"1 of 4 do not conform (25.0%, ",
])]
fn a_report_shows_what_repeats_came_to(#[case] format: Format, #[case] words: &[&str]) {
    let cases = run();
    let counts = |counts: &[(&str, u32)]| {
        counts.iter().map(|(verdict, count)| ((*verdict).to_owned(), *count)).collect()
    };
    let repeats = Repeats {
        count: 4,
        verdicts: [
            ("emm/free/crash".to_owned(), counts(&[("conforms", 3), ("violates", 1)])),
            ("emm/alloc/size/size:64".to_owned(), counts(&[("conforms", 4)])),
        ]
        .into(),
    };
    let (once, several) = [None, Some(&repeats)]
        .map(|repeats| report(&cases, |one| rendered_as(format, &Report { repeats, ..*one })))
        .into();
    for word in words {
        assert!(several.contains(word) && !once.contains(word), "{word}: {several}");
    }
    assert_eq!(several.matches(SHARE).count(), 1, "{several}");
}

/// The interval is in brackets behind it.
const SHARE: &str =
    "1 of 4 do not conform (25.0%, 95% interval 4.6% to 69.9%): 3 conforms, 1 violates";

fn rendered_as(format: Format, report: &Report<'_>) -> String {
    format::render(format, &[*report], Palette { colour: false }).expect("a string")
}

/// A worker that is ended tells the results of no step, but the trace has the ends of some.
#[test]
fn a_step_that_ended_before_a_time_out_is_not_called_open() {
    let [Some(fine), Some(crash)] = ["emm/alloc/size/size:64", "emm/free/crash"]
        .map(|id| run().into_iter().find(|one| one.case.id == id))
    else {
        unreachable!("the run has both");
    };
    let shown = |mut judged: Judged| {
        judged.observation.as_mut().expect("it ran").steps.clear();
        trace::render(&judged, Palette { colour: false })
    };
    let ended = "\n  ended; what it came to is not known, because the process was ended\n";
    assert!(shown(fine.clone()).contains(ended) && !shown(fine).contains("did not end"));
    let crash = shown(crash);
    assert!(crash.contains(ended) && crash.contains("\n  did not end\n"), "{crash}");
}

#[test]
fn a_case_without_a_result_ran_all_the_same() {
    let mut cases = run();
    let unrun = cases.pop().expect("the run has one");
    let mut lost = cases.swap_remove(0);
    let reason = Reason::EventsLost { events: 7 };
    lost.judgement.verdict = Verdict::NotObserved { reason };
    lost.judgement.findings.clear();
    let last = |cases: &[Judged]| {
        let shown = report(cases, |one| rendered_as(Format::Terminal, one));
        shown.lines().last().expect("a summary").to_owned()
    };
    assert_eq!(last(&[lost, unrun.clone()]), "no case has a result; 1 of 2 cases ran");
    assert_eq!(last(&[unrun]), "nothing ran; 0 of 1 cases ran");
}
