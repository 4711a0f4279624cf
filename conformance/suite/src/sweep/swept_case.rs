//! Makes the steps of a swept case: those of the clean case, the fault and the probe.

use crate::interface::Operation;
use crate::interface::fault_sweep::{EarlierStep, InjectedError, InjectedFault};
use crate::plan::{Part, PlannedCase, PlannedStep};
use crate::sweep::CleanRun;
use crate::sweep::fault_site::FaultSite;

/// The case of a clean run with one call failing.
pub(crate) fn swept_case(
    run: &CleanRun<'_>,
    site: &FaultSite,
    error: &InjectedError,
    id: String,
) -> PlannedCase {
    let CleanRun { case: clean, observation, demands, sweep } = run;
    let before: Vec<EarlierStep<'_>> = clean.steps.iter().map(earlier).collect();
    let mut steps: Vec<PlannedStep> = clean.steps.clone();
    let end = probe_at(clean, site);
    let memory_is_limited = clean.driver.memory_bytes.is_some();
    for (index, (step, outcome)) in steps.iter_mut().zip(&observation.steps).enumerate() {
        step.expect = demands.expectations(match index < end {
            true => sweep.of_step(&before[..index], &step.r#do, &outcome.outcome),
            false => sweep.of_teardown(&step.r#do, &outcome.outcome),
        });
        if index < end && !memory_is_limited {
            // Where memory is limited, a failed call may lead to a lack of it.
            let names = sweep.names_failure(&step.r#do, &outcome.outcome, error);
            step.expect.extend(demands.expectations(names));
        }
    }
    let line = line(&clean.steps, end);
    let probe = sweep.probe(&before[..end], memory_is_limited).into_iter().map(|one| PlannedStep {
        expect: demands.expectations(one.demanded),
        ..step(one.operation, &one.on, line, Part::Teardown)
    });
    steps.splice(end..end, probe);
    let faulty = &clean.steps[site.step];
    let FaultSite { function, nth, .. } = *site;
    let fault = sweep.fault(InjectedFault { function, nth, error: *error });
    steps.insert(site.step, step(fault, &faulty.on, faulty.line, faulty.part));
    for (index, step) in (0..).zip(&mut steps) {
        step.index = index;
    }
    PlannedCase { id, steps, r#finally: Default::default(), ..(*clean).clone() }
}

fn earlier(step: &PlannedStep) -> EarlierStep<'_> {
    EarlierStep {
        operation: &step.r#do,
        on: &step.on,
        on_main_thread: step.thread.is_none(),
        in_teardown: step.part == Part::Teardown,
    }
}

/// Before the teardown; right after the faulty step where that is part of it.
fn probe_at(clean: &PlannedCase, site: &FaultSite) -> usize {
    if clean.steps[site.step].part == Part::Teardown {
        return site.step + 1;
    }
    clean.steps.iter().position(|step| step.part == Part::Teardown).unwrap_or(clean.steps.len())
}

fn line(steps: &[PlannedStep], at: usize) -> usize {
    steps.get(at).or(steps.last()).map_or(1, |step| step.line)
}

fn step(operation: Operation, on: &str, line: usize, part: Part) -> PlannedStep {
    PlannedStep {
        index: 0,
        r#do: operation,
        on: on.into(),
        thread: None,
        label: None,
        expect: Default::default(),
        part,
        line,
    }
}
