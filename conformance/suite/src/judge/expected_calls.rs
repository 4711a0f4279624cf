//! Expectations on calls: the subject's own driver calls within a window, and the calls of other
//! boundaries, such as those of a host into its plugin.

use std::collections::BTreeMap;
use std::ops::Range;

use allocert_contract::trace::{Boundary, Call, Event, Function, What, cuda};
use serde_json::Value;

use crate::call_name::NamedFunctions;
use crate::effect::Effect;
use crate::effect::cuda::{ContextEffect, MemoryClass, finds_no_context, memory_class};
use crate::expectation::{Calls, Wanted};
use crate::judge::case_record::CaseRecord;
use crate::judge::error_kinds;
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
struct Mismatch {
    expected: String,
    observed: String,
    events: Vec<Witness>,
}

impl Mismatch {
    /// Where no call shows it, the calls of the function show it that do not count.
    fn or_others(mut self, asked: &[RecordedCall<'_>], name: &str) -> Self {
        if self.events.is_empty() {
            let others = named(asked, name).into_iter().take(WITNESS_LIMIT);
            self.events = others.map(|call| call.witness("called with other facts")).collect();
        }
        self
    }
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
    let Some(window) = record.timeline.window_between(first, step.index) else {
        return sink.not_observed(Reason::NoMarkers { step: step.index });
    };
    if wanted.own && only_host_code_asked(record, window.clone()) {
        return sink.not_observed(Reason::TakenByHostCode { step: step.index });
    }
    for Mismatch { expected, observed, events } in mismatches(record, window, wanted) {
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
            None => return sink.not_observed(Reason::NoMarkers { step: first }),
        },
        None => 0..end,
    };
    for Mismatch { expected, observed, events } in mismatches(record, window, wanted) {
        sink.report_at_end(requirement, expected, observed, events);
    }
}

/// The last calls of the subject in a step, to show beside an error.
pub(crate) fn last_calls_of(record: &CaseRecord<'_>, step: u32) -> Vec<Witness> {
    let Some(window) = record.timeline.window(step) else { return Vec::new() };
    let calls: Vec<RecordedCall<'_>> = calls_in(record, window).collect();
    let last = &calls[calls.len().saturating_sub(3)..];
    last.iter().map(|call| call.witness("called in this step")).collect()
}

/// The last function that the subject called in a step and the software driver does not have.
pub(crate) fn function_that_driver_lacks(
    record: &CaseRecord<'_>,
    step: u32,
) -> Option<cuda::Function> {
    let window = record.timeline.window(step)?;
    window.rev().find_map(|index| match record.observation.events[index].what {
        What::Unsupported { function, .. } if record.timeline.attributions[index].by_subject => {
            Some(function)
        }
        _ => None,
    })
}

/// Whether the driver answered a call of the step that its memory is short.
pub(crate) fn driver_ran_out(record: &CaseRecord<'_>, step: u32) -> bool {
    let window = record.timeline.window(step);
    window.is_some_and(|window| {
        let mut calls = calls_in(record, window);
        calls.any(|call| is_answer_of_driver(call.call, error_kinds::OUT_OF_MEMORY))
    })
}

/// Whether the driver answered the call so. Other boundaries have other numbers.
fn is_answer_of_driver(call: &Call, code: i32) -> bool {
    call.function.cuda().is_some() && call.result == Some(code)
}

/// Whether the subject called the driver in the step without a current context, or learnt that none
/// is current and made none current.
pub(crate) fn lacks_context(record: &CaseRecord<'_>, step: u32) -> bool {
    let Some(window) = record.timeline.window(step) else { return false };
    let (mut learnt, mut made_current) = (false, false);
    for RecordedCall { call, .. } in calls_in(record, window) {
        if is_answer_of_driver(call, error_kinds::INVALID_CONTEXT) {
            return true;
        }
        learnt |= finds_no_context(call);
        made_current |= ContextEffect::of(call).switches();
    }
    learnt && !made_current
}

/// Whether a call of the subject in the step failed because the sweep made it fail.
pub(crate) fn was_made_to_fail(record: &CaseRecord<'_>, step: u32) -> bool {
    let window = record.timeline.window(step);
    window.is_some_and(|window| calls_in(record, window).any(|call| call.call.injected))
}

