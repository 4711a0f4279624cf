//! A run as Markdown, short enough for the job summary of GitHub Actions: the verdict, a table of
//! groups, and each cause; and how other Markdown of ours writes a subject's text.

use crate::causes::{Cause, Found, causes};
use crate::report::{Report, clean, outcome, repeats, verdict_counts};

/// The most causes that are shown in full.
const CAUSES: usize = 50;

/// The most cases of several verdicts that are shown.
const CASES: usize = 50;

/// The whole document.
#[must_use]
pub fn render(report: &Report<'_>) -> String {
    let causes = causes(report.catalogue, report.cases);
    let mut lines = head(report);
    lines.extend(groups(report));
    lines.extend(several_verdicts(report));
    for cause in causes.iter().take(CAUSES) {
        lines.push(String::new());
        lines.extend(describe(report, cause));
    }
    if causes.len() > CAUSES {
        lines.extend([String::new(), format!("{} more causes.", causes.len() - CAUSES)]);
    }
    lines.push(String::new());
    lines.join("\n")
}

fn head(report: &Report<'_>) -> Vec<String> {
    let header = report.header;
    let exit = report.exit();
    let profile = header.profile.as_deref().map(|name| format!(", profile {}", code(name)));
    let part = report.part().map(|part| format!(" This run shows {}.", escape(&part)));
    vec![
        format!("## allocert: {}", exit.words()),
        String::new(),
        format!(
            "{} {}{}, suite {}, allocert {}.{}",
            code(&header.interface),
            code(&header.subject.argument),
            profile.unwrap_or_default(),
            code(&header.suite),
            escape(&header.allocert),
            part.unwrap_or_default()
        ),
    ]
}

fn groups(report: &Report<'_>) -> Vec<String> {
    let counts = verdict_counts::by_group(report.cases);
    let used = verdict_counts::occurring(&verdict_counts::total(&counts));
    let mut lines = vec![
        String::new(),
        format!("| group | {} |", used.join(" | ")),
        format!("|---{}|", "|---:".repeat(used.len())),
    ];
    for (group, verdicts) in &counts {
        let cell = |name: &&str| verdicts.get(*name).map_or(String::new(), u64::to_string);
        let cells: Vec<String> = used.iter().map(cell).collect();
        lines.push(format!("| {} | {} |", escape(group), cells.join(" | ")));
    }
    lines
}

/// The cases whose verdict was not the same in all repeats.
fn several_verdicts(report: &Report<'_>) -> Vec<String> {
    let Some(several) = report.repeats else { return Vec::new() };
    let flaky = several.flaky();
    let headline = repeats::headline(several, &flaky.len().to_string());
    let mut lines = vec![String::new(), format!("{headline}.")];
    if !flaky.is_empty() {
        lines.push(String::new());
    }
    let shown = flaky.iter().take(CASES);
    lines.extend(shown.map(|one| format!("- {}: {}", code(one.case), repeats::share(one))));
    if flaky.len() > CASES {
        lines.push(format!("- and {} more", flaky.len() - CASES));
    }
    lines
}

fn describe(report: &Report<'_>, cause: &Cause<'_>) -> Vec<String> {
    let Found { judged, finding } = cause.first();
    let cases = cause.cases();
    let listed = if cause.is_listed() { ", known" } else { "" };
    let more = match cases.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let mut lines = vec![
        format!("### {} {}{listed}", finding.level, escape(&finding.requirement)),
        String::new(),
        format!("In {}{more}:", code(cases[0])),
        String::new(),
    ];
    lines.extend(block("text", &outcome::describe(report, judged, finding)));
    if let Some(consequences) = outcome::consequences(cause) {
        lines.extend([String::new(), escape(&consequences)]);
    }
    lines
}

/// Lines as a block of code. A line of backticks does not end it.
pub(crate) fn block(language: &str, lines: &[String]) -> Vec<String> {
    let lines = lines.iter().map(|line| line.replace("```", "` ` `"));
    let begin = std::iter::once(format!("```{language}"));
    begin.chain(lines).chain(std::iter::once("```".to_owned())).collect()
}

/// A subject's text as code: between more backticks than it has in a row.
fn code(text: &str) -> String {
    let text = clean(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    if longest == 0 { format!("{fence}{text}{fence}") } else { format!("{fence} {text} {fence}") }
}

/// A subject's text for a sentence or a table: on one line, without Markdown.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '\\' | '|' | '*' | '`' | '[' | ']' => escaped.extend(['\\', c]),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            c => escaped.push(c),
        }
    }
    escaped
}
