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

use std::collections::{BTreeMap, BTreeSet};

use allocert_contract::trace::{Call, Event, Marker, What};
use serde_json::Value;

pub use difference::{Change, Difference, StepChange, Weight, differences};
pub use text::{BehaviourError, SOURCE};

use crate::marker_depth::MarkerDepth;
use crate::observation::{Captured, Ending, Observation, Outcome, StepOutcome};
use crate::plan::PlannedStep;
use crate::report::{call, clean, trace};
use crate::run_format::Judged;
use crate::verdict::{Finding, Judgement};
use names::Names;

/// Facts that the worker measures of its process, which are others in each run.
const MEASURED: &[&str] =
    &["first_damage", "growing_bytes", "growing_more_bytes", "grown_bytes", "kept_bytes"];
/// Counts that differ from run to run, where they are not zero: how many blocks lie well depends on
/// the addresses that the system gave.
const COUNTED_BY_ADDRESS: &[&str] = &["misaligned"];
/// The titles of calls that belong to no step.
const BEFORE_FIRST: &str = "before the first step";
const AFTER: &str = "after the step";
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
        let mut texts = Texts { names: Names::default(), judgement, findings: BTreeMap::new() };
        let (steps, ending) = match observation {
            Some(observation) => {
                let steps = steps(&mut texts, &case.steps, observation);
                (steps, ending(&mut texts.names, observation))
            }
            None => (Vec::new(), Vec::new()),
        };
        texts.add_findings(|_| true);
        Self {
            case: case.id.clone(),
            findings: texts.findings.into_values().collect(),
            verdict: judgement.verdict.name().to_owned(),
            steps,
            ending,
        }
    }
}

/// The texts of findings and results, with the names that addresses have at the end of their steps.
/// Later on, memory at the same address may be other memory.
struct Texts<'j> {
    names: Names,
    judgement: &'j Judgement,
    /// By their places among the findings of the case.
    findings: BTreeMap<usize, String>,
}

impl Texts<'_> {
    /// What a step came to.
    fn results(&mut self, outcome: &StepOutcome) -> Vec<String> {
        self.add_findings(|finding| finding.step == Some(outcome.index));
        results(&mut self.names, outcome)
    }

    fn add_findings(&mut self, is_meant: impl Fn(&Finding) -> bool) {
        for (place, finding) in self.judgement.findings.iter().enumerate() {
            if is_meant(finding) && !self.findings.contains_key(&place) {
                let text = finding_text(finding);
                self.findings.insert(place, self.names.replace(&text));
            }
        }
    }
}

fn finding_text(finding: &Finding) -> String {
    let step = finding.step.map(|step| format!(" in step {step}")).unwrap_or_default();
    let listed = if finding.expected_because.is_some() { ", expected" } else { "" };
    let (level, requirement) = (finding.level, &finding.requirement);
    format!("{level} {requirement}{step}{listed}: {}", clean(&finding.observed))
}

/// The calls of one stretch of the trace.
struct Stretch {
    step: Option<u32>,
    calls: Vec<RecordedCall>,
    /// What the step came to, once it has ended.
    results: Option<Vec<String>>,
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
        Self { step, calls: Vec::new(), results: None, order_varies: names.order_varies() }
    }

    fn has_several_threads(&self) -> bool {
        let first = self.calls.first().map(|call| call.thread);
        self.calls.iter().any(|call| Some(call.thread) != first)
    }
}

fn steps(
    texts: &mut Texts,
    planned: &[PlannedStep],
    observation: &Observation,
) -> Vec<StepBehaviour> {
    let mut steps: Vec<StepBehaviour> = Vec::new();
    for mut stretch in stretches(texts, planned, observation) {
        let step = stretch.step.and_then(|index| planned.get(index as usize));
        let title = match step {
            Some(step) => title(step),
            None if steps.is_empty() => BEFORE_FIRST.to_owned(),
            None => AFTER.to_owned(),
        };
        let found = StepBehaviour {
            title,
            requirements: step.map(requirements).unwrap_or_default(),
            results: stretch.results.take().unwrap_or_default(),
            calls: ordered(stretch),
        };
        if step.is_some() || !found.calls.is_empty() {
            steps.push(found);
        }
    }
    steps.extend(unmarked(texts, planned, observation, &steps));
    steps
}

/// Steps that left no marker, because the worker had no trace to write to.
fn unmarked(
    texts: &mut Texts,
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
            results: texts.results(outcome),
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
    texts: &mut Texts,
    planned: &[PlannedStep],
    observation: &Observation,
) -> Vec<Stretch> {
    let mut stretches = vec![Stretch::begin(None, &texts.names)];
    let mut harness_depth = MarkerDepth::harness();
    for event in &observation.events {
        let stretch = stretches.last_mut().expect("it begins with one");
        match event.what {
            What::Marker(Marker::CaseBegin) => {}
            What::Marker(Marker::StepBegin { step }) => {
                forget_order_after(stretch, &mut texts.names);
                let step = u32::try_from(step).ok();
                let operation = step.and_then(|step| planned.get(step as usize));
                if operation.is_some_and(|step| step.r#do.properties().is_threaded) {
                    texts.names.forget_order();
                }
                stretches.push(Stretch::begin(step, &texts.names));
            }
            What::Marker(Marker::StepEnd { .. }) => {
                forget_order_after(stretch, &mut texts.names);
                stretch.results = outcome_of(observation, stretch).map(|it| texts.results(it));
                stretches.push(Stretch::begin(None, &texts.names));
            }
            What::Marker(marker) => harness_depth.apply(event.thread, marker),
            _ => {
                let line = call_line(&mut texts.names, event);
                let by_subject = !harness_depth.is_inside(event.thread);
                if by_subject && trace::lookup_function(event).is_none() {
                    let kind = kind(event, &line);
                    stretch.calls.push(RecordedCall { thread: event.thread, line, kind });
                }
            }
        }
    }
    // A step that the trace has no end of.
    for stretch in stretches.iter_mut().filter(|stretch| stretch.results.is_none()) {
        stretch.results = outcome_of(observation, stretch).map(|it| texts.results(it));
    }
    stretches
}

fn forget_order_after(stretch: &Stretch, names: &mut Names) {
    if stretch.has_several_threads() {
        names.forget_order();
    }
}

fn outcome_of<'o>(observation: &'o Observation, stretch: &Stretch) -> Option<&'o StepOutcome> {
    let step = stretch.step?;
    observation.steps.iter().find(|outcome| outcome.index == step)
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
        What::Call(Call { function, result, .. }) => match *result {
            None => format!("{function} never returned"),
            Some(0) => format!("{function} = 0"),
            Some(code) if function.cuda().is_some() => format!("{function} = {code}"),
            Some(code) => format!("{function} = {}", call::failure(*function, code)),
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
            for name in COUNTED_BY_ADDRESS {
                if facts.get(*name).is_some_and(|count| count != 0) {
                    facts.insert((*name).into(), Value::from("some"));
                }
            }
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
