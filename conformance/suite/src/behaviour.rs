//! What a subject did in a case, without what differs from run to run: two runs of one subject have
//! the same behaviours, and a change of the subject is a difference between them.
//!
//! A behaviour keeps the verdict, the findings, the result of each step, and the calls that the
//! subject made at the boundaries with their sizes, flags, streams and results. It does not keep
//! sequence numbers, processes, look-ups of functions and the calls of the worker. An address is a
//! name, see [`names`].

mod difference;
pub mod difference_report;
mod names;
mod text;

use std::collections::BTreeSet;

use allocert_contract::trace::{Event, Marker, What};
use serde_json::Value;

pub use difference::{Change, Difference, StepChange, Weight, differences};
pub use text::{BehaviourError, SOURCE};

use crate::marker_depth::MarkerDepth;
use crate::observation::{Captured, Ending, Observation, Outcome, StepOutcome};
use crate::plan::PlannedStep;
use crate::report::{call, clean, trace};
use crate::run_format::Judged;
use names::Names;

/// Facts that the worker measures of its process, which are others in each run.
const MEASURED: &[&str] = &["growing_bytes", "growing_more_bytes", "grown_bytes", "kept_bytes"];
/// The most lines of a stream that are kept.
const LINES: usize = 20;

/// What a subject did in one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Behaviour {
    /// The id of the case.
    pub case: String,
    /// Without its reason.
    pub verdict: String,
    /// One line each.
    pub findings: Vec<String>,
    pub steps: Vec<StepBehaviour>,
    /// How the process ended and what it wrote.
    pub ending: Vec<String>,
}

/// What a subject did in one step, or between two of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepBehaviour {
    /// `step 2 memalloc`, or what the calls are that belong to no step.
    pub title: String,
    /// The requirements that the case states of the step.
    pub requirements: BTreeSet<String>,
    /// In order; of several threads at once each kind of call once, sorted.
    pub calls: Vec<String>,
    /// What the step came to.
    pub results: Vec<String>,
}

impl Behaviour {
    #[must_use]
    pub fn of(judged: &Judged) -> Self {
        let Judged { case, observation, judgement } = judged;
        let mut names = Names::default();
        let (steps, ending) = match observation {
            Some(observation) => {
                (steps(&mut names, &case.steps, observation), ending(&mut names, observation))
            }
            None => (Vec::new(), Vec::new()),
        };
        let findings = judgement.findings.iter().map(|finding| {
            let step = finding.step.map(|step| format!(" in step {step}")).unwrap_or_default();
            let listed = if finding.expected_because.is_some() { ", expected" } else { "" };
            let text = format!(
                "{} {}{step}{listed}: {}",
                finding.level,
                finding.requirement,
                clean(&finding.observed)
            );
            names.replace(&text)
        });
        Self {
            case: case.id.clone(),
            findings: findings.collect(),
            verdict: judgement.verdict.name().to_owned(),
            steps,
            ending,
        }
    }
}

/// The calls of one stretch of the trace.
struct Stretch {
    step: Option<u32>,
    calls: Vec<RecordedCall>,
    /// Whether several threads take memory now or have before, so that its order is another in
    /// each run.
    order_varies: bool,
}

struct RecordedCall {
    thread: u32,
    /// The whole call, with names for addresses.
    line: String,
    /// Its function and its result alone.
    kind: String,
}

impl Stretch {
    fn begin(step: Option<u32>, names: &Names) -> Self {
        Self { step, calls: Vec::new(), order_varies: names.order_varies() }
    }

    fn has_several_threads(&self) -> bool {
        let first = self.calls.first().map(|call| call.thread);
        self.calls.iter().any(|call| Some(call.thread) != first)
    }
}

fn steps(
    names: &mut Names,
    planned: &[PlannedStep],
    observation: &Observation,
) -> Vec<StepBehaviour> {
    let stretches = stretches(names, planned, observation);
    let mut steps: Vec<StepBehaviour> = Vec::new();
    for stretch in stretches {
        let step = stretch.step.and_then(|index| planned.get(index as usize));
        let title = match step {
            Some(step) => title(step),
            None if steps.is_empty() => "before the first step".to_owned(),
            None => "after the step".to_owned(),
        };
        let outcome = step
            .and_then(|step| observation.steps.iter().find(|outcome| outcome.index == step.index));
        let found = StepBehaviour {
            title,
            requirements: step.map(requirements).unwrap_or_default(),
            results: outcome.map(|outcome| results(names, outcome)).unwrap_or_default(),
            calls: ordered(stretch),
        };
        if step.is_some() || !found.calls.is_empty() {
            steps.push(found);
        }
    }
    steps.extend(unmarked(names, planned, observation, &steps));
    steps
}

/// Steps that left no marker, because the worker had no trace to write to.
fn unmarked(
    names: &mut Names,
    planned: &[PlannedStep],
    observation: &Observation,
    marked: &[StepBehaviour],
) -> Vec<StepBehaviour> {
    let is_marked = |title: &str| marked.iter().any(|step| step.title == title);
    let of_step = |outcome: &StepOutcome| {
        let step = planned.get(outcome.index as usize)?;
        let title = title(step);
        (!is_marked(&title)).then(|| StepBehaviour {
            title,
            requirements: requirements(step),
            calls: Vec::new(),
            results: results(names, outcome),
        })
    };
    observation.steps.iter().filter_map(of_step).collect()
}

