//! The JSON of an endpoint badge of shields.io: the side, and what the run came to.

use std::collections::BTreeSet;

use allocert_requirements::Level;
use serde_json::json;

use crate::exit::Exit;
use crate::report::Report;

/// The whole document.
#[must_use]
pub fn render(report: &Report<'_>) -> String {
    let exit = report.exit();
    let (message, color) = match exit {
        Exit::Conforms if report.part().is_some() => (conforming(report), "yellowgreen"),
        Exit::Conforms => (conforming(report), "brightgreen"),
        Exit::Violations => (violating(report), "red"),
        Exit::Usage => ("unusable".to_owned(), "lightgrey"),
        Exit::Harness => ("no result".to_owned(), "lightgrey"),
        Exit::NotObserved => ("not observed".to_owned(), "lightgrey"),
        Exit::NothingRan => ("nothing ran".to_owned(), "lightgrey"),
    };
    let label = match &report.header.profile {
        Some(profile) => format!("{} ({profile})", report.header.interface),
        None => report.header.interface.clone(),
    };
    super::json_text(&json!({
        "schemaVersion": 1,
        "label": label,
        "message": message,
        "color": color,
        "isError": exit != Exit::Conforms,
    }))
}

/// Violations that an expectation file lists are no conformance.
fn conforming(report: &Report<'_>) -> String {
    let part = if report.part().is_some() { " in part" } else { "" };
    match violated(report, true) {
        0 => format!("conforms{part}"),
        count => format!("conforms{part}, except {count} known {}", noun(count)),
    }
}

fn violating(report: &Report<'_>) -> String {
    match violated(report, false) {
        0 => "expectations are out of date".to_owned(),
        count => format!("violates {count} {}", noun(count)),
    }
}

fn noun(count: usize) -> &'static str {
    if count == 1 { "requirement" } else { "requirements" }
}

/// How many requirements of level MUST are violated: those that an expectation file lists, or the
/// others.
fn violated(report: &Report<'_>, listed: bool) -> usize {
    let findings = report.cases.iter().flat_map(|judged| &judged.judgement.findings);
    let meant = findings.filter(|finding| {
        finding.level == Level::Must && finding.expected_because.is_some() == listed
    });
    meant.map(|finding| finding.requirement.as_str()).collect::<BTreeSet<_>>().len()
}
