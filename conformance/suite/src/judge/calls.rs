//! Expectations on calls: the subject's own driver calls within a window, and the calls of other
//! boundaries, such as those of a host into its plugin.

use std::ops::Range;

use allocert_contract::trace::{Call, Event, Function, What};

use crate::call_name;
use crate::expectation::{Calls, Wanted};
use crate::judge::case_record::CaseRecord;
use crate::judge::findings::{FindingSink, witness};
use crate::judge::predicates;
use crate::observation::Facts;
use crate::plan::PlannedStep;
use crate::reason::Reason;
use crate::verdict::Witness;

/// A finding shows this many calls at most.
const WITNESS_LIMIT: usize = 6;

/// What was expected, what is there, and the calls that show it.
#[derive(Debug)]
struct Complaint {
    expected: String,
    observed: String,
    events: Vec<Witness>,
}

/// Judges the window of a step, or from the labelled step to this one.
pub(crate) fn judge_step(
    record: &CaseRecord<'_>,
    sink: &mut FindingSink<'_>,
    requirement: &str,
    step: &PlannedStep,
    wanted: &Calls,
) {
    let first = first_step(record, wanted).unwrap_or(step.index);
    let Some(window) = record.timeline.between(first, step.index) else {
        return sink.not_observed(Reason::NoMarks { step: step.index });
    };
    for Complaint { expected, observed, events } in complaints(record, window, wanted) {
        sink.report(requirement, step, expected, observed, events);
    }
}

/// Judges the whole case, or from the labelled step to its end.
pub(crate) fn judge_case(
    record: &CaseRecord<'_>,
    sink: &mut FindingSink<'_>,
    requirement: &str,
    wanted: &Calls,
) {
    sink.checked(requirement);
    let end = record.observation.events.len();
    let window = match first_step(record, wanted) {
        Some(first) => match record.timeline.window(first) {
            Some(window) => window.start..end,
            None => return sink.not_observed(Reason::NoMarks { step: first }),
        },
        None => 0..end,
    };
    for Complaint { expected, observed, events } in complaints(record, window, wanted) {
        sink.report_at_end(requirement, expected, observed, events);
    }
}

/// The last calls of the subject in a step, to show beside an error.
pub(crate) fn witnesses_of(record: &CaseRecord<'_>, step: u32) -> Vec<Witness> {
    let Some(window) = record.timeline.window(step) else { return Vec::new() };
    let entries: Vec<Entry<'_>> = entries(record, window).collect();
    let from = entries.len().saturating_sub(3);
    entries[from..].iter().map(|entry| witness(entry.event.seq, "called in this step")).collect()
}

fn first_step(record: &CaseRecord<'_>, wanted: &Calls) -> Option<u32> {
    let label = wanted.since.as_deref()?;
    record
        .case
        .steps
        .iter()
        .find(|step| step.label.as_deref() == Some(label))
        .map(|step| step.index)
}

/// A call that can be expected, and where the trace has it.
#[derive(Debug, Clone, Copy)]
struct Entry<'s> {
    event: &'s Event,
    call: &'s Call,
}

impl Entry<'_> {
    /// Whether a name of a fixture stands for it.
    fn is(&self, name: &str) -> bool {
        call_name::stands_for(name, self.call.function)
    }
}

fn entries<'s>(
    record: &'s CaseRecord<'_>,
    window: Range<usize>,
) -> impl Iterator<Item = Entry<'s>> {
    let events =
        record.observation.events[window.clone()].iter().zip(&record.timeline.moments[window]);
    events.filter_map(|(event, moment)| {
        let What::Call(call) = &event.what else { return None };
        // The worker itself records the calls of other boundaries, whatever it does around them.
        let counts = match call.function {
            Function::Cuda(_) => moment.subject,
            _ => moment.own,
        };
        counts.then_some(Entry { event, call })
    })
}

fn complaints(record: &CaseRecord<'_>, window: Range<usize>, wanted: &Calls) -> Vec<Complaint> {
    let entries: Vec<Entry<'_>> = entries(record, window).collect();
    let mut complaints = Vec::new();
    let mut count = |name: &str, wanted: u64, phrase: &str, holds: fn(&u64, &u64) -> bool| {
        let found = called(&entries, name);
        if !holds(&(found.len() as u64), &wanted) {
            complaints.push(miscounted(phrase, name, wanted, &found));
        }
    };
    wanted.none_of.iter().for_each(|name| count(name, 0, "no call of", u64::eq));
    wanted.count.iter().for_each(|(name, wanted)| count(name, *wanted, "exactly", u64::eq));
    wanted.at_least.iter().for_each(|(name, wanted)| count(name, *wanted, "at least", u64::ge));
    wanted.at_most.iter().for_each(|(name, wanted)| count(name, *wanted, "at most", u64::le));
    complaints.extend(disorder(&entries, &wanted.in_order));
    complaints.extend(
        wanted.balanced.iter().filter_map(|(done, undone)| imbalance(&entries, done, undone)),
    );
    for (name, facts) in &wanted.with {
        complaints.extend(misgiven(record, &entries, name, facts));
    }
    complaints
}

