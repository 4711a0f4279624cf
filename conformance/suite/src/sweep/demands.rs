//! What a step must come to when a driver call has failed: what the clean run came to, or an error.

use allocert_requirements::{Catalogue, Side};
use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::nouns::ErrorKind;

use crate::expectation::{Expectation, Expectations, Wanted};
use crate::observation::{Facts, Outcome};
use crate::operation::Operation;
use crate::plan::PlannedStep;
use crate::predicate::{Predicate, Test};

/// The requirements that stand for what the sweep demands of a side, by id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demands<'a> {
    /// A failure surfaces, or is made up for.
    failure_surfaces: &'a str,
    /// The subject serves afterwards.
    serves_afterwards: &'a str,
    /// Memory that is held stays as it is.
    memory_holds: &'a str,
}

impl<'a> Demands<'a> {
    /// Nothing for a side whose requirements do not say what a failing call may lead to.
    pub(crate) fn of(catalogue: &'a Catalogue, side: Side) -> Option<Self> {
        let id = |demand| Some(catalogue.by_demand(side, demand)?.id.as_str());
        Some(Self {
            failure_surfaces: id("sweep.failure_surfaces")?,
            serves_afterwards: id("sweep.serves_afterwards")?,
            memory_holds: id("sweep.memory_holds")?,
        })
    }
}

/// What the probe writes to its memory and reads again.
pub(crate) const PROBE_BYTE: u8 = 0xa5;

impl Demands<'_> {
    /// What is expected of a step of the clean case.
    pub(crate) fn of_step(
        &self,
        before: &[PlannedStep],
        operation: &Operation,
        clean: &Outcome,
    ) -> Expectations {
        let facts = match clean {
            Outcome::Returned(facts) => Some(facts),
            _ => None,
        };
        match (operation, facts) {
            // The harness's own.
            (Operation::Attach { .. } | Operation::Detach {} | Operation::HostBuffer { .. }, _) => {
                Expectations::new()
            }
            // Memory that the subject has given is there, whatever failed besides.
            (Operation::Fill { .. }, Some(_)) => one(self.memory_holds, returns(Wanted::new())),
            (Operation::Read { memory, .. }, Some(facts)) => {
                let known: &[&str] = if wrote(before, memory, facts) {
                    &["uniform", "bytes_read"]
                } else {
                    &["bytes_read"]
                };
                one(self.memory_holds, returns(same(facts, known)))
            }
            (operation, facts) => {
                one(self.failure_surfaces, or_raises(success(operation, facts), ErrorKind::Any))
            }
        }
    }

    /// What is expected of a step of the probe. Where the case made memory short, the probe may
    /// find it short.
    pub(crate) fn of_probe(&self, operation: &Operation, short: bool) -> Expectations {
        let wanted = match operation {
            Operation::Memalloc { size, .. } => Wanted::from([
                is("kind", json!("device")),
                is("size_bytes", json!(*size as u64)),
                not("pointer", json!(0)),
            ]),
            Operation::Read { .. } => Wanted::from([is("uniform", json!(PROBE_BYTE))]),
            Operation::Attach { .. } | Operation::Detach {} => return Expectations::new(),
            _ => Wanted::new(),
        };
        let expected =
            if short { or_raises(wanted, ErrorKind::OutOfMemory) } else { returns(wanted) };
        one(self.serves_afterwards, expected)
    }

    /// What is expected of the teardown after the probe: the driver works again.
    pub(crate) fn of_rest(&self, operation: &Operation, clean: &Outcome) -> Expectations {
        match (operation, clean) {
            (Operation::Detach {}, _) => Expectations::new(),
            (_, Outcome::Returned(_)) => one(self.serves_afterwards, returns(Wanted::new())),
            _ => one(self.serves_afterwards, or_raises(Wanted::new(), ErrorKind::Any)),
        }
    }
}

/// The facts without which a return is no success.
fn success(operation: &Operation, clean: Option<&Facts>) -> Wanted {
    let Some(facts) = clean else { return Wanted::new() };
    match operation {
        Operation::Memalloc { .. }
        | Operation::Memhostalloc { .. }
        | Operation::Mempin { .. }
        | Operation::View { .. } => {
            let mut wanted = same(facts, &["kind", "size_bytes"]);
            let addresses = ["pointer", "host_pointer"].into_iter();
            wanted.extend(
                addresses.filter(|name| is_set(facts, name)).map(|name| not(name, json!(0))),
            );
            wanted
        }
        Operation::GetMemoryInfo { .. } => same(facts, &["total_bytes"]),
        Operation::GetIpcHandle { .. } => {
            // Where in its block the memory lies depends on which blocks there are.
            let mut wanted = same(facts, &["handle_bytes", "size_bytes"]);
            let zeros =
                facts.get("handle").and_then(Value::as_str).map(|handle| "0".repeat(handle.len()));
            wanted.extend(zeros.map(|zeros| not("handle", json!(zeros))));
            wanted
        }
        Operation::Churn { .. } | Operation::Reenter { .. } | Operation::Stress { .. } => {
            same(facts, &["overlaps", "misaligned"])
        }
        _ => Wanted::new(),
    }
}

/// Whether the bytes that a clean run read are those that were written last under the same name.
/// What was written under another name of the memory (a view, a pinned buffer) is not there when
/// that name could not be made.
fn wrote(before: &[PlannedStep], name: &str, facts: &Facts) -> bool {
    let gave = |step: &PlannedStep| {
        let gives =
            matches!(step.r#do, Operation::Memalloc { .. } | Operation::Memhostalloc { .. });
        gives && step.r#do.binds().is_some_and(|(bound, _)| bound == name)
    };
    let byte = before.iter().rev().find_map(|step| match &step.r#do {
        Operation::Fill { memory, byte, .. } if memory == name => Some(u64::from(*byte)),
        _ => None,
    });
    byte.is_some()
        && byte == facts.get("uniform").and_then(Value::as_u64)
        && before.iter().any(gave)
}

fn is_set(facts: &Facts, name: &str) -> bool {
    facts.get(name).and_then(Value::as_u64).is_some_and(|address| address != 0)
}

/// Each of these facts as it was, if it was there.
fn same(facts: &Facts, names: &[&str]) -> Wanted {
    let known = names.iter().filter_map(|name| Some(is(name, facts.get(*name)?.clone())));
    known.collect()
}

fn is(name: &str, value: Value) -> (SmolStr, Predicate) {
    (name.into(), Predicate([(Test::Is, value)].into()))
}

fn not(name: &str, value: Value) -> (SmolStr, Predicate) {
    (name.into(), Predicate([(Test::Not, value)].into()))
}

fn returns(wanted: Wanted) -> Expectation {
    Expectation { returns: Some(wanted), ..Expectation::default() }
}

fn or_raises(wanted: Wanted, kind: ErrorKind) -> Expectation {
    Expectation { raises: Some(vec![kind]), ..returns(wanted) }
}

fn one(requirement: &str, expectation: Expectation) -> Expectations {
    Expectations::from([(requirement.into(), expectation)])
}