/// Whether the subject took managed memory from the driver in the step.
pub(crate) fn took_managed_memory(record: &CaseRecord<'_>, step: u32) -> bool {
    let is_managed = |call: &Call| match call.function {
        Function::Cuda(function) => memory_class(function) == MemoryClass::Managed,
        _ => false,
    };
    let window = record.timeline.window(step);
    window.is_some_and(|window| {
        let mut calls = calls_in(record, window);
        calls.any(|call| is_managed(call.call) && call.call.result == Some(0))
    })
}

/// Whether memory was asked for in the window, always by code of the host that the subject called.
fn only_host_code_asked(record: &CaseRecord<'_>, window: Range<usize>) -> bool {
    let asks = |call: &RecordedCall<'_>| matches!(Effect::of(call.call), Effect::Take { .. });
    let mut asked = calls_in(record, window).filter(asks).peekable();
    asked.peek().is_some() && asked.all(|call| call.in_host_code)
}

fn first_step(record: &CaseRecord<'_>, wanted: &Calls) -> Option<u32> {
    let label = wanted.since.as_deref()?;
    let mut steps = record.case.steps.iter();
    steps.find(|step| step.label.as_deref() == Some(label)).map(|step| step.index)
}

/// A call that can be expected, with its event.
#[derive(Debug, Clone, Copy)]
struct RecordedCall<'s> {
    event: &'s Event,
    call: &'s Call,
    in_host_code: bool,
}

impl RecordedCall<'_> {
    /// It took memory.
    fn takes(&self) -> bool {
        let taken = matches!(Effect::of(self.call), Effect::Take { start, .. } if start != 0);
        taken && self.call.result == Some(0)
    }

    fn witness(&self, role: &str) -> Witness {
        witness(self.event.seq, role)
    }
}

fn calls_in<'s>(
    record: &'s CaseRecord<'_>,
    window: Range<usize>,
) -> impl Iterator<Item = RecordedCall<'s>> {
    let events = record.observation.events[window.clone()].iter();
    let attributed = events.zip(&record.timeline.attributions[window]);
    attributed.filter_map(|(event, attribution)| {
        let What::Call(call) = &event.what else { return None };
        // The worker itself records the calls of other boundaries, whatever it does around them.
        let counts = match call.function {
            Function::Cuda(_) => attribution.by_subject,
            _ => attribution.in_process,
        };
        let in_host_code = attribution.in_host_code;
        counts.then_some(RecordedCall { event, call, in_host_code })
    })
}

fn mismatches(record: &CaseRecord<'_>, window: Range<usize>, wanted: &Calls) -> Vec<Mismatch> {
    let is_asked = |call: &RecordedCall<'_>| !(wanted.own && call.in_host_code && call.takes());
    let asked: Vec<RecordedCall<'_>> = calls_in(record, window).filter(is_asked).collect();
    let counts = |call: &RecordedCall<'_>| is_one_of(record, &wanted.only, call);
    let calls: Vec<RecordedCall<'_>> = asked.iter().copied().filter(counts).collect();
    let mut mismatches = Vec::new();
    let mut count = |name: &str, limit: u64, phrase: &str, holds: fn(&u64, &u64) -> bool| {
        let found = named(&calls, name);
        if !holds(&(found.len() as u64), &limit) {
            let mismatch = count_mismatch(phrase, &only_phrase(wanted, name), limit, &found);
            mismatches.push(mismatch.or_others(&asked, name));
        }
    };
    wanted.none_of.iter().for_each(|name| count(name, 0, "no call of", u64::eq));
    wanted.count.iter().for_each(|(name, wanted)| count(name, *wanted, "exactly", u64::eq));
    wanted.at_least.iter().for_each(|(name, wanted)| count(name, *wanted, "at least", u64::ge));
    wanted.at_most.iter().for_each(|(name, wanted)| count(name, *wanted, "at most", u64::le));
    mismatches.extend(order_mismatch(&calls, &wanted.in_order));
    let balanced = wanted.balanced.iter();
    mismatches.extend(balanced.filter_map(|(done, undone)| balance_mismatch(&calls, done, undone)));
    let open = wanted.open.iter();
    mismatches.extend(open.filter_map(|(done, undone)| open_mismatch(&calls, done, undone)));
    let kept = wanted.kept.iter();
    mismatches.extend(kept.filter_map(|(name, most)| kept_mismatch(&calls, name, *most)));
    let with = wanted.with.iter();
    mismatches.extend(with.filter_map(|(name, facts)| {
        if named(&calls, name).is_empty() {
            let mismatch = count_mismatch("at least", &only_phrase(wanted, name), 1, &[]);
            return Some(mismatch.or_others(&asked, name));
        }
        fact_mismatch(record, &calls, name, facts)
    }));
    mismatches
}

