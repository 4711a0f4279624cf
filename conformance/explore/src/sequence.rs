//! A sequence of steps that the model allows, with what it expects of each.

use std::collections::BTreeSet;

use allocert_requirements::yaml::Spanned;
use allocert_suite::case::{Case, Step};
use allocert_suite::nouns::{Need, Teardown, Thread};
use allocert_suite::operation::Operation;
use allocert_suite::plan::PlannedCase;

use crate::draw::{self, Hand};
use crate::model::{Machine, Model, need};
use crate::random::Random;

/// Steps of one sequence: long enough to wear a manager out, short enough to be judged as one case.
pub const LENGTH: u64 = 400;
/// Every so many sequences one ends as a program ends, with everything alive, and the next ones
/// have a process of their own. More in one process save little and fill the caches.
const EXITS: u64 = 8;
/// So long a step that does nothing legal is looked for.
const TRIES: usize = 10_000;
/// A sequence takes milliseconds natively, and a second in Python on a slow machine.
const TIMEOUT_S: u32 = 10;
/// A few steps on an idle process.
pub(crate) const SHORT_TIMEOUT_S: u32 = 2;

/// What a run explores: all of it follows from these numbers.
#[derive(Debug, Clone)]
pub struct Exploration {
    pub seed: u64,
    /// Steps altogether.
    pub ops: u64,
    /// What the subject offers: `host_memory`, `memory_info`, `ipc`, `two_devices`.
    pub offer: BTreeSet<Need>,
}

/// Legal steps with their expectations.
#[derive(Debug, Clone)]
pub struct Sequence {
    pub(crate) machine: Machine,
    pub(crate) teardown: Teardown,
    pub(crate) steps: Vec<Step>,
}

impl Exploration {
    /// How many sequences it takes.
    #[must_use]
    pub fn sequences(&self) -> u64 {
        self.ops.div_ceil(LENGTH)
    }

    /// The steps of one sequence: the same for the same seed and offer, on any machine and beside
    /// any others.
    #[must_use]
    pub fn sequence(&self, number: u64) -> Sequence {
        let mut random = Random::new(self.seed, number);
        let length = LENGTH.min(self.ops.saturating_sub(number.saturating_mul(LENGTH)));
        let teardown = if number % EXITS == EXITS - 1 { Teardown::Exit } else { Teardown::Clean };
        // With several managers on a device less can be said of what must be served.
        let plural = number % 2 == 1;
        let mut script = Script::new(self.machine(number), teardown);
        while (script.steps.len() as u64) < length {
            let drawn = (0..TRIES).any(|_| {
                let next_name = script.next_name;
                let mut hand = Hand {
                    random: &mut random,
                    model: &script.model,
                    offer: &self.offer,
                    plural,
                    next_name,
                };
                let step = draw::step_of(&mut hand);
                step.is_some_and(|step| script.push(step))
            });
            if !drawn {
                break;
            }
        }
        script.finish()
    }

    /// Neighbours share a machine, because a process has one.
    fn machine(&self, number: u64) -> Machine {
        let two = self.offer.contains(&Need::TwoDevices);
        match (number / EXITS) % 4 {
            1 if two => Machine { devices: 2, memory_bytes: 128 << 20 },
            2 => Machine { devices: 1, memory_bytes: 64 << 20 },
            _ => Machine { devices: 1, memory_bytes: 256 << 20 },
        }
    }

    /// Sequences that one process may perform: a few at first, so that what is broken everywhere is
    /// found at once.
    #[must_use]
    pub fn chunks(&self) -> Vec<std::ops::Range<u64>> {
        let (mut chunks, mut start) = (Vec::new(), 0);
        while start < self.sequences() {
            // Never beyond a multiple of EXITS, where the machine may change.
            let longest = EXITS - start % EXITS;
            let end = (start + (start + 1).min(longest)).min(self.sequences());
            chunks.push(start..end);
            start = end;
        }
        chunks
    }
}

impl Exploration {
    /// The sequences that ran before this one in its process, and itself.
    #[must_use]
    pub fn company(&self, number: u64) -> std::ops::RangeInclusive<u64> {
        let chunk = self.chunks().into_iter().find(|chunk| chunk.contains(&number));
        chunk.map_or(number, |chunk| chunk.start)..=number
    }
}

impl Sequence {
    /// The case that performs it.
    #[must_use]
    pub fn planned(&self, name: &str, about: &str) -> PlannedCase {
        self.clone().into_planned(name, about)
    }

    /// The case that performs it, with its steps.
    #[must_use]
    pub fn into_planned(self, name: &str, about: &str) -> PlannedCase {
        let timeout_s = if self.steps.len() < 64 { SHORT_TIMEOUT_S } else { TIMEOUT_S };
        PlannedCase { timeout_s, ..PlannedCase::from(self.into_case(name, about)) }
    }

    /// The steps that it was drawn with; those that close scopes at its end are no operations of
    /// their own.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub(crate) fn into_case(self, name: &str, about: &str) -> Case {
        Case {
            case: name.to_owned(),
            about: about.to_owned(),
            operations: None,
            needs: self.needs(),
            axes: Default::default(),
            driver: self.machine.settings(),
            setup: true,
            teardown: self.teardown,
            timeout_s: TIMEOUT_S,
            steps: self.steps.into_iter().map(Spanned::unwritten).collect(),
            r#finally: Default::default(),
        }
    }

    pub(crate) fn needs(&self) -> Vec<Need> {
        let mut needs: BTreeSet<Need> =
            self.steps.iter().filter_map(|step| need(&step.r#do)).collect();
        if self.machine.devices > 1 {
            needs.insert(Need::TwoDevices);
        }
        needs.into_iter().collect()
    }
}

/// A sequence that is being written.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) model: Model,
    steps: Vec<Step>,
    teardown: Teardown,
    next_name: u32,
}

impl Script {
    pub(crate) fn new(machine: Machine, teardown: Teardown) -> Self {
        Self {
            model: Model::new(machine),
            steps: Vec::with_capacity(LENGTH as usize),
            teardown,
            next_name: 1,
        }
    }

    /// Adds a step with what must come of it, unless it is not legal now.
    pub(crate) fn push(&mut self, mut step: Step) -> bool {
        let Some(expect) = self.model.play(&step) else { return false };
        step.expect = expect;
        self.next_name += u32::from(step.r#do.binds().is_some());
        self.steps.push(step);
        true
    }

    /// Leaves all scopes, which a host does before it resets for good, and goes back to device 0.
    pub(crate) fn finish(mut self) -> Sequence {
        if self.teardown == Teardown::Clean {
            for step in closing(&self.model) {
                self.push(step);
            }
        }
        Sequence { machine: self.model.machine, teardown: self.teardown, steps: self.steps }
    }
}

fn closing(model: &Model) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut current = model.current;
    for manager in model.managers.iter().filter(|manager| !manager.gone) {
        for scope in manager.scopes.iter().rev() {
            if current != Some(manager.device) {
                steps.push(step(Operation::Attach { device: manager.device }, "m"));
                current = Some(manager.device);
            }
            steps.push(step(
                Operation::DeferExit { scope: scope.clone(), raising: false },
                &manager.name,
            ));
        }
    }
    if current != Some(0) {
        steps.push(step(Operation::Attach { device: 0 }, "m"));
    }
    steps
}

/// A step without expectations.
pub(crate) fn step(operation: Operation, on: &str) -> Step {
    Step { r#do: operation, on: on.into(), thread: None, label: None, expect: Default::default() }
}

pub(crate) fn on_fresh_thread(step: Step) -> Step {
    Step { thread: Some(Thread::Fresh), ..step }
}
