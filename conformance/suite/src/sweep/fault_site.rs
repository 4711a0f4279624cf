//! Where a fault can be put: calls of a clean run that the subject made.

use std::collections::HashMap;

use allocert_contract::trace::Function;
use allocert_requirements::Side;

use crate::interface::fault_sweep::FaultSweep;
use crate::judge::timeline::Timeline;
use crate::observation::Observation;
use crate::reason::SWEPT_REPEATS;

/// One call that the subject made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FaultSite {
    pub(crate) step: usize,
    pub(crate) function: Function,
    /// Among all calls of the function in the step, those of the harness too: what a `fault` right
    /// before the step counts.
    pub(crate) nth: u64,
    /// Among the subject's calls of the function in the step, from 1.
    pub(crate) in_step: u64,
    /// No call of the function by the subject in the step follows.
    pub(crate) last: bool,
    /// Among the subject's calls of the function in the case, from 1.
    pub(crate) in_case: u64,
    /// It puts a context back where it was.
    pub(crate) restores: bool,
}

impl FaultSite {
    /// In the middle of a loop.
    pub(crate) fn repeats(&self) -> bool {
        self.in_step > SWEPT_REPEATS && !self.last
    }
}

/// The calls in order, without those outside of steps, such as at the exit of the process: a
/// `fault` belongs to a step.
pub(crate) fn fault_sites(
    observation: &Observation,
    side: Side,
    sweep: &dyn FaultSweep,
) -> Vec<FaultSite> {
    let timeline = Timeline::new(observation, side);
    let mut sites = Vec::new();
    let mut counts = Counts::default();
    for (event, attribution) in observation.events.iter().zip(&timeline.attributions) {
        let (Some(call), Some(step), true) =
            (event.call(), attribution.step, attribution.in_process)
        else {
            continue;
        };
        let function = call.function;
        let nth = counts.all(step, function);
        if !attribution.by_subject || !sweep.sweeps(function) {
            continue;
        }
        let before = timeline.window(step).and_then(|window| observation.events.get(window.start));
        sites.push(FaultSite {
            step: step as usize,
            function,
            nth,
            in_step: counts.in_step(step, function),
            last: false,
            in_case: counts.in_case(function),
            restores: sweep.restores_context(call, before.map_or(0, |event| event.context)),
        });
    }
    for site in &mut sites {
        site.last = site.in_step == counts.in_step[&(site.step as u32, site.function)];
    }
    sites
}

/// How often each function was called.
#[derive(Default)]
struct Counts {
    all: HashMap<(u32, Function), u64>,
    in_step: HashMap<(u32, Function), u64>,
    in_case: HashMap<Function, u64>,
}

impl Counts {
    fn all(&mut self, step: u32, function: Function) -> u64 {
        add(self.all.entry((step, function)).or_default())
    }

    fn in_step(&mut self, step: u32, function: Function) -> u64 {
        add(self.in_step.entry((step, function)).or_default())
    }

    fn in_case(&mut self, function: Function) -> u64 {
        add(self.in_case.entry(function).or_default())
    }
}

fn add(count: &mut u64) -> u64 {
    *count += 1;
    *count
}
