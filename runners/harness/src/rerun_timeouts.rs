//! Runs cases that timed out beside others once more alone, before anybody is blamed.

use allocert_contract::trace::{Function, What};
use allocert_suite::interface::interface;
use allocert_suite::observation::{Ending, Observation};
use allocert_suite::plan::PlannedCase;

use crate::error::Error;
use crate::ring::is_open;
use crate::run_output::RunOutput;
use crate::timeouts::{LIMIT, is_stopped};
use crate::warning::Warning;

/// Runs each case that timed out again with `run_alone`, and replaces its observation. On a machine
/// that is busy with other cases, or on a driver that makes one context at a time, a timeout is
/// nobody's fault. After as many in a row that time out alone too as end a run, the rest is not
/// tried again: they time out for a reason of their own. So do cases in which a call of a function
/// has not returned that did not return alone either, where calls have a limit of their own.
pub(crate) fn rerun_timed_out(
    cases: &[&PlannedCase],
    output: &mut RunOutput,
    mut run_alone: impl FnMut(&PlannedCase) -> Result<RunOutput, Error>,
) -> Result<(), Error> {
    let mut only_in_parallel = Vec::new();
    let mut in_a_row = 0;
    let mut hang_alone = Vec::new();
    let all = cases.iter().zip(&mut output.observations);
    for (case, observation) in all.filter(|(_, observation)| observation.ending.timed_out()) {
        if in_a_row == LIMIT {
            break;
        }
        if hung_function(case, observation).is_some_and(|hangs| hang_alone.contains(&hangs)) {
            continue;
        }
        let Some(again) = run_alone(case)?.observations.into_iter().next() else { continue };
        if let Ending::OutOfTime { .. } = again.ending {
            // There is no time to find out whether it ends alone.
        } else if again.ending.timed_out() {
            in_a_row += 1;
            hang_alone.extend(hung_function(case, &again));
        } else {
            in_a_row = 0;
            only_in_parallel.push(case.id.clone());
        }
        *observation = again;
    }
    if !only_in_parallel.is_empty() {
        output.warnings.push(Warning::TimedOutInParallel { cases: only_in_parallel });
    }
    Ok(())
}

/// Runs each case with `run_alone` that was not run because others had timed out.
pub(crate) fn run_stopped(
    cases: &[&PlannedCase],
    output: &mut RunOutput,
    mut run_alone: impl FnMut(&PlannedCase) -> Result<RunOutput, Error>,
) -> Result<(), Error> {
    let all = cases.iter().zip(&mut output.observations);
    for (case, observation) in all.filter(|(_, observation)| is_stopped(observation)) {
        if let Some(again) = run_alone(case)?.observations.into_iter().next() {
            *observation = again;
        }
    }
    Ok(())
}

/// The function of the first call that has not returned, where calls have a limit of their own.
fn hung_function(case: &PlannedCase, observation: &Observation) -> Option<Function> {
    interface(case.operations)?.facts.longest_call_s?;
    observation.events.iter().filter(|event| is_open(event)).find_map(|event| match &event.what {
        What::Call(call) => Some(call.function),
        _ => None,
    })
}
