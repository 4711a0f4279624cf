//! Checks that just those calls of the driver failed that the case makes fail. The subject can call
//! the functions by which a worker sets and clears faults.

use allocert_contract::trace::{Boundary, Call, Function, cuda};

use crate::judge::timeline::Timeline;
use crate::observation::{Observation, Outcome};
use crate::plan::{PlannedCase, PlannedStep};

const WHO_CAN_DO_THIS: &str =
    "only a subject that calls the driver's own functions for faults brings that about";

/// As the driver counts: from the end of the step that set it. The judge counts for itself, because
/// it shares nothing with the driver that it judges the record of.
struct Rule {
    function: cuda::Function,
    /// Calls that still succeed.
    before: u64,
    /// Calls that fail after those.
    count: u64,
}

/// The first call of the driver that failed without a fault of the case, or did not fail in spite
/// of one. A trace with gaps is not looked at.
pub(crate) fn contradiction(
    case: &PlannedCase,
    observation: &Observation,
    timeline: &Timeline,
) -> Option<String> {
    if observation.events_lost > 0 || timeline.process.is_none() {
        return None;
    }
    let mut changes = changes(case, observation, timeline).into_iter().peekable();
    let mut rules: Vec<Rule> = Vec::new();
    for (index, event) in observation.events.iter().enumerate() {
        while let Some((_, rule)) = changes.next_if(|(at, _)| *at <= index) {
            match rule {
                Some(rule) => rules.push(rule),
                None => rules.clear(),
            }
        }
        let own = timeline.attributions.get(index).is_some_and(|one| one.in_process);
        let Some(call) = event.call().filter(|call| own && is_of_driver(call)) else { continue };
        let due = count(&mut rules, call.function);
        if call.result.is_some() && due != call.injected {
            let what = match due {
                true => "does not fail, although the case makes it fail",
                false => "was made to fail, and not by the case",
            };
            let name = call.function.name();
            return Some(format!("{name} (event #{}) {what}; {WHO_CAN_DO_THIS}", event.seq));
        }
    }
    None
}

/// The faults that steps set, and where they cleared all, by the index of the first event after it.
fn changes(
    case: &PlannedCase,
    observation: &Observation,
    timeline: &Timeline,
) -> Vec<(usize, Option<Rule>)> {
    let returned =
        observation.steps.iter().filter(|one| matches!(one.outcome, Outcome::Returned(_)));
    let steps = returned.filter_map(|one| case.steps.get(one.index as usize));
    let change = |step: &PlannedStep| {
        let properties = step.r#do.properties();
        let window = timeline.window(step.index)?;
        match properties.driver_fault {
            Some(fault) => {
                let before = fault.nth.saturating_sub(1);
                let function = implemented(fault.function)?;
                Some((window.end, Some(Rule { function, before, count: fault.count })))
            }
            None => properties.clears_driver_faults.then_some((window.end, None)),
        }
    };
    steps.filter_map(change).collect()
}

/// The function that a worker means by the name of a symbol, or by the name that all versions of a
/// function share.
fn implemented(name: &str) -> Option<cuda::Function> {
    let of_name = |name: &str| cuda::Function::by_name(name).filter(|one| one.implemented());
    of_name(name).or_else(|| of_name(&format!("{name}_v2")))
}

/// Whether the driver makes this call fail. Counts it in every rule.
fn count(rules: &mut [Rule], function: Function) -> bool {
    let mut due = false;
    for rule in rules.iter_mut().filter(|rule| function == rule.function) {
        if rule.before > 0 {
            rule.before -= 1;
        } else if rule.count > 0 {
            rule.count -= 1;
            due = true;
        }
    }
    due
}

fn is_of_driver(call: &Call) -> bool {
    call.function.boundary() == Boundary::Cuda
}
