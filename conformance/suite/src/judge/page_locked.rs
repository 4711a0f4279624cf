//! The expectation `page_locked`: the driver has locked every byte of some host memory.

use allocert_contract::trace::Event;
use serde_json::Value;

use crate::effect::{Effect, FreeAnswer, MemorySource};
use crate::judge::addresses::AddressMap;
use crate::judge::case_record::CaseRecord;
use crate::judge::findings::FindingSink;
use crate::judge::messages;
use crate::judge::predicates::given_holds;
use crate::judge::timeline::cuda_call;
use crate::observation::Outcome;

/// Judges the steps that returned. A trace with gaps says nothing about memory.
pub(crate) fn judge(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    if record.observation.events_lost > 0 {
        return;
    }
    for (index, step) in record.case.steps.iter().enumerate() {
        if !matches!(record.outcome(index), Some(Outcome::Returned(_))) {
            continue;
        }
        for (requirement, expectation) in &step.expect {
            let Some(name) = expectation.page_locked.as_deref() else { continue };
            let Some((start, end)) = host_range(record, name) else { continue };
            if !given_holds(record, expectation) {
                continue;
            }
            let window = record.timeline.window(step.index).map_or(0, |window| window.end);
            let Some(byte) = first_unlocked(record, window, start, end) else { continue };
            let expected = format!("the driver has locked all {} of `{name}`", size(start, end));
            let observed = match byte - start {
                0 => "its first byte is not locked".to_owned(),
                1 => "only its first byte is locked".to_owned(),
                offset => format!("only its first {offset} bytes are locked"),
            };
            sink.report(requirement, step, expected, observed, Vec::new());
        }
    }
}

/// The half-open range of the host addresses that the facts of a name describe.
fn host_range(record: &CaseRecord<'_>, name: &str) -> Option<(u64, u64)> {
    let facts = record.facts(name)?;
    let number = |fact: &str| facts.get(fact).and_then(Value::as_u64);
    let start = number("host_pointer").filter(|start| *start != 0)?;
    Some((start, start.saturating_add(number("size_bytes")?)))
}

/// The first byte of a range that the driver had not locked when the given event began.
fn first_unlocked(record: &CaseRecord<'_>, until: usize, start: u64, end: u64) -> Option<u64> {
    let locked = locked_before(record, until);
    let mut byte = start;
    while byte < end {
        let Some((base, size_bytes)) = locked.at(byte) else { return Some(byte) };
        byte = base.saturating_add(*size_bytes);
    }
    None
}

/// The host memory that is locked before an event, with the size of each range.
fn locked_before(record: &CaseRecord<'_>, until: usize) -> AddressMap<u64> {
    let mut locked = AddressMap::default();
    let events = record.observation.events.iter().zip(&record.timeline.attributions);
    for (event, _) in events.take(until).filter(|(_, attribution)| attribution.in_process) {
        apply(&mut locked, event);
    }
    locked
}

fn apply(locked: &mut AddressMap<u64>, event: &Event) {
    let Some((_, call)) = cuda_call(event) else { return };
    match Effect::of(call) {
        Effect::Take { start, size_bytes, source } if locks(source) && call.result == Some(0) => {
            locked.put(start, start.saturating_add(size_bytes), size_bytes);
        }
        Effect::Give { start, source }
            if locks(source) && FreeAnswer::of(call) == FreeAnswer::Accepted =>
        {
            locked.remove(start);
        }
        _ => {}
    }
}

fn locks(source: MemorySource) -> bool {
    matches!(source, MemorySource::PageLocked | MemorySource::Registered)
}

fn size(start: u64, end: u64) -> String {
    messages::bytes(end - start)
}