fn title(step: &PlannedStep) -> String {
    format!("step {} {}", step.index, step.r#do.name())
}

fn requirements(step: &PlannedStep) -> BTreeSet<String> {
    step.expect.keys().map(ToString::to_string).collect()
}

/// The calls between markers, without those of the worker.
fn stretches(
    names: &mut Names,
    planned: &[PlannedStep],
    observation: &Observation,
) -> Vec<Stretch> {
    let mut stretches = vec![Stretch::begin(None, names)];
    let mut harness_depth = MarkerDepth::harness();
    for event in &observation.events {
        match event.what {
            What::Marker(Marker::CaseBegin) => {}
            What::Marker(Marker::StepBegin { .. } | Marker::StepEnd { .. }) => {
                if stretches.last().is_some_and(Stretch::has_several_threads) {
                    names.forget_order();
                }
                let step = match event.what {
                    What::Marker(Marker::StepBegin { step }) => Some(step),
                    _ => None,
                };
                let step = step.and_then(|step| u32::try_from(step).ok());
                let operation = step.and_then(|step| planned.get(step as usize));
                if operation.is_some_and(|step| step.r#do.properties().is_threaded) {
                    names.forget_order();
                }
                stretches.push(Stretch::begin(step, names));
            }
            What::Marker(marker) => harness_depth.apply(event.thread, marker),
            _ => {
                let line = call_line(names, event);
                let by_subject = !harness_depth.is_inside(event.thread);
                if by_subject && trace::lookup_function(event).is_none() {
                    let kind = kind(event, &line);
                    let stretch = stretches.last_mut().expect("it begins with one");
                    stretch.calls.push(RecordedCall { thread: event.thread, line, kind });
                }
            }
        }
    }
    stretches
}

/// Names what the call is given before what it makes: memory that is resized has a new name.
fn call_line(names: &mut Names, event: &Event) -> String {
    let text = clean(&call::render(event));
    let (given, made) = text.split_at(text.find(')').unwrap_or(text.len()));
    let given = names.replace(given);
    names.learn(event);
    given + &names.replace(made)
}

/// A call by its function and result alone.
fn kind(event: &Event, line: &str) -> String {
    match &event.what {
        What::Call(call) => match call.result {
            None => format!("{} never returned", call.function),
            Some(0) => format!("{} = 0", call.function),
            Some(code) => format!("{} = {code}", call.function),
        },
        _ => line.split(['(', ' ']).next().unwrap_or_default().to_owned(),
    }
}

/// The calls of one thread in order. What several threads do at once has another order, and other
/// amounts, in each run, so it is only told which kinds of calls they make.
fn ordered(stretch: Stretch) -> Vec<String> {
    if !stretch.order_varies && !stretch.has_several_threads() {
        return stretch.calls.into_iter().map(|call| call.line).collect();
    }
    let kinds: BTreeSet<String> = stretch.calls.into_iter().map(|call| call.kind).collect();
    kinds.into_iter().map(|kind| format!("(any order) {kind}")).collect()
}

fn results(names: &mut Names, outcome: &StepOutcome) -> Vec<String> {
    let mut text = String::new();
    let mut outcome = outcome.clone();
    match &mut outcome.outcome {
        Outcome::Returned(facts) => {
            facts.retain(|name, value| !MEASURED.contains(&name.as_str()) && !is_left_over(value));
        }
        // Lines of the subject's files: each edit moves them.
        Outcome::Raised(raised) => raised.traceback = Box::default(),
        _ => {}
    }
    trace::step_outcome(&mut text, &outcome);
    text.lines().map(|line| names.replace(line.trim())).collect()
}

/// Whether a list holds what memory held before: numbers that no case writes.
fn is_left_over(value: &Value) -> bool {
    let is_large =
        |item: &Value| item.as_f64().is_some_and(|number| number.abs() >= f64::from(u32::MAX));
    value.as_array().is_some_and(|items| items.iter().any(is_large))
}

fn ending(names: &mut Names, observation: &Observation) -> Vec<String> {
    let how = match &observation.ending {
        Ending::Done => "done".to_owned(),
        Ending::Code(code) => format!("exit code {code}"),
        Ending::Signal(signal) => format!("signal {signal}"),
        Ending::TimedOut { .. } | Ending::Slow { .. } => "timed out".to_owned(),
        Ending::Stopped { .. } => "not run, because cases before it timed out".to_owned(),
        Ending::OutOfTime { .. } => "not run, because the time of the run was over".to_owned(),
        Ending::Lost { message } => format!("lost: {}", clean(message)),
    };
    let mut lines = vec![how];
    for (stream, captured) in [("output", &observation.stdout), ("error", &observation.stderr)] {
        lines.extend(printed(names, stream, captured));
    }
    lines
}

fn printed(names: &mut Names, stream: &str, captured: &Captured) -> Vec<String> {
    let lines = captured.text.lines().take(LINES);
    lines.map(|line| names.replace(&format!("standard {stream}: {}", clean(line)))).collect()
}
