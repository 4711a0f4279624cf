//! Workflow commands of GitHub Actions: an annotation for each cause. GitHub shows ten errors and
//! ten warnings of a step, so the rest is one line.

use allocert_requirements::Level;

use crate::causes::{Cause, Found, causes};
use crate::report::{Report, clean, outcome};

/// How many annotations of one kind GitHub shows of a step.
const SHOWN: usize = 10;

/// The commands, a line each.
#[must_use]
pub fn render(report: &Report<'_>) -> String {
    let causes = causes(report.catalogue, report.cases);
    let mut lines = Vec::new();
    for (command, level) in [("error", Some(Level::Must)), ("warning", None)] {
        let meant = |cause: &&Cause<'_>| {
            let is_must = cause.first().finding.level == Level::Must;
            !cause.is_listed() && is_must == level.is_some()
        };
        let all: Vec<&Cause<'_>> = causes.iter().filter(meant).collect();
        lines.extend(all.iter().take(SHOWN).map(|cause| annotation(command, report, cause)));
        if all.len() > SHOWN {
            lines.push(format!("{} more, in the run file", all.len() - SHOWN));
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

fn annotation(command: &str, report: &Report<'_>, cause: &Cause<'_>) -> String {
    let Found { judged, finding } = cause.first();
    let mut text = outcome::describe(report, judged, finding);
    text.push(format!("in {}", clean(&finding.case)));
    text.extend(outcome::consequences(cause));
    let file = format!("fixtures/{}", finding.place.file);
    format!(
        "::{command} file={},line={},title={}::{}",
        property(&file),
        finding.place.line,
        property(&format!("{} violates {}", report.header.interface, finding.requirement)),
        data(&text.join("\n"))
    )
}

/// A text after `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A text between `=` and `,`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
