//! A verdict in the four words that test tools have: passed, failed, error, skipped.

use std::collections::BTreeMap;

use crate::causes::{Cause, causes};
use crate::report::{Report, call, clean};
use crate::run_format::Judged;
use crate::verdict::{Finding, Verdict};

/// The most lines of one case. A case that repeats a wrong call has thousands.
const LINES: usize = 200;

/// What a test tool shows of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    /// The subject violates a requirement, or no longer violates what is expected.
    Failed {
        message: String,
        body: String,
    },
    /// The case came to no result.
    Error {
        message: String,
    },
    Skipped {
        message: String,
    },
    /// The expectation file lists all violations, with this reason.
    Expected {
        message: String,
    },
}

pub(super) fn outcome(report: &Report<'_>, judged: &Judged) -> Outcome {
    match &judged.judgement.verdict {
        Verdict::Conforms => Outcome::Passed,
        Verdict::Violates => {
            let causes = causes_in(report, judged);
            Outcome::Failed { message: headline(&causes), body: body(report, judged, &causes) }
        }
        Verdict::UnexpectedConformance { message } => {
            Outcome::Failed { message: clean(message), body: clean(message) }
        }
        Verdict::Unusable { message } | Verdict::HarnessError { message } => {
            Outcome::Error { message: clean(message) }
        }
        Verdict::NotApplicable { reason } => {
            Outcome::Skipped { message: format!("not applicable: {}", clean(&reason.to_string())) }
        }
        Verdict::NotObserved { reason } => {
            let message = format!("not observed: {}", clean(&reason.to_string()));
            match judged.judgement.fails_the_run() {
                true => Outcome::Error { message },
                false => Outcome::Skipped { message },
            }
        }
        Verdict::ExpectedViolation => {
            let findings = judged.judgement.findings.iter();
            let because = findings.filter_map(|finding| finding.expected_because.as_deref()).next();
            let because = clean(because.unwrap_or_default());
            Outcome::Expected { message: format!("expected failure: {because}") }
        }
    }
}

/// The findings of a case that does not fail: warnings, and violations that are listed.
pub(super) fn notes(report: &Report<'_>, judged: &Judged) -> Option<String> {
    let has_notes =
        !judged.judgement.findings.is_empty() && judged.judgement.verdict != Verdict::Violates;
    has_notes.then(|| body(report, judged, &causes_in(report, judged)))
}

/// The cases that a test tool lists: all but the swept ones that no finding is in, which are
/// thousands. Those are counted by group.
pub(super) fn listed(cases: &[Judged]) -> (Vec<&Judged>, BTreeMap<&str, usize>) {
    let mut unlisted = BTreeMap::new();
    let mut listed = Vec::with_capacity(cases.len());
    for judged in cases {
        if judged.case.is_swept() && judged.is_clear() {
            *unlisted.entry(judged.case.group()).or_default() += 1;
        } else {
            listed.push(judged);
        }
    }
    (listed, unlisted)
}

fn causes_in<'r>(report: &'r Report<'_>, judged: &'r Judged) -> Vec<Cause<'r>> {
    causes(report.catalogue, std::slice::from_ref(judged))
}

/// The likeliest cause in the case that no expectation file lists.
fn headline(causes: &[Cause<'_>]) -> String {
    let cause = causes.iter().find(|cause| !cause.is_listed());
    cause.map(|cause| summary(cause.first().finding)).unwrap_or_default()
}

/// A finding in one line.
pub(super) fn summary(finding: &Finding) -> String {
    let Finding { requirement, expected, observed, .. } = finding;
    format!("{requirement}: expected {}; observed {}", clean(expected), clean(observed))
}

fn body(report: &Report<'_>, judged: &Judged, causes: &[Cause<'_>]) -> String {
    let mut lines = Vec::new();
    for cause in causes {
        for found in &cause.findings {
            lines.extend(describe(report, judged, found.finding));
        }
        lines.extend(consequences(cause));
    }
    if lines.len() > LINES {
        let more = lines.len() - LINES;
        lines.truncate(LINES);
        lines.push(format!("and {more} more lines, in the run file"));
    }
    lines.join("\n")
}

/// A finding in several lines: the requirement, the place, what was expected and observed, and the
/// calls that show it.
pub(super) fn describe(report: &Report<'_>, judged: &Judged, finding: &Finding) -> Vec<String> {
    let statement =
        report.catalogue.get(&finding.requirement).map_or("", |one| one.statement.as_str());
    let mut lines = vec![
        format!("{} {}: {statement}", finding.level, finding.requirement),
        format!("the subject violated this at fixtures/{}", finding.place),
        format!("expected {}", clean(&finding.expected)),
        format!("observed {}", clean(&finding.observed)),
    ];
    let frames = traceback(judged, finding).iter();
    lines.extend(frames.map(|frame| format!("raised at {}", clean(frame))));
    lines.extend(shown_calls(judged, finding));
    lines
}

/// Where the exception passed that the step of a finding ended with.
pub(super) fn traceback<'a>(judged: &'a Judged, finding: &Finding) -> &'a [Box<str>] {
    let step = judged.observation.as_ref().zip(finding.step);
    step.map(|(observation, step)| observation.traceback(step)).unwrap_or_default()
}

/// The calls that show a finding, a line each.
pub(super) fn shown_calls(judged: &Judged, finding: &Finding) -> Vec<String> {
    let events = || judged.observation.iter().flat_map(|observation| &observation.events);
    let shown = finding.events.iter().filter_map(|witness| {
        let event = events().find(|event| event.seq == witness.seq)?;
        Some(format!("#{} {} ({})", event.seq, call::render(event), witness.role))
    });
    shown.collect()
}

/// One line for all that follows from a cause.
pub(super) fn consequences(cause: &Cause<'_>) -> Option<String> {
    let each = cause.consequences.iter().map(|(id, findings)| format!("{id} ({})", findings.len()));
    let each: Vec<String> = each.collect();
    (!each.is_empty())
        .then(|| format!("leads to {} more: {}", cause.consequence_count(), each.join(", ")))
}
