//! Expectations on driver calls: the subject's own calls within a window.

use std::collections::BTreeMap;
use std::ops::Range;

use allocert_contract::trace::{Event, Function};

use crate::applicability::Reason;
use crate::case::Calls;
use crate::judge::docket::{Docket, witness};
use crate::judge::scene::Scene;
use crate::judge::timeline::call;
use crate::plan::PlannedStep;
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
    scene: &Scene<'_>,
    docket: &mut Docket<'_>,
    requirement: &str,
    step: &PlannedStep,
    wanted: &Calls,
) {
    let first = first_step(scene, wanted).unwrap_or(step.index);
    let Some(window) = scene.timeline.between(first, step.index) else {
        return docket.not_observed(Reason::NoMarks { step: step.index });
    };
    for Complaint { expected, observed, events } in complaints(scene, window, wanted) {
        docket.find(requirement, step, expected, observed, events);
    }
}

/// Judges the whole case, or from the labelled step to its end.
pub(crate) fn judge_case(scene: &Scene<'_>, docket: &mut Docket<'_>, requirement: &str, wanted: &Calls) {
    docket.checked(requirement);
    let end = scene.observation.events.len();
    let window = match first_step(scene, wanted) {
        Some(first) => match scene.timeline.window(first) {
            Some(window) => window.start..end,
            None => return docket.not_observed(Reason::NoMarks { step: first }),
        },
        None => 0..end,
    };
    for Complaint { expected, observed, events } in complaints(scene, window, wanted) {
        docket.find_at_end(requirement, expected, observed, events);
    }
}

/// The last calls of the subject in a step, to show beside an error.
pub(crate) fn witnesses_of(scene: &Scene<'_>, step: u32) -> Vec<Witness> {
    let Some(window) = scene.timeline.window(step) else { return Vec::new() };
    let calls: Vec<&Event> = subject_calls(scene, window).map(|(event, _)| event).collect();
    let from = calls.len().saturating_sub(3);
    calls[from..].iter().map(|event| witness(event.seq, "called in this step")).collect()
}

fn first_step(scene: &Scene<'_>, wanted: &Calls) -> Option<u32> {
    let label = wanted.since.as_deref()?;
    scene.case.steps.iter().find(|step| step.label.as_deref() == Some(label)).map(|step| step.index)
}

fn subject_calls<'s>(scene: &'s Scene<'_>, window: Range<usize>) -> impl Iterator<Item = (&'s Event, Function)> {
    let events = scene.observation.events[window.clone()].iter().zip(&scene.timeline.moments[window]);
    events.filter(|(_, moment)| moment.subject).filter_map(|(event, _)| Some((event, call(event)?.function)))
}

fn complaints(scene: &Scene<'_>, window: Range<usize>, wanted: &Calls) -> Vec<Complaint> {
    let calls: Vec<(&Event, Function)> = subject_calls(scene, window).collect();
    let zero: BTreeMap<String, u64> = wanted.none_of.iter().map(|name| (name.clone(), 0)).collect();
    let mut complaints = Vec::new();
    for (counts, phrase, holds) in [
        (&zero, "no call of", u64::eq as fn(&u64, &u64) -> bool),
        (&wanted.count, "exactly", u64::eq),
        (&wanted.at_least, "at least", u64::ge),
        (&wanted.at_most, "at most", u64::le),
    ] {
        for (name, wanted) in counts {
            let found = of_function(&calls, name);
            if !holds(&(found.len() as u64), wanted) {
                complaints.push(miscounted(phrase, name, *wanted, &found));
            }
        }
    }
    complaints.extend(disorder(&calls, &wanted.in_order));
    complaints
}

fn miscounted(phrase: &str, name: &str, wanted: u64, found: &[&Event]) -> Complaint {
    let expected = match wanted {
        0 => format!("no call of {name}"),
        _ => format!("{phrase} {} of {name}", times(wanted)),
    };
    let events = found.iter().take(WITNESS_LIMIT).map(|event| witness(event.seq, "called here")).collect();
    Complaint { expected, observed: times(found.len() as u64), events }
}

/// The first function of a sequence that does not follow its predecessor.
fn disorder(calls: &[(&Event, Function)], wanted: &[String]) -> Option<Complaint> {
    let mut rest = calls;
    let mut met: Vec<&Event> = Vec::new();
    for name in wanted {
        let functions = named(name);
        let Some(at) = rest.iter().position(|(_, function)| functions.contains(function)) else {
            let observed = match met.last() {
                Some(_) => format!("no {name} after {}", wanted[met.len() - 1]),
                None => format!("no {name}"),
            };
            let mut events: Vec<Witness> = met.iter().map(|event| witness(event.seq, "in order")).collect();
            let early = of_function(calls, name);
            events.extend(early.first().map(|event| witness(event.seq, "called too early")));
            events.sort_by_key(|witness| witness.seq);
            return Some(Complaint { expected: format!("in this order: {}", wanted.join(", ")), observed, events });
        };
        met.push(rest[at].0);
        rest = &rest[at + 1..];
    }
    None
}

fn of_function<'e>(calls: &[(&'e Event, Function)], name: &str) -> Vec<&'e Event> {
    let functions = named(name);
    calls.iter().filter(|(_, function)| functions.contains(function)).map(|(event, _)| *event).collect()
}

/// The functions that a name stands for: one version, or all of them when it names none.
fn named(name: &str) -> Vec<Function> {
    Function::all().filter(|function| function.name() == name || function.base_name() == name).collect()
}

fn times(count: u64) -> String {
    match count {
        1 => "1 call".to_owned(),
        _ => format!("{count} calls"),
    }
}