fn miscounted(phrase: &str, name: &str, wanted: u64, found: &[&Entry<'_>]) -> Complaint {
    let expected = match wanted {
        0 => format!("no call of {name}"),
        _ => format!("{phrase} {} of {name}", times(wanted)),
    };
    let events = found
        .iter()
        .take(WITNESS_LIMIT)
        .map(|entry| witness(entry.event.seq, "called here"))
        .collect();
    Complaint { expected, observed: times(found.len() as u64), events }
}

/// More or fewer calls of the function that undoes another than of this one.
fn imbalance(entries: &[Entry<'_>], done: &str, undone: &str) -> Option<Complaint> {
    let succeeded = |entry: &&Entry<'_>| entry.call.result == Some(0);
    let did: Vec<&Entry<'_>> = called(entries, done).into_iter().filter(succeeded).collect();
    let undid = called(entries, undone);
    if did.len() == undid.len() {
        return None;
    }
    let shown = did
        .iter()
        .map(|entry| (entry, "done here"))
        .chain(undid.iter().map(|entry| (entry, "undone here")));
    let mut events: Vec<Witness> =
        shown.take(WITNESS_LIMIT).map(|(entry, role)| witness(entry.event.seq, role)).collect();
    events.sort_by_key(|witness| witness.seq);
    let expected = format!("{undone} as often as {done} succeeded: {}", times(did.len() as u64));
    Some(Complaint { expected, observed: times(undid.len() as u64), events })
}

/// The first call of a sequence that does not follow its predecessor.
fn disorder(entries: &[Entry<'_>], wanted: &[String]) -> Option<Complaint> {
    let mut rest = entries;
    let mut met: Vec<&Event> = Vec::new();
    for name in wanted {
        let Some(at) = rest.iter().position(|entry| entry.is(name)) else {
            let observed = match met.last() {
                Some(_) => format!("no {name} after {}", wanted[met.len() - 1]),
                None => format!("no {name}"),
            };
            let mut events: Vec<Witness> =
                met.iter().map(|event| witness(event.seq, "in order")).collect();
            let early = called(entries, name);
            events.extend(early.first().map(|entry| witness(entry.event.seq, "called too early")));
            events.sort_by_key(|witness| witness.seq);
            return Some(Complaint {
                expected: format!("in this order: {}", wanted.join(", ")),
                observed,
                events,
            });
        };
        met.push(rest[at].event);
        rest = &rest[at + 1..];
    }
    None
}

/// The first call of a plugin method that was made with other facts than these; there has to be
/// one.
fn misgiven(
    record: &CaseRecord<'_>,
    entries: &[Entry<'_>],
    name: &str,
    wanted: &Wanted,
) -> Option<Complaint> {
    let found = called(entries, name);
    if found.is_empty() {
        return Some(miscounted("at least", name, 1, &found));
    }
    let nothing = Facts::new();
    found.into_iter().find_map(|entry| {
        let facts = handed(record, entry).unwrap_or(&nothing);
        let mismatch =
            wanted.iter().find_map(|(path, one)| predicates::check(record, facts, path, one))?;
        Some(Complaint {
            expected: format!("{name} is called with: {}", mismatch.expected),
            observed: mismatch.observed,
            events: vec![witness(entry.event.seq, "called here")],
        })
    })
}

/// What a call into the plugin was made with, as the worker reports it.
fn handed<'s>(record: &CaseRecord<'s>, entry: &Entry<'_>) -> Option<&'s Facts> {
    let number = entry.call.arg("number")?;
    let calls = record.observation.steps.iter().flat_map(|step| &step.plugin_calls);
    calls
        .into_iter()
        .find(|facts| facts.get("number").and_then(serde_json::Value::as_u64) == Some(number))
}

fn called<'a, 's>(entries: &'a [Entry<'s>], name: &str) -> Vec<&'a Entry<'s>> {
    entries.iter().filter(|entry| entry.is(name)).collect()
}

fn times(count: u64) -> String {
    match count {
        1 => "1 call".to_owned(),
        _ => format!("{count} calls"),
    }
}
