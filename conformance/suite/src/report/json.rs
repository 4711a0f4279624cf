//! The verdicts and findings as one JSON document, for programs. The Python package reads it
//! (`allocert.results`).

use serde_json::{Map, Value, json};

use crate::report::{Report, clean, outcome, terminal};
use crate::run_format::Judged;
use crate::verdict::{Finding, Verdict};

/// The version of the document. It grows when a reader of the last version would go wrong.
pub const FORMAT: u32 = 1;

/// The whole document.
#[must_use]
pub fn render(report: &Report<'_>) -> String {
    let (listed, unlisted) = outcome::listed(report.cases);
    let cases: Vec<Value> = listed.into_iter().map(|judged| case(report, judged)).collect();
    let exit = report.exit();
    let document = json!({
        "format": FORMAT,
        "run": run(report),
        "exit": {"code": exit.code(), "meaning": exit.words()},
        "cases": cases,
        "swept_without_finding": unlisted.values().sum::<usize>(),
    });
    super::json_text(&document)
}

fn run(report: &Report<'_>) -> Value {
    let header = report.header;
    json!({
        "allocert": clean(&header.allocert),
        "suite": clean(&header.suite),
        "side": clean(&header.interface),
        "subject": clean(&header.subject.argument),
        "profile": header.profile.as_deref().map(clean),
        "driver": header.driver.kind,
        "shows": report.part(),
    })
}

fn case(report: &Report<'_>, judged: &Judged) -> Value {
    let case = &judged.case;
    let findings = judged.judgement.findings.iter();
    let findings: Vec<Value> = findings.map(|found| finding(report, judged, found)).collect();
    let mut out = Map::new();
    out.insert("id".to_owned(), json!(clean(&case.id)));
    out.insert("about".to_owned(), json!(clean(&case.about)));
    out.insert("file".to_owned(), json!(format!("fixtures/{}", clean(&case.file))));
    out.insert("verdict".to_owned(), json!(judged.judgement.verdict.name()));
    out.insert("fails_run".to_owned(), json!(judged.judgement.fails_the_run()));
    out.extend(reason(judged).map(|reason| ("reason".to_owned(), json!(reason))));
    out.extend(judged.duration_ms().map(|time| ("duration_ms".to_owned(), json!(time))));
    if !findings.is_empty() {
        out.insert("report".to_owned(), json!(terminal::of_case(report, judged)));
        out.insert("findings".to_owned(), json!(findings));
    }
    Value::Object(out)
}

/// Why the case has no result, or why its result is what it is.
fn reason(judged: &Judged) -> Option<String> {
    match &judged.judgement.verdict {
        Verdict::Conforms | Verdict::Violates => None,
        Verdict::NotApplicable { reason } | Verdict::NotObserved { reason } => {
            Some(clean(&reason.to_string()))
        }
        Verdict::Unusable { message }
        | Verdict::HarnessError { message }
        | Verdict::UnexpectedConformance { message } => Some(clean(message)),
        Verdict::ExpectedViolation => {
            let mut findings = judged.judgement.findings.iter();
            findings.find_map(|finding| finding.expected_because.as_deref()).map(clean)
        }
    }
}

fn finding(report: &Report<'_>, judged: &Judged, finding: &Finding) -> Value {
    let statement = report.catalogue.get(&finding.requirement).map(|one| one.statement.as_str());
    let step = finding.step.and_then(|index| judged.case.steps.get(index as usize));
    let traceback = outcome::traceback(judged, finding).iter().map(|frame| clean(frame));
    json!({
        "requirement": clean(&finding.requirement),
        "level": finding.level.to_string(),
        "statement": statement,
        "file": format!("fixtures/{}", clean(&finding.place.file)),
        "line": finding.place.line,
        "step": finding.step,
        "operation": step.map(|step| step.r#do.name()),
        "expected": clean(&finding.expected),
        "observed": clean(&finding.observed),
        "listed_because": finding.expected_because.as_deref().map(clean),
        "traceback": traceback.collect::<Vec<_>>(),
        "calls": outcome::shown_calls(judged, finding),
    })
}
