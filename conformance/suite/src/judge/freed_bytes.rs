//! The expectation `freed_bytes`: a fact of a step says how much memory of the driver the subject
//! gave back in it.

use std::collections::HashMap;

use allocert_contract::trace::Event;
use serde_json::Value;
use smol_str::SmolStr;

use crate::effect::cuda::gives_back_unseen;
use crate::effect::{Effect, FreeAnswer};
use crate::judge::case_record::CaseRecord;
use crate::judge::findings::{FindingSink, witness};
use crate::judge::messages;
use crate::judge::predicates::given_holds;
use crate::judge::timeline::cuda_call;
use crate::observation::Outcome;
use crate::plan::PlannedStep;
use crate::verdict::Witness;

/// A finding shows so many of the calls that gave memory back.
const WITNESS_LIMIT: usize = 6;

/// Judges the steps that returned. A trace with gaps says nothing about memory.
pub(crate) fn judge(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    if record.observation.events_lost > 0 {
        return;
    }
    for (index, step) in record.case.steps.iter().enumerate() {
        let Some(Outcome::Returned(facts)) = record.outcome(index) else { continue };
        for (requirement, expectation) in &step.expect {
            let Some(fact) = &expectation.freed_bytes else { continue };
            if !given_holds(record, expectation) {
                continue;
            }
            let Some(freed) = freed_in(record, step) else { continue };
            if facts.get(fact).and_then(Value::as_u64) != Some(freed.bytes) {
                let observed = facts.get(fact).map(|value| messages::value(fact, value));
                sink.report(
                    requirement,
                    step,
                    expected(fact, freed.bytes),
                    format!("{fact} is {}", observed.as_deref().unwrap_or("missing")),
                    freed.events,
                );
            }
        }
    }
}

fn expected(fact: &SmolStr, bytes: u64) -> String {
    format!("{fact} is {bytes}: the driver got {} back in this step", messages::bytes(bytes))
}

/// What the subject gave back to the driver.
#[derive(Debug, Default)]
struct Freed {
    bytes: u64,
    events: Vec<Witness>,
}

impl Freed {
    fn add(&mut self, size_bytes: u64, event: &Event) {
        self.bytes = self.bytes.saturating_add(size_bytes);
        if self.events.len() < WITNESS_LIMIT {
            self.events.push(witness(event.seq, "gives memory back"));
        }
    }
}

/// Nothing if the step called a function with which memory goes back unseen.
fn freed_in(record: &CaseRecord<'_>, step: &PlannedStep) -> Option<Freed> {
    let window = record.timeline.window(step.index)?;
    let mut taken: HashMap<u64, u64> = HashMap::new();
    let mut freed = Freed::default();
    let events = record.observation.events.iter().zip(&record.timeline.attributions);
    let subjects = events.enumerate().take(window.end).filter(|(_, event)| event.1.by_subject);
    for (index, (event, _)) in subjects {
        let Some((function, call)) = cuda_call(event) else { continue };
        let in_step = window.contains(&index);
        if in_step && gives_back_unseen(function) {
            return None;
        }
        match Effect::of(call) {
            Effect::Take { start, size_bytes, .. } if call.result == Some(0) => {
                taken.insert(start, size_bytes);
            }
            Effect::Give { start, .. } if FreeAnswer::of(call) == FreeAnswer::Accepted => {
                let size_bytes = taken.remove(&start);
                if in_step {
                    freed.add(size_bytes?, event);
                }
            }
            _ => {}
        }
    }
    Some(freed)
}
