//! Whether a fact satisfies its predicate.

use serde_json::Value;

use crate::expectation::Expectation;
use crate::judge::addresses::ranges;
use crate::judge::case_record::{CaseRecord, lookup};
use crate::judge::messages;
use crate::observation::Facts;
use crate::predicate::{Predicate, Test};

/// What is wrong with a fact: what was expected and what is there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    pub(crate) expected: String,
    pub(crate) observed: String,
}

/// Whether what an expectation takes for given is so. Nothing else of it is asked where it is not.
pub(crate) fn given_holds(record: &CaseRecord<'_>, expectation: &Expectation) -> bool {
    expectation.given.iter().all(|(reference, predicate)| {
        let Some((name, path)) = reference.split_once('.') else { return false };
        record.facts(name).is_some_and(|facts| check(record, facts, path, predicate).is_none())
    })
}

/// How often a step that does something many times failed, and the error of the first time.
const FAILED: &str = "failed";
const FIRST_FAILURE: &str = "first_failure";
/// What threads did that disturbed each other, and the facts that count such rounds.
const FIRST_DAMAGE: &str = "first_damage";
const DAMAGE: &[&str] = &[FAILED, "overlaps", "changed", "miscounted"];

/// The first test of a predicate that a fact fails.
pub(crate) fn check(
    record: &CaseRecord<'_>,
    facts: &Facts,
    path: &str,
    predicate: &Predicate,
) -> Option<Mismatch> {
    let fact = lookup(facts, path);
    let holds = predicate.0.iter().all(|(test, wanted)| holds(record, facts, *test, wanted, fact));
    if holds {
        return None;
    }
    let references: Vec<String> =
        predicate.0.iter().filter_map(|(test, wanted)| meant(record, *test, wanted)).collect();
    let mut expected = format!("{path} is {predicate}");
    if !references.is_empty() {
        expected.push_str(&format!(" ({})", references.join(", ")));
    }
    let mut observed = match fact {
        Some(fact) => format!("{path} is {}", messages::value(path, fact)),
        None => format!("{path} is missing"),
    };
    if let (FAILED, Some(first)) = (path, facts.get(FIRST_FAILURE).and_then(Value::as_str)) {
        observed.push_str(&format!("; the first failure: {first}"));
    }
    let first = facts.get(FIRST_DAMAGE).and_then(Value::as_str);
    if let Some(first) = first.filter(|_| DAMAGE.contains(&path)) {
        observed.push_str(&format!("; first: {first}"));
    }
    Some(Mismatch { expected, observed })
}

fn holds(
    record: &CaseRecord<'_>,
    facts: &Facts,
    test: Test,
    wanted: &Value,
    fact: Option<&Value>,
) -> bool {
    if test == Test::Absent {
        return fact.is_none();
    }
    if unmade(record, test, wanted) {
        return true; // what failed to make the name is a finding already
    }
    if test == Test::DisjointFrom {
        return wanted.as_str().is_some_and(|name| disjoint(record, facts, name));
    }
    let Some(fact) = fact else { return false };
    match test {
        Test::Is => equal(fact, wanted),
        Test::Not => !equal(fact, wanted),
        Test::AtLeast => compare(fact, wanted).is_some_and(|order| order.is_ge()),
        Test::AtMost => compare(fact, wanted).is_some_and(|order| order.is_le()),
        Test::MultipleOf => match (fact.as_u64(), wanted.as_u64()) {
            (Some(fact), Some(unit)) if unit > 0 => fact % unit == 0,
            _ => false,
        },
        Test::OneOf => {
            wanted.as_array().is_some_and(|list| list.iter().any(|one| equal(fact, one)))
        }
        Test::Contains => contains(fact, wanted),
        Test::SameAs => {
            record.fact(wanted.as_str().unwrap_or_default()).is_some_and(|other| equal(fact, other))
        }
        Test::DiffersFrom => record
            .fact(wanted.as_str().unwrap_or_default())
            .is_some_and(|other| !equal(fact, other)),
        Test::Absent | Test::DisjointFrom => false,
    }
}

/// The value that a reference stands for, for the reader.
fn meant(record: &CaseRecord<'_>, test: Test, wanted: &Value) -> Option<String> {
    let reference = wanted.as_str()?;
    match test {
        Test::SameAs | Test::DiffersFrom => {
            let value = record
                .fact(reference)
                .map_or_else(|| "missing".to_owned(), |fact| messages::value(reference, fact));
            Some(format!("{reference} is {value}"))
        }
        Test::DisjointFrom => {
            let (start, end) = ranges(record.facts(reference)?).next()?;
            Some(format!("{reference} is at {start:#x}..{end:#x}"))
        }
        _ => None,
    }
}

/// Whether a test refers to a name that an earlier step failed to make.
fn unmade(record: &CaseRecord<'_>, test: Test, wanted: &Value) -> bool {
    let refers = matches!(test, Test::SameAs | Test::DiffersFrom | Test::DisjointFrom);
    let name = wanted.as_str().and_then(|reference| reference.split('.').next());
    refers && name.is_some_and(|name| record.facts(name).is_none())
}

fn disjoint(record: &CaseRecord<'_>, facts: &Facts, name: &str) -> bool {
    let Some(other) = record.facts(name) else { return false };
    let mut own = ranges(facts).peekable();
    own.peek().is_some()
        && own.all(|(start, end)| ranges(other).all(|(from, to)| end <= from || to <= start))
}

fn contains(fact: &Value, wanted: &Value) -> bool {
    match (fact, wanted) {
        (Value::Array(list), _) => list.iter().any(|one| equal(one, wanted)),
        (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
        (Value::Object(map), Value::String(key)) => map.contains_key(key),
        _ => false,
    }
}

/// Numbers are equal by value, everything else by form.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(_), Value::Number(_)) => {
            compare(left, right).is_some_and(|order| order.is_eq())
        }
        _ => left == right,
    }
}

fn compare(left: &Value, right: &Value) -> Option<std::cmp::Ordering> {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

fn whole(value: &Value) -> Option<i128> {
    value.as_u64().map(i128::from).or_else(|| value.as_i64().map(i128::from))
}
