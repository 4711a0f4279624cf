//! Brings an expectation file up to date: entries that are not true any more go, with the comments
//! directly above them; new violations and cases that are not observed come. All other lines,
//! comments too, stay as they are, and all lines end as the first one does.

use std::collections::{BTreeMap, BTreeSet};

use allocert_requirements::Level;

use crate::expectation_file::{ExpectationFile, Expected};
use crate::verdict::{Judgement, Verdict};

/// What a new entry says until somebody knows better.
const REASON: &str = "found by --update-expectations; say why it is known";

/// The new text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    pub text: String,
    pub removed: usize,
    pub added: usize,
}

/// The text with the changes that a run calls for. `file` was read from `text` and has only the
/// entries that apply to the run; its expectations are not applied to the judgements yet.
#[must_use]
pub fn update(file: &ExpectationFile, text: &str, judgements: &[&Judgement]) -> Update {
    let lines: Vec<&str> = text.lines().collect();
    let starts: Vec<usize> =
        file.entry_lines.iter().map(|line| item_start(&lines, *line)).collect();
    let stale = file.stale_entries(judgements);
    let stale: BTreeSet<usize> = stale.map(|entry| item_start(&lines, entry.line)).collect();
    let mut gone: BTreeSet<usize> = BTreeSet::new();
    for start in &stale {
        gone.extend(comment_start(&lines, *start)..item_end(&lines, *start, &starts));
    }
    let (violations, unseen) = (new_violations(file, judgements), new_unseen(file, judgements));
    let behind = starts.last().map(|last| item_end(&lines, *last, &starts));
    let indent = starts.first().map_or("  ", |first| indent_of(lines[*first]));
    let added = violations.len() + usize::from(!unseen.is_empty());
    let entries = entries(&violations, &unseen, indent);
    let left = starts.len() - stale.len() + added;
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        if behind == Some(at) {
            out.push_str(&entries);
        }
        match line.strip_prefix("expected:") {
            Some(_) if left == 0 => out.push_str("expected: []\n"),
            Some(_) if starts.is_empty() => out.push_str(&format!("expected:\n{entries}")),
            _ if gone.contains(&at) => {}
            _ => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    if behind == Some(lines.len()) {
        out.push_str(&entries);
    }
    // `lines` leaves both ends of lines out; the file keeps that of its first line.
    if text.split_once('\n').is_some_and(|(first, _)| first.ends_with('\r')) {
        out = out.replace('\n', "\r\n");
    }
    Update { text: out, removed: stale.len(), added }
}

/// Requirement to the cases that violate it and that no entry lists.
fn new_violations<'j>(
    file: &ExpectationFile,
    judgements: &[&'j Judgement],
) -> BTreeMap<&'j str, BTreeSet<&'j str>> {
    let mut new: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for judgement in judgements.iter().filter(|one| one.verdict == Verdict::Violates) {
        for finding in judgement.findings.iter().filter(|one| one.level == Level::Must) {
            let lists = file.entries.iter().any(|entry| {
                entry.requirement() == Some(finding.requirement.as_str())
                    && entry.matches(&judgement.case)
            });
            if !lists {
                new.entry(&finding.requirement).or_default().insert(&judgement.case);
            }
        }
    }
    new
}

/// The cases that ran without showing what they ask about, and that no entry lists.
fn new_unseen<'j>(file: &ExpectationFile, judgements: &[&'j Judgement]) -> BTreeSet<&'j str> {
    let lists = |judgement: &Judgement| {
        file.entries
            .iter()
            .any(|entry| entry.expected == Expected::NotObserved && entry.matches(&judgement.case))
    };
    let unseen = judgements.iter().filter(|one| one.is_unseen() && !lists(one));
    unseen.map(|one| one.case.as_str()).collect()
}

fn entries(
    violations: &BTreeMap<&str, BTreeSet<&str>>,
    unseen: &BTreeSet<&str>,
    indent: &str,
) -> String {
    let violations = violations
        .iter()
        .map(|(requirement, cases)| (format!("requirement: {requirement}"), cases));
    let unseen = (!unseen.is_empty()).then(|| ("verdict: not-observed".to_owned(), unseen));
    let mut out = String::new();
    for (expected, cases) in violations.chain(unseen) {
        out.push_str(&format!("{indent}- {expected}\n{indent}  cases:\n"));
        for case in cases {
            // A JSON string is a YAML string.
            let glob = serde_json::Value::from(globset::escape(case));
            out.push_str(&format!("{indent}    - {glob}\n"));
        }
        out.push_str(&format!("{indent}  reason: {REASON}\n"));
    }
    out
}

/// Where the item of a list begins whose first field stands in this line (from 1); counted from 0.
fn item_start(lines: &[&str], line: usize) -> usize {
    let at = line.saturating_sub(1).min(lines.len().saturating_sub(1));
    (0..=at).rev().find(|at| lines[*at].trim_start().starts_with('-')).unwrap_or(at)
}

/// Where the comment begins that stands directly above the item: the item where there is none.
fn comment_start(lines: &[&str], start: usize) -> usize {
    let above = lines[..start].iter().rev();
    start - above.take_while(|line| line.trim_start().starts_with('#')).count()
}

/// Where it ends: at the next item, at the next field of the file or at the end. Comments and empty
/// lines before that belong to what follows.
fn item_end(lines: &[&str], start: usize, starts: &[usize]) -> usize {
    let follows = |at: usize| {
        let begins_field = lines[at].starts_with(|c: char| c.is_alphabetic());
        starts.contains(&at) || begins_field
    };
    let next = (start + 1..lines.len()).find(|at| follows(*at)).unwrap_or(lines.len());
    let is_of_item = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    (start + 1..next).rev().find(|at| is_of_item(lines[*at])).map_or(start + 1, |last| last + 1)
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}
