//! What changed between two runs, the weightiest first.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use similar::Algorithm;

use super::names::without_numbers;
use super::{Behaviour, StepBehaviour};

/// How much a change matters to somebody who reviews it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// The verdict of a case, or the findings.
    Verdict,
    /// A case is in one run alone.
    Cases,
    /// What a step returns or raises, or how the process ends.
    Results,
    /// The calls of a case, and the addresses that it gives; its verdict and its other results
    /// stay.
    Calls,
}

/// One case that is not the same in both runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub case: String,
    pub weight: Weight,
    pub changes: Vec<Change>,
}

/// What changed in a case. `before` and `after` are lines of the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "what")]
pub enum Change {
    Added,
    Removed,
    Verdict { before: String, after: String },
    Findings { before: Vec<String>, after: Vec<String> },
    Step(StepChange),
    Ending { before: Vec<String>, after: Vec<String> },
}

/// What changed in a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepChange {
    /// `step 2 memalloc`
    pub step: String,
    /// The requirements that the case states of the step.
    pub requirements: BTreeSet<String>,
    /// The lines of both in order: ` ` for one that stays, `-` and `+` for one that goes or comes.
    pub lines: Vec<String>,
    /// Whether results changed, and not calls and addresses alone.
    #[serde(skip)]
    results: bool,
}

/// Compares two runs case by case.
#[must_use]
pub fn differences(before: &[Behaviour], after: &[Behaviour]) -> Vec<Difference> {
    let (before, after) = (by_case(before), by_case(after));
    let cases: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
    let compared = cases.into_iter().filter_map(|case| {
        let (weight, changes) = match (before.get(case), after.get(case)) {
            (Some(before), Some(after)) => compare(before, after)?,
            (Some(_), None) => (Weight::Cases, vec![Change::Removed]),
            (None, _) => (Weight::Cases, vec![Change::Added]),
        };
        Some(Difference { case: case.to_owned(), weight, changes })
    });
    let mut differences: Vec<Difference> = compared.collect();
    differences.sort_by_key(|difference| difference.weight);
    differences
}

fn by_case(run: &[Behaviour]) -> BTreeMap<&str, &Behaviour> {
    run.iter().map(|behaviour| (behaviour.case.as_str(), behaviour)).collect()
}

fn compare(before: &Behaviour, after: &Behaviour) -> Option<(Weight, Vec<Change>)> {
    let mut changes = Vec::new();
    let mut weight = Weight::Calls;
    if before.verdict != after.verdict {
        weight = Weight::Verdict;
        changes
            .push(Change::Verdict { before: before.verdict.clone(), after: after.verdict.clone() });
    }
    if before.findings != after.findings {
        weight = Weight::Verdict;
        changes.push(Change::Findings {
            before: before.findings.clone(),
            after: after.findings.clone(),
        });
    }
    for step in step_changes(&before.steps, &after.steps) {
        if step.results {
            weight = weight.min(Weight::Results);
        }
        changes.push(Change::Step(step));
    }
    if before.ending != after.ending {
        weight = weight.min(Weight::Results);
        changes.push(Change::Ending { before: before.ending.clone(), after: after.ending.clone() });
    }
    (!changes.is_empty()).then_some((weight, changes))
}

/// Steps are the same if their titles are, and so are the stretches after them.
fn step_changes(before: &[StepBehaviour], after: &[StepBehaviour]) -> Vec<StepChange> {
    let (before, after) = (keyed(before), keyed(after));
    let mut keys: Vec<&String> = before.iter().map(|(key, _)| key).collect();
    keys.extend(
        after.iter().map(|(key, _)| key).filter(|key| before.iter().all(|(one, _)| one != *key)),
    );
    let nothing = StepBehaviour::default();
    let changed = keys.into_iter().filter_map(|key| {
        let one = step(&before, key).unwrap_or(&nothing);
        let other = step(&after, key).unwrap_or(&nothing);
        if one.calls == other.calls && one.results == other.results {
            return None;
        }
        let mut lines = line_changes(&one.calls, &other.calls);
        if one.results != other.results {
            lines.extend(line_changes(&one.results, &other.results));
        }
        Some(StepChange {
            step: key.clone(),
            requirements: one.requirements.union(&other.requirements).cloned().collect(),
            lines,
            results: !same_but_for_addresses(&one.results, &other.results),
        })
    });
    changed.collect()
}

fn step<'s>(steps: &[(String, &'s StepBehaviour)], key: &str) -> Option<&'s StepBehaviour> {
    steps.iter().find(|(one, _)| one == key).map(|(_, step)| *step)
}

fn same_but_for_addresses(before: &[String], after: &[String]) -> bool {
    before.len() == after.len()
        && before
            .iter()
            .zip(after)
            .all(|(one, other)| without_numbers(one) == without_numbers(other))
}

/// A stretch after a step is named after it.
fn keyed(steps: &[StepBehaviour]) -> Vec<(String, &StepBehaviour)> {
    let mut last = String::new();
    let keys = steps.iter().map(|step| {
        if step.title.starts_with("step ") {
            last.clone_from(&step.title);
            (last.clone(), step)
        } else if last.is_empty() {
            (step.title.clone(), step)
        } else {
            (format!("after {last}"), step)
        }
    });
    keys.collect()
}

/// More lines than this are not compared one by one, which takes the square of their number.
const COMPARED_LINES: usize = 1000;

/// Both in one list. What is in both in the same order stays. Of long lists it tells how often each
/// function is called.
fn line_changes(before: &[String], after: &[String]) -> Vec<String> {
    if before.len().max(after.len()) > COMPARED_LINES {
        return count_changes(before, after);
    }
    let changes = similar::capture_diff_slices(Algorithm::Myers, before, after);
    let changes = changes.iter().flat_map(|change| change.iter_changes(before, after));
    changes.map(|change| format!("{}{}", change.tag(), change.value())).collect()
}

fn count_changes(before: &[String], after: &[String]) -> Vec<String> {
    let (before, after) = (calls_by_function(before), calls_by_function(after));
    let functions: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
    let mut lines = Vec::new();
    for function in functions {
        let count = |calls: &BTreeMap<&str, usize>| calls.get(function).copied().unwrap_or(0);
        let (one, other) = (count(&before), count(&after));
        if one == other {
            lines.push(format!(" {one} calls of {function}, perhaps with other arguments"));
        } else {
            lines.extend([format!("-{one} calls of {function}"), format!("+{other} calls")]);
        }
    }
    lines
}

fn calls_by_function(lines: &[String]) -> BTreeMap<&str, usize> {
    let mut calls = BTreeMap::new();
    for line in lines {
        *calls.entry(line.split('(').next().unwrap_or_default()).or_default() += 1;
    }
    calls
}
