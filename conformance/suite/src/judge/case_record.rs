//! What the judge looks at: the case, its outcomes by step, its timeline and its names.

use std::collections::HashMap;

use allocert_requirements::{Catalogue, Side};
use serde_json::Value;

use crate::judge::timeline::Timeline;
use crate::judge::{fault_record, markers};
use crate::observation::{Ending, Facts, Observation, Outcome};
use crate::plan::PlannedCase;

pub(crate) struct CaseRecord<'a> {
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) side: Side,
    pub(crate) case: &'a PlannedCase,
    pub(crate) observation: &'a Observation,
    pub(crate) timeline: Timeline,
    /// By step index; nothing for a step that reported no outcome.
    pub(crate) outcomes: Vec<Option<&'a Outcome>>,
    /// The first contradiction in the record.
    pub(crate) contradiction: Option<String>,
    /// The step that binds each name.
    binding_steps: HashMap<&'a str, usize>,
}

impl<'a> CaseRecord<'a> {
    pub(crate) fn new(
        catalogue: &'a Catalogue,
        case: &'a PlannedCase,
        observation: &'a Observation,
    ) -> Self {
        let (outcomes, contradiction) = outcomes_by_step(case, observation);
        let contradiction = contradiction.or_else(|| wrong_count(observation));
        let binding_steps = case.steps.iter().enumerate();
        let timeline = Timeline::new(observation, case.side);
        let contradiction =
            contradiction.or_else(|| markers::contradiction(observation, timeline.process));
        let contradiction =
            contradiction.or_else(|| fault_record::contradiction(case, observation, &timeline));
        Self {
            catalogue,
            side: case.side,
            case,
            observation,
            timeline,
            outcomes,
            contradiction,
            binding_steps: binding_steps
                .filter_map(|(index, step)| Some((step.r#do.bound_name()?, index)))
                .collect(),
        }
    }

    pub(crate) fn outcome(&self, step: usize) -> Option<&'a Outcome> {
        self.outcomes.get(step).copied().flatten()
    }

    /// The facts of all steps that returned.
    pub(crate) fn all_facts(&self) -> impl Iterator<Item = &'a Facts> {
        self.outcomes.iter().flatten().filter_map(|outcome| match outcome {
            Outcome::Returned(facts) => Some(facts),
            _ => None,
        })
    }

    /// The facts of the step that bound a name, if it returned.
    pub(crate) fn facts(&self, name: &str) -> Option<&'a Facts> {
        match self.outcome(*self.binding_steps.get(name)?)? {
            Outcome::Returned(facts) => Some(facts),
            _ => None,
        }
    }

    /// One fact by `name.path`.
    pub(crate) fn fact(&self, reference: &str) -> Option<&'a Value> {
        let (name, path) = reference.split_once('.')?;
        lookup(self.facts(name)?, path)
    }

    /// Whether all steps were performed and the process did not fail.
    pub(crate) fn finished(&self) -> bool {
        self.observation.done && self.observation.ending == Ending::Done
    }
}

/// A fact by its dotted path, which names the items of a list by their index.
pub(crate) fn lookup<'a>(facts: &'a Facts, path: &str) -> Option<&'a Value> {
    if let Some(value) = facts.get(path) {
        return Some(value);
    }
    let mut parts = path.split('.');
    let first = facts.get(parts.next()?)?;
    parts.try_fold(first, |value, part| match value {
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => value.get(part),
    })
}

/// Outcomes by step, and the first thing in the lines that a worker cannot have written.
fn outcomes_by_step<'a>(
    case: &PlannedCase,
    observation: &'a Observation,
) -> (Vec<Option<&'a Outcome>>, Option<String>) {
    let mut outcomes: Vec<Option<&Outcome>> = vec![None; case.steps.len()];
    for (next, line) in observation.steps.iter().enumerate() {
        let index = line.index;
        if index as usize >= case.steps.len() {
            return (
                outcomes,
                Some(format!("an outcome of step {index}, and the case has {}", case.steps.len())),
            );
        }
        if index as usize != next {
            return (
                outcomes,
                Some(format!("an outcome of step {index} where step {next} was due")),
            );
        }
        outcomes[next] = Some(&line.outcome);
    }
    (outcomes, contradiction_at_end(case, observation))
}

/// The events that are not there, or are there without having been recorded.
fn wrong_count(observation: &Observation) -> Option<String> {
    let (found, recorded) = (observation.events.len() as u64, observation.events_recorded?);
    (found != recorded).then(|| {
        format!(
            "its trace has {found} events, and {recorded} were recorded: the run file was changed"
        )
    })
}

fn contradiction_at_end(case: &PlannedCase, observation: &Observation) -> Option<String> {
    let (heard, planned) = (observation.steps.len(), case.steps.len());
    if observation.case != case.id {
        return Some(format!("it is of case {}", observation.case));
    }
    if observation.done && heard < planned {
        return Some(format!(
            "the case is done, and only {heard} of {planned} steps have an outcome"
        ));
    }
    if !observation.done && observation.ending == Ending::Done {
        return Some("the process ended in order, and the case was not done".to_owned());
    }
    let skipped = observation.steps.iter().find_map(|line| match &line.outcome {
        Outcome::Skipped { because } => Some((line.index as usize, because)),
        _ => None,
    });
    skipped.and_then(|(index, because)| unfounded_skip(case, observation, index, because))
}

/// A step may only be skipped for want of a name that an earlier step did not make, or of a block
/// that an earlier step could not fill.
fn unfounded_skip(
    case: &PlannedCase,
    observation: &Observation,
    index: usize,
    because: &str,
) -> Option<String> {
    let earlier = case.steps.get(..index)?;
    let ended = earlier.iter().zip(&observation.steps).any(|(step, line)| {
        step.r#do.fill().is_some_and(|fill| &*fill.memory == because)
            && matches!(line.outcome, Outcome::Raised(_))
    });
    if ended {
        return None;
    }
    let binding_step = earlier.iter().position(|step| step.r#do.bound_name() == Some(because));
    let missing = binding_step
        .and_then(|binding_step| observation.steps.get(binding_step))
        .is_some_and(|line| match &line.outcome {
            Outcome::Returned(facts) => facts.get("kind").and_then(Value::as_str) == Some("none"),
            _ => true,
        });
    (!missing).then(|| {
        format!(
            "step {index} was skipped for want of `{because}`, which no earlier step failed to make"
        )
    })
}
