//! The steps of a swept case: those of the clean one, the fault, the probe.

use crate::nouns::{DriverSettings, Name};
use crate::operation::Operation;
use crate::plan::{Part, PlannedCase, PlannedStep};
use crate::sweep::CleanRun;
use crate::sweep::demands::{Demands, PROBE_BYTE};
use crate::sweep::fault_site::FaultSite;
use crate::sweep::injected_error::InjectedError;

/// No fixture can bind it.
const PROBE: Name = Name::new_static("!probe");
/// What a fixture's first page of memory would be.
const PROBE_BYTES: i128 = 4096;

/// The case of a clean run with one call failing.
pub(crate) fn swept_case(
    run: &CleanRun<'_>,
    site: &FaultSite,
    error: &InjectedError,
    id: String,
) -> PlannedCase {
    let CleanRun { case: clean, observation, demands } = run;
    let mut steps: Vec<PlannedStep> = clean.steps.clone();
    let end = probe_at(clean, site);
    for (index, (step, outcome)) in steps.iter_mut().zip(&observation.steps).enumerate() {
        step.expect = match index < end {
            true => demands.of_step(&clean.steps[..index], &step.r#do, &outcome.outcome),
            false => demands.of_rest(&step.r#do, &outcome.outcome),
        };
    }
    let probe = probe(demands, &clean.steps[..end], &clean.driver, line(&clean.steps, end));
    steps.splice(end..end, probe);
    let faulty = &clean.steps[site.step];
    let operation = Operation::Fault {
        call: site.function.name().to_owned(),
        nth: site.nth,
        count: 1,
        error: error.code,
    };
    steps.insert(site.step, step(operation, &faulty.on, faulty.line, faulty.part));
    for (index, step) in (0..).zip(&mut steps) {
        step.index = index;
    }
    PlannedCase { id, steps, r#finally: Default::default(), ..(*clean).clone() }
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

/// What stands when the probe begins.
#[derive(Default)]
struct Standing<'a> {
    managers: Vec<(&'a str, u32)>,
    attached: Option<u32>,
}

impl<'a> Standing<'a> {
    fn after(steps: &'a [PlannedStep]) -> Self {
        let mut standing = Self::default();
        for step in steps {
            match &step.r#do {
                Operation::Create { r#as, device } => standing.managers.push((r#as, *device)),
                Operation::Destroy {} => standing.managers.retain(|(name, _)| *name != step.on),
                // Another thread's context is gone with it.
                Operation::Attach { device } if step.thread.is_none() => {
                    standing.attached = Some(*device)
                }
                Operation::Detach {} if step.thread.is_none() => standing.attached = None,
                _ => {}
            }
        }
        standing
    }
}

/// The steps that ask the first living manager for memory and use it. No manager, no question.
fn probe(
    demands: &Demands<'_>,
    before: &[PlannedStep],
    driver: &DriverSettings,
    line: usize,
) -> Vec<PlannedStep> {
    let clear = step(Operation::ClearFaults {}, "m", line, Part::Teardown);
    let standing = Standing::after(before);
    let Some((manager, device)) = standing.managers.first().copied() else { return vec![clear] };
    let mut steps = vec![clear];
    let mut add = |operation: Operation| {
        let mut step = step(operation, manager, line, Part::Teardown);
        step.expect = demands.of_probe(&step.r#do, driver.memory_bytes.is_some());
        steps.push(step);
    };
    let elsewhere = standing.attached != Some(device);
    if elsewhere {
        add(Operation::Attach { device });
    }
    add(Operation::Memalloc { size: PROBE_BYTES, r#as: PROBE });
    add(Operation::Fill { memory: PROBE, byte: PROBE_BYTE, offset: 0, size: None });
    add(Operation::Read { memory: PROBE, offset: 0, size: None, device: false });
    add(Operation::Drop { name: PROBE });
    if before
        .last()
        .is_some_and(|last| last.part == Part::Teardown && last.r#do == Operation::Reset {})
    {
        // The last reset of the teardown is over; what it could not do, and what the probe took, is
        // this one's.
        add(Operation::Reset {});
    }
    if elsewhere {
        add(standing.attached.map_or(Operation::Detach {}, |device| Operation::Attach { device }));
    }
    steps
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
