//! A sequence of steps that the model allows, with the expected result of each.

use std::collections::BTreeSet;
use std::sync::Arc;

use allocert_requirements::yaml::Spanned;
use allocert_suite::fixture_format::Case;
use allocert_suite::nouns::{Need, Teardown};
use allocert_suite::plan::PlannedCase;

use crate::demand::RequirementIds;
use crate::model::{DrawSource, Machine, Model, SideModel};
use crate::random_numbers::Random;
use crate::step::{Step, bound_name};

/// A sequence takes milliseconds natively, and a second in Python on a slow machine.
const TIMEOUT_S: u32 = 10;
/// For a sequence of few steps, when nothing else runs.
pub(crate) const SHORT_TIMEOUT_S: u32 = 2;

/// Legal steps with their expectations.
#[derive(Debug, Clone)]
pub struct Sequence {
    pub(crate) side: &'static SideModel,
    pub(crate) machine: Option<Machine>,
    pub(crate) teardown: Teardown,
    pub(crate) steps: Vec<Step>,
    pub(crate) requirements: Arc<RequirementIds>,
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

    /// The number of its steps, those that close scopes at its end included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub(crate) fn into_case(self, name: &str, about: &str) -> Case {
        let needs = self.needs();
        let steps = self.steps.into_iter().map(Spanned::unwritten);
        Case {
            case: name.to_owned(),
            about: about.to_owned(),
            operations: None,
            needs,
            axes: Default::default(),
            driver: self.machine.map(Machine::settings).unwrap_or_default(),
            setup: true,
            teardown: self.teardown,
            timeout_s: TIMEOUT_S,
            steps: steps.collect(),
            r#finally: Default::default(),
        }
    }

    pub(crate) fn needs(&self) -> Vec<Need> {
        let mut needs: BTreeSet<Need> =
            self.steps.iter().filter_map(|step| (self.side.need)(&step.r#do)).collect();
        let is_expected = |id: &str| self.steps.iter().any(|step| step.expect.contains_key(id));
        let demanded = self.requirements.with_needs().filter(|(id, _)| is_expected(id));
        needs.extend(demanded.map(|(_, need)| need));
        if self.machine.is_some_and(|machine| machine.devices > 1) {
            needs.insert(Need::TwoDevices);
        }
        needs.into_iter().collect()
    }
}

/// A sequence to which steps are added.
#[derive(Debug)]
pub(crate) struct SequenceBuilder {
    model: Box<dyn Model>,
    sequence: Sequence,
    next_name: u32,
}

impl SequenceBuilder {
    pub(crate) fn new(
        side: &'static SideModel,
        machine: Option<Machine>,
        teardown: Teardown,
        requirements: Arc<RequirementIds>,
    ) -> Self {
        let sequence = Sequence { side, machine, teardown, steps: Vec::new(), requirements };
        Self { model: (side.start)(machine), sequence, next_name: 1 }
    }

    /// Some step that may come next.
    pub(crate) fn draw(
        &self,
        random: &mut Random,
        offer: &BTreeSet<Need>,
        varied: bool,
    ) -> Option<Step> {
        let next_name = self.next_name;
        self.model.draw(&mut DrawSource { random, offer, varied, next_name })
    }

    pub(crate) fn len(&self) -> usize {
        self.sequence.len()
    }

    /// Adds a step with what must come of it, unless it is not legal now.
    pub(crate) fn push(&mut self, mut step: Step) -> bool {
        let Some(expect) = self.model.apply(&step, &self.sequence.requirements) else {
            return false;
        };
        step.expect = expect;
        self.next_name += u32::from(bound_name(&step).is_some());
        self.sequence.steps.push(step);
        true
    }

    /// Ends as a host does, with what must come before its end.
    pub(crate) fn finish(mut self) -> Sequence {
        if self.sequence.teardown == Teardown::Clean {
            for step in self.model.closing_steps() {
                self.push(step);
            }
        }
        self.sequence
    }
}
