//! Workflow commands of GitHub Actions: an annotation for each cause, and for each other reason why
//! the run fails. GitHub shows ten errors and ten warnings of a step, so the rest is one line.

use allocert_requirements::Level;

use crate::causes::{Cause, Found, causes};
use crate::report::unrun::{Failure, failures};
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
        let of_causes = causes.iter().filter(meant);
        let mut all: Vec<String> =
            of_causes.map(|cause| annotation(command, report, cause)).collect();
        if level.is_some() {
            all.extend(failures(report).iter().map(|failure| of_failure(report, failure)));
        }
        lines.extend(all.iter().take(SHOWN).cloned());
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

fn of_failure(report: &Report<'_>, failure: &Failure) -> String {
    let title = format!("the run of {} fails", report.header.interface);
    format!("::error title={}::{}", property(&title), data(&failure.text))
}

/// A text after `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A text between `=` and `,`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
