//! A sequence of steps that the model allows, with the expected result of each.

use std::collections::BTreeSet;
use std::sync::Arc;

use allocert_requirements::yaml::Spanned;
use allocert_suite::case::Case;
use allocert_suite::interface::emm::Operation;
use allocert_suite::interface::shared::Attach;
use allocert_suite::nouns::{Need, Teardown};
use allocert_suite::plan::PlannedCase;

use crate::demand::RequirementIds;
use crate::model::{Machine, Model, need};
use crate::step::{Step, bound_name, step};

/// A sequence takes milliseconds natively, and a second in Python on a slow machine.
const TIMEOUT_S: u32 = 10;
/// For a sequence of few steps, when nothing else runs.
pub(crate) const SHORT_TIMEOUT_S: u32 = 2;

/// Legal steps with their expectations.
#[derive(Debug, Clone)]
pub struct Sequence {
    pub(crate) machine: Machine,
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
        let steps = self.steps.into_iter();
        let steps = steps.map(|step| Spanned::unwritten(step.map_operation(Into::into)));
        Case {
            case: name.to_owned(),
            about: about.to_owned(),
            operations: None,
            needs,
            axes: Default::default(),
            driver: self.machine.settings(),
            setup: true,
            teardown: self.teardown,
            timeout_s: TIMEOUT_S,
            steps: steps.collect(),
            r#finally: Default::default(),
        }
    }

    pub(crate) fn needs(&self) -> Vec<Need> {
        let mut needs: BTreeSet<Need> =
            self.steps.iter().filter_map(|step| need(&step.r#do)).collect();
        let is_expected = |id: &str| self.steps.iter().any(|step| step.expect.contains_key(id));
        let demanded = self.requirements.with_needs().filter(|(id, _)| is_expected(id));
        needs.extend(demanded.map(|(_, need)| need));
        if self.machine.devices > 1 {
            needs.insert(Need::TwoDevices);
        }
        needs.into_iter().collect()
    }
}

/// A sequence to which steps are added.
#[derive(Debug)]
pub(crate) struct SequenceBuilder {
    model: Model,
    sequence: Sequence,
    next_name: u32,
}

impl SequenceBuilder {
    pub(crate) fn new(
        machine: Machine,
        teardown: Teardown,
        requirements: Arc<RequirementIds>,
    ) -> Self {
        let sequence = Sequence { machine, teardown, steps: Vec::new(), requirements };
        Self { model: Model::new(machine), sequence, next_name: 1 }
    }

    /// The state after the steps so far.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// The number in the next name that a step may bind.
    pub(crate) fn next_name(&self) -> u32 {
        self.next_name
    }

    pub(crate) fn len(&self) -> usize {
        self.sequence.len()
    }

    /// Adds a step with what must come of it, unless it is not legal now.
    pub(crate) fn push(&mut self, mut step: Step) -> bool {
        let Some(expected) = self.model.apply(&step) else { return false };
        step.expect = expected.by_requirement(&self.sequence.requirements);
        self.next_name += u32::from(bound_name(&step).is_some());
        self.sequence.steps.push(step);
        true
    }

    /// Leaves all scopes, as a host does before its last reset, and goes back to device 0.
    pub(crate) fn finish(mut self) -> Sequence {
        if self.sequence.teardown == Teardown::Clean {
            for step in closing_steps(&self.model) {
                self.push(step);
            }
        }
        self.sequence
    }
}

fn closing_steps(model: &Model) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut current = model.current;
    for manager in model.managers.iter().filter(|manager| !manager.destroyed) {
        for scope in manager.scopes.iter().rev() {
            if current != Some(manager.device) {
                steps.push(step(Operation::Attach(Attach { device: manager.device }), "m"));
                current = Some(manager.device);
            }
            let leave = Operation::DeferExit { scope: scope.clone(), raising: false };
            steps.push(step(leave, &manager.name));
        }
    }
    if current != Some(0) {
        steps.push(step(Operation::Attach(Attach { device: 0 }), "m"));
    }
    steps
}
