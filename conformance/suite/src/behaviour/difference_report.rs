//! What changed between two runs, for a person who reviews it: changed verdicts first, then changed
//! results, then calls that changed without either.

use serde_json::json;

use super::{Change, Difference, StepChange, Weight};
use crate::report::markdown;
use crate::report::style::Palette;
use crate::report::{clean, json_text, line};

/// The version of the JSON document. It grows when a reader of the last version would go wrong.
pub const FORMAT: u32 = 1;

/// The most lines of one step.
const LINES: usize = 40;
/// The lines that stay, around one that changes.
const AROUND: usize = 2;

/// As text for a terminal, with a newline at its end.
#[must_use]
pub fn text(differences: &[Difference], palette: Palette) -> String {
    let mut out = String::new();
    for (weight, cases) in by_weight(differences) {
        line!(out, "{}", palette.strong(heading(weight, cases.len())));
        for difference in cases {
            line!(out);
            line!(out, "{}", difference.case);
            for shown in shown(difference) {
                let painted = match shown.chars().next() {
                    Some('-') => palette.bad(&shown),
                    Some('+') => palette.good(&shown),
                    _ => shown,
                };
                line!(out, "    {painted}");
            }
        }
        line!(out);
    }
    line!(out, "{}", summary(differences));
    out
}

/// As Markdown, for a comment on a pull request.
#[must_use]
pub fn markdown(differences: &[Difference]) -> String {
    let mut out = format!("## {}\n", summary(differences));
    for (weight, cases) in by_weight(differences) {
        line!(out, "\n### {}", heading(weight, cases.len()));
        for difference in cases {
            let block = markdown::block("diff", &shown(difference));
            line!(out, "\n{}\n\n{}", markdown::escape(&difference.case), block.join("\n"));
        }
    }
    out
}

/// As data, for a program: the version of the document, and the cases that changed.
#[must_use]
pub fn json(differences: &[Difference]) -> String {
    json_text(&json!({"format": FORMAT, "cases": differences}))
}

fn by_weight(differences: &[Difference]) -> Vec<(Weight, Vec<&Difference>)> {
    let mut parts: Vec<(Weight, Vec<&Difference>)> = Vec::new();
    for difference in differences {
        match parts.last_mut() {
            Some((weight, cases)) if *weight == difference.weight => cases.push(difference),
            _ => parts.push((difference.weight, vec![difference])),
        }
    }
    parts
}

fn heading(weight: Weight, count: usize) -> String {
    let cases = if count == 1 { "case" } else { "cases" };
    match weight {
        Weight::Verdict => format!("verdict or findings changed: {count} {cases}"),
        Weight::Cases => format!("in one of the runs alone: {count} {cases}"),
        Weight::Results => format!("results changed, verdict did not: {count} {cases}"),
        Weight::Calls => format!("only calls and addresses changed: {count} {cases}"),
    }
}

fn summary(differences: &[Difference]) -> String {
    match differences.len() {
        0 => "no case changed".to_owned(),
        1 => "1 case changed".to_owned(),
        count => format!("{count} cases changed"),
    }
}

fn shown(difference: &Difference) -> Vec<String> {
    let mut lines = Vec::new();
    for change in &difference.changes {
        match change {
            Change::Added => lines.push("+ only the second run has it".to_owned()),
            Change::Removed => lines.push("- only the first run has it".to_owned()),
            Change::Verdict { before, after } => {
                lines.extend([format!("- verdict {before}"), format!("+ verdict {after}")]);
            }
            Change::Findings { before, after } => lines.extend(both("finding", before, after)),
            Change::Ending { before, after } => lines.extend(both("ended", before, after)),
            Change::Step(step) => lines.extend(step_lines(step)),
        }
    }
    lines.iter().map(|line| clean(line)).collect()
}

fn both(word: &str, before: &[String], after: &[String]) -> Vec<String> {
    let gone = before.iter().filter(|line| !after.contains(line));
    let new = after.iter().filter(|line| !before.contains(line));
    let gone = gone.map(|line| format!("- {word} {line}"));
    gone.chain(new.map(|line| format!("+ {word} {line}"))).collect()
}

fn step_lines(step: &StepChange) -> Vec<String> {
    let requirements: Vec<&str> = step.requirements.iter().map(String::as_str).collect();
    let heading = match requirements.as_slice() {
        [] => step.step.clone(),
        requirements => format!("{}, of {}", step.step, requirements.join(", ")),
    };
    let changed = |line: &String| !line.starts_with(' ');
    let places: Vec<usize> = (0..step.lines.len()).filter(|at| changed(&step.lines[*at])).collect();
    let is_near = |at: &usize| places.iter().any(|place| place.abs_diff(*at) <= AROUND);
    let near: Vec<&String> =
        (0..step.lines.len()).filter(is_near).map(|at| &step.lines[at]).collect();
    let more = near.len().saturating_sub(LINES);
    let shown = near.into_iter().take(LINES).map(|line| {
        let (sign, text) = line.split_at(1);
        format!("{sign} {text}")
    });
    let more = (more > 0).then(|| format!("  ... and {more} more lines"));
    std::iter::once(format!("  {heading}")).chain(shown).chain(more).collect()
}
