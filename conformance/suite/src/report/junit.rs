//! JUnit XML in the form that Jenkins, GitLab and GitHub actions read: `classname` is the group, a
//! failure's text stands in the message and again in the body, a skip says why. A failure names the
//! causes in its case; what follows from each is one line below it.

use quick_junit::{
    NonSuccessKind, Property, Report as Xml, SerializeError, TestCase, TestCaseStatus, TestSuite,
};

use crate::causes::{Cause, causes};
use crate::report::{Report, call, clean};
use crate::run_format::Judged;
use crate::verdict::{Finding, Verdict};

/// The whole file.
///
/// # Errors
/// Those of the XML writer, which a string does not cause.
pub fn render(report: &Report<'_>) -> Result<String, SerializeError> {
    let mut xml = Xml::new("allocert");
    let mut suites: Vec<(&str, TestSuite)> = Vec::new();
    for judged in report.cases {
        let group = judged.case.group();
        let case = test_case(report, judged);
        match suites.iter_mut().find(|(name, _)| *name == group) {
            Some((_, suite)) => {
                suite.add_test_case(case);
            }
            None => {
                let mut suite = TestSuite::new(group);
                suite
                    .add_property(Property::new("subject", clean(&report.header.subject.argument)));
                suite.add_property(Property::new("suite", &report.header.suite));
                suite.add_properties(
                    report.header.profile.iter().map(|profile| Property::new("profile", profile)),
                );
                suite.add_test_case(case);
                suites.push((group, suite));
            }
        }
    }
    xml.add_test_suites(suites.into_iter().map(|(_, suite)| suite));
    xml.to_string()
}

fn test_case(report: &Report<'_>, judged: &Judged) -> TestCase {
    let (case, judgement) = (&judged.case, &judged.judgement);
    let group = case.group();
    let name = case.id.strip_prefix(group).unwrap_or(&case.id).trim_start_matches('/');
    let mut test = TestCase::new(name, status(report, judged));
    test.set_classname(group.replace('/', "."));
    let line = judgement.findings.first().map_or(1, |finding| finding.place.line);
    test.extra.insert("file".into(), format!("fixtures/{}", case.file).into());
    test.extra.insert("line".into(), line.to_string().into());
    for requirement in case.requirements().collect::<std::collections::BTreeSet<_>>() {
        test.add_property(Property::new("requirement", requirement));
    }
    // A failure says it all already; warnings and listed violations have no other place.
    if !judgement.findings.is_empty() && judgement.verdict != Verdict::Violates {
        test.set_system_out(body(report, judged, &causes_in(report, judged)));
    }
    test
}

fn status(report: &Report<'_>, judged: &Judged) -> TestCaseStatus {
    let kind = |kind, message: String, body: String| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_message(message).set_type(judged.judgement.verdict.name()).set_description(body);
        status
    };
    let skipped = |message: String| {
        let mut status = TestCaseStatus::skipped();
        status.set_message(message);
        status
    };
    match &judged.judgement.verdict {
        Verdict::Conforms => TestCaseStatus::success(),
        Verdict::Violates => {
            let causes = causes_in(report, judged);
            kind(NonSuccessKind::Failure, headline(&causes), body(report, judged, &causes))
        }
        Verdict::UnexpectedConformance { message } => {
            kind(NonSuccessKind::Failure, clean(message), clean(message))
        }
        Verdict::Unusable { message } | Verdict::HarnessError { message } => {
            kind(NonSuccessKind::Error, clean(message), clean(message))
        }
        Verdict::NotApplicable { reason } => {
            skipped(format!("not applicable: {}", clean(&reason.to_string())))
        }
        Verdict::NotObserved { reason } => {
            skipped(format!("not observed: {}", clean(&reason.to_string())))
        }
        Verdict::ExpectedViolation => {
            let because = judged
                .judgement
                .findings
                .iter()
                .find_map(|finding| finding.expected_because.as_deref());
            skipped(format!("expected failure: {}", clean(because.unwrap_or_default())))
        }
    }
}

fn causes_in<'r>(report: &'r Report<'_>, judged: &'r Judged) -> Vec<Cause<'r>> {
    causes(report.catalogue, std::slice::from_ref(judged))
}

/// The likeliest cause in the case that no expectation file lists.
fn headline(causes: &[Cause<'_>]) -> String {
    let Some(cause) = causes.iter().find(|cause| !cause.is_listed()) else { return String::new() };
    let first = cause.first().finding;
    format!(
        "{}: expected {}; observed {}",
        first.requirement,
        clean(&first.expected),
        clean(&first.observed)
    )
}

fn body(report: &Report<'_>, judged: &Judged, causes: &[Cause<'_>]) -> String {
    let mut lines = Vec::new();
    for cause in causes {
        for found in &cause.findings {
            describe(&mut lines, report, judged, found.finding);
        }
        lines.extend(consequences(cause));
    }
    lines.join("\n")
}

fn describe(lines: &mut Vec<String>, report: &Report<'_>, judged: &Judged, finding: &Finding) {
    let statement =
        report.catalogue.get(&finding.requirement).map_or("", |one| one.statement.as_str());
    lines.push(format!("{} {}: {statement}", finding.level, finding.requirement));
    lines.push(format!("the subject violated this at fixtures/{}", finding.place));
    lines.push(format!("expected {}", clean(&finding.expected)));
    lines.push(format!("observed {}", clean(&finding.observed)));
    for witness in &finding.events {
        let events = judged.observation.iter().flat_map(|observation| &observation.events);
        if let Some(event) = events.into_iter().find(|event| event.seq == witness.seq) {
            lines.push(format!("#{} {} ({})", event.seq, call::render(event), witness.role));
        }
    }
}

/// One line for all that follows from a cause.
fn consequences(cause: &Cause<'_>) -> Option<String> {
    let each = cause.consequences.iter().map(|(id, findings)| format!("{id} ({})", findings.len()));
    let each: Vec<String> = each.collect();
    (!each.is_empty())
        .then(|| format!("leads to {} more: {}", cause.consequence_count(), each.join(", ")))
}
