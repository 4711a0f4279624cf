//! TAP 14, the Test Anything Protocol: a line for each case, and a YAML block below a failure. A
//! violation that the expectation file lists is a failure with the directive TODO.

use crate::report::Report;
use crate::report::outcome::{self, Outcome};
use crate::run_format::Judged;

/// The whole stream.
#[must_use]
pub fn render(report: &Report<'_>) -> String {
    let (listed, unlisted) = outcome::listed(report.cases);
    let mut lines = vec!["TAP version 14".to_owned(), format!("1..{}", listed.len())];
    for (index, judged) in listed.into_iter().enumerate() {
        point(&mut lines, report, index + 1, judged);
    }
    for (group, count) in unlisted {
        lines.push(format!("# {group}: {count} more injections, without a finding"));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn point(lines: &mut Vec<String>, report: &Report<'_>, number: usize, judged: &Judged) {
    let name = escaped(&judged.case.id);
    match outcome::outcome(report, judged) {
        Outcome::Passed => lines.push(format!("ok {number} - {name}")),
        Outcome::Failed { message, body } => {
            lines.push(format!("not ok {number} - {name}"));
            diagnose(lines, judged, &message, &body);
        }
        Outcome::Error { message } => {
            lines.push(format!("not ok {number} - {name}"));
            diagnose(lines, judged, &message, "");
        }
        Outcome::Skipped { message } => {
            lines.push(format!("ok {number} - {name} # SKIP {}", escaped(&message)));
        }
        Outcome::Expected { message } => {
            lines.push(format!("not ok {number} - {name} # TODO {}", escaped(&message)));
        }
    }
}

/// A JSON string is a YAML string, so no text needs a rule of its own.
fn diagnose(lines: &mut Vec<String>, judged: &Judged, message: &str, body: &str) {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    lines.push("  ---".to_owned());
    lines.push(format!("  message: {}", quoted(message)));
    lines.push(format!("  severity: {}", judged.judgement.verdict.name()));
    lines.push(format!("  file: {}", quoted(&format!("fixtures/{}", judged.case.file))));
    if !body.is_empty() {
        lines.push("  findings:".to_owned());
        lines.extend(body.lines().map(|line| format!("    - {}", quoted(line))));
    }
    lines.push("  ...".to_owned());
}

/// `#` begins a directive, and a backslash is its escape.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('#', "\\#")
}