/// Whether a call is of a function that `only` does not name, or has the facts given there.
fn is_one_of(
    record: &CaseRecord<'_>,
    only: &BTreeMap<String, Wanted>,
    call: &RecordedCall<'_>,
) -> bool {
    only.iter().all(|(name, wanted)| {
        if !NamedFunctions::new(name).contain(call.call.function) {
            return true;
        }
        let facts = facts_of(record, call);
        wanted.iter().all(|(path, one)| predicates::check(record, &facts, path, one).is_none())
    })
}

/// The name of a function, with the facts of those of its calls that count.
fn only_phrase(wanted: &Calls, name: &str) -> String {
    let Some(facts) = wanted.only.get(name) else { return name.to_owned() };
    let facts: Vec<String> = facts.iter().map(|(path, one)| format!("{path} is {one}")).collect();
    format!("{name} where {}", facts.join(" and "))
}

fn count_mismatch(phrase: &str, name: &str, wanted: u64, found: &[&RecordedCall<'_>]) -> Mismatch {
    let expected = match wanted {
        0 => format!("no call of {name}"),
        _ => format!("{phrase} {} of {name}", number_of_calls(wanted)),
    };
    let shown = found.iter().take(WITNESS_LIMIT);
    Mismatch {
        expected,
        observed: number_of_calls(found.len() as u64),
        events: shown.map(|call| call.witness("called here")).collect(),
    }
}

/// The function that undoes another one was not called as often as the other one succeeded.
fn balance_mismatch(calls: &[RecordedCall<'_>], done: &str, undone: &str) -> Option<Mismatch> {
    let (did, undid) = done_and_undone(calls, done, undone);
    let successes = number_of_calls(did.len() as u64);
    let expected = format!("{undone} as often as {done} succeeded: {successes}");
    (did.len() != undid.len()).then(|| pairs_mismatch(expected, &did, &undid))
}

/// The function that undoes another one was called as often as the other one succeeded, or more.
fn open_mismatch(calls: &[RecordedCall<'_>], done: &str, undone: &str) -> Option<Mismatch> {
    let (did, undid) = done_and_undone(calls, done, undone);
    let successes = number_of_calls(did.len() as u64);
    let expected = format!("{undone} less often than {done} succeeded: {successes}");
    (did.len() <= undid.len()).then(|| pairs_mismatch(expected, &did, &undid))
}

/// The calls of a function that succeeded, and the calls of the one that undoes it.
fn done_and_undone<'a, 's>(
    calls: &'a [RecordedCall<'s>],
    done: &str,
    undone: &str,
) -> (Vec<&'a RecordedCall<'s>>, Vec<&'a RecordedCall<'s>>) {
    let succeeded = |call: &&RecordedCall<'_>| call.call.result == Some(0);
    (named(calls, done).into_iter().filter(succeeded).collect(), named(calls, undone))
}

fn pairs_mismatch(
    expected: String,
    did: &[&RecordedCall<'_>],
    undid: &[&RecordedCall<'_>],
) -> Mismatch {
    let shown = did.iter().map(|call| (call, "done here"));
    let shown = shown.chain(undid.iter().map(|call| (call, "undone here")));
    let mut events: Vec<Witness> =
        shown.take(WITNESS_LIMIT).map(|(call, role)| call.witness(role)).collect();
    events.sort_by_key(|witness| witness.seq);
    Mismatch { expected, observed: number_of_calls(undid.len() as u64), events }
}

/// More of the allocations that these calls made are left than may be.
fn kept_mismatch(calls: &[RecordedCall<'_>], name: &str, most: u64) -> Option<Mismatch> {
    let mut named = NamedFunctions::new(name);
    // An allocator may give out the address that it got from the driver.
    let mut kept: BTreeMap<(Boundary, u64), RecordedCall<'_>> = BTreeMap::new();
    for call in calls.iter().filter(|call| call.call.result == Some(0)) {
        let boundary = call.call.function.boundary();
        match Effect::of(call.call) {
            Effect::Take { start, .. } if named.contain(call.call.function) => {
                kept.insert((boundary, start), *call);
            }
            Effect::Give { start, .. } => {
                kept.remove(&(boundary, start));
            }
            _ => {}
        }
    }
    if kept.len() as u64 <= most {
        return None;
    }
    let mut left: Vec<&RecordedCall<'_>> = kept.values().collect();
    left.sort_by_key(|call| call.event.seq);
    let shown = left.iter().take(WITNESS_LIMIT);
    Some(Mismatch {
        expected: format!("at most {most} allocations of {name} are left"),
        observed: format!("{} allocations are left", left.len()),
        events: shown.map(|call| call.witness("taken here")).collect(),
    })
}

/// The first function of a sequence that is not called after its predecessor.
fn order_mismatch(calls: &[RecordedCall<'_>], wanted: &[String]) -> Option<Mismatch> {
    let mut rest = calls;
    let mut in_order: Vec<RecordedCall<'_>> = Vec::new();
    for name in wanted {
        let mut functions = NamedFunctions::new(name);
        let Some(at) = rest.iter().position(|call| functions.contain(call.call.function)) else {
            let observed = match in_order.len().checked_sub(1) {
                Some(last) => format!("no {name} after {}", wanted[last]),
                None => format!("no {name}"),
            };
            let mut events: Vec<Witness> =
                in_order.iter().map(|call| call.witness("in order")).collect();
            events.extend(named(calls, name).first().map(|call| call.witness("called too early")));
            events.sort_by_key(|witness| witness.seq);
            let expected = format!("in this order: {}", wanted.join(", "));
            return Some(Mismatch { expected, observed, events });
        };
        in_order.push(rest[at]);
        rest = &rest[at + 1..];
    }
    None
}

/// The first call of a function with other facts than these.
fn fact_mismatch(
    record: &CaseRecord<'_>,
    calls: &[RecordedCall<'_>],
    name: &str,
    wanted: &Wanted,
) -> Option<Mismatch> {
    named(calls, name).into_iter().find_map(|call| {
        let facts = facts_of(record, call);
        let mismatch =
            wanted.iter().find_map(|(path, one)| predicates::check(record, &facts, path, one))?;
        Some(Mismatch {
            expected: format!("{name} is called with: {}", mismatch.expected),
            observed: mismatch.observed,
            events: vec![call.witness("called here")],
        })
    })
}

/// The arguments of a call: of one into the plugin as the worker reports them; of others as the
/// trace has them, and so those of a call into the plugin after the last step.
fn facts_of(record: &CaseRecord<'_>, call: &RecordedCall<'_>) -> Facts {
    let of_trace = || {
        let arguments = call.call.function.inputs().zip(call.call.args);
        arguments.map(|(name, value)| (name.into(), value.into())).collect()
    };
    let Function::Plugin(_) = call.call.function else { return of_trace() };
    let number = call.call.arg("number");
    let mut facts = record.observation.steps.iter().flat_map(|step| &step.plugin_calls);
    let facts = facts.find(|facts| facts.get("number").and_then(Value::as_u64) == number);
    facts.cloned().unwrap_or_else(of_trace)
}

fn named<'a, 's>(calls: &'a [RecordedCall<'s>], name: &str) -> Vec<&'a RecordedCall<'s>> {
    let mut functions = NamedFunctions::new(name);
    calls.iter().filter(|call| functions.contain(call.call.function)).collect()
}

fn number_of_calls(count: u64) -> String {
    match count {
        1 => "1 call".to_owned(),
        _ => format!("{count} calls"),
    }
}
