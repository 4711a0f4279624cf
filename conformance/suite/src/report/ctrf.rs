//! CTRF, the Common Test Report Format: one JSON document.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::report::outcome::{self, Outcome};
use crate::report::{Report, repeats};
use crate::run_format::{Header, Judged};

/// The version of the format that is written.
const SPEC_VERSION: &str = "0.0.0";

/// The whole document.
#[must_use]
pub fn render(report: &Report<'_>) -> String {
    let (listed, _) = outcome::listed(report.cases);
    let tests: Vec<Value> = listed.iter().map(|judged| test(report, judged)).collect();
    let document = json!({
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "generatedBy": "allocert",
        "results": {
            "tool": {"name": "allocert", "version": report.header.allocert},
            "summary": summary(report, &tests),
            "tests": tests,
            "environment": {"extra": environment(report.header)},
        },
    });
    super::json_text(&document)
}

fn environment(header: &Header) -> Value {
    json!({
        "side": header.interface,
        "subject": super::clean(&header.subject.argument),
        "profile": header.profile,
        "suite": header.suite,
    })
}

fn summary(report: &Report<'_>, tests: &[Value]) -> Value {
    let count = |status: &str| tests.iter().filter(|test| test["status"] == status).count();
    let durations = tests.iter().filter_map(|test| test["duration"].as_u64());
    // Cases run side by side, so the sum is the most that the run can have taken.
    let start = report.header.started_unix_ms.unwrap_or_default();
    let mut summary = json!({
        "tests": tests.len(),
        "passed": count("passed"),
        "failed": count("failed"),
        "skipped": count("skipped"),
        "pending": 0,
        "other": count("other"),
        "start": start,
        "stop": start + durations.sum::<u64>(),
    });
    if report.repeats.is_some() {
        summary["flaky"] = json!(tests.iter().filter(|test| test["flaky"] == true).count());
    }
    summary
}

fn test(report: &Report<'_>, judged: &Judged) -> Value {
    let (status, message, trace) = match outcome::outcome(report, judged) {
        Outcome::Passed => ("passed", None, None),
        Outcome::Failed { message, body } => ("failed", Some(message), Some(body)),
        Outcome::Error { message } => ("failed", Some(message), None),
        Outcome::Skipped { message } => ("skipped", Some(message), None),
        Outcome::Expected { message } => ("other", Some(message), None),
    };
    let case = &judged.case;
    let mut test = Map::new();
    test.insert("name".to_owned(), json!(case.id));
    test.insert("status".to_owned(), json!(status));
    test.insert("rawStatus".to_owned(), json!(judged.judgement.verdict.name()));
    test.insert("duration".to_owned(), json!(judged.duration_ms().unwrap_or_default()));
    test.insert("suite".to_owned(), json!([case.group()]));
    test.insert("filePath".to_owned(), json!(format!("fixtures/{}", case.file)));
    let requirements: BTreeSet<&str> = case.requirements().collect();
    test.insert("tags".to_owned(), json!(requirements));
    test.extend(message.map(|message| ("message".to_owned(), json!(message))));
    test.extend(trace.map(|trace| ("trace".to_owned(), json!(trace))));
    test.extend(of_repeats(report, &case.id));
    Value::Object(test)
}

/// How often the case was run again, and its verdicts if it had several. Its status is the worst.
fn of_repeats(report: &Report<'_>, case: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    let Some(several) = report.repeats else { return fields };
    let of: u32 = several.verdicts.get(case).into_iter().flat_map(BTreeMap::values).sum();
    let flaky = several.flaky_case(case);
    fields.insert("retries".to_owned(), json!(of.saturating_sub(1)));
    fields.insert("flaky".to_owned(), json!(flaky.is_some()));
    if let Some(flaky) = flaky {
        let extra = json!({"repeats": repeats::share(&flaky), "verdicts": flaky.verdicts});
        fields.insert("extra".to_owned(), extra);
    }
    fields
}
