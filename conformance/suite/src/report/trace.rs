//! `allocert trace`: all that was recorded of one case, step by step.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use allocert_contract::trace::{Event, Function, Marker, What};
use serde_json::Value;

use crate::effect;
use crate::marker_depth::MarkerDepth;
use crate::nouns::Thread;
use crate::observation::{Captured, Ending, Observation, Outcome, Raised, StepOutcome};
use crate::plan::{Part, PlannedStep};
use crate::report::style::Palette;
use crate::report::{call, clean};
use crate::run_format::Judged;
use crate::verdict::{Finding, Judgement};

/// The case with its verdict, each step with its outcome and its calls, and the findings.
#[must_use]
pub fn render(judged: &Judged, palette: Palette) -> String {
    let mut out = String::new();
    let Judged { case, observation, judgement } = judged;
    line!(out, "{} {}", palette.strong(&case.id), judgement.verdict.name());
    line!(out, "{}: {}", case.file, case.about);
    match observation {
        None => line!(out, "\nThe case was not run."),
        Some(observation) => {
            let mut trace = Trace::new(judgement, palette);
            trace.events(&mut out, case.steps.as_slice(), observation);
            trace.unrecorded_steps(&mut out, case.steps.as_slice(), observation);
            ending(&mut out, observation);
        }
    }
    for finding in &judgement.findings {
        report_finding(&mut out, finding, palette);
    }
    out
}

/// The state while the events of a case are rendered in order.
struct Trace<'a> {
    /// What findings say of an event, by its number.
    roles: BTreeMap<u64, Vec<&'a str>>,
    /// The threads and processes that were met, in the order of their first events.
    threads: Vec<u32>,
    processes: Vec<u32>,
    harness_depth: MarkerDepth,
    /// Steps that were shown.
    shown: Vec<u32>,
    after_step: After,
    /// What the worker called last for itself, and how many look-ups followed on one.
    last_by_worker: Option<Function>,
    repeated: u64,
    palette: Palette,
}

/// Whether a step is under way.
enum After {
    /// It is.
    InStep,
    /// None is, and nothing has happened since the last one.
    Silent,
    /// None is, and events since the last one were shown.
    Shown,
}

impl<'a> Trace<'a> {
    fn new(judgement: &'a Judgement, palette: Palette) -> Self {
        let mut roles: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
        for witness in judgement.findings.iter().flat_map(|finding| &finding.events) {
            let of_event = roles.entry(witness.seq).or_default();
            if !of_event.contains(&witness.role.as_str()) {
                of_event.push(&witness.role);
            }
        }
        Self {
            roles,
            threads: Vec::new(),
            processes: Vec::new(),
            harness_depth: MarkerDepth::harness(),
            shown: Vec::new(),
            after_step: After::Silent,
            last_by_worker: None,
            repeated: 0,
            palette,
        }
    }

    fn events(&mut self, out: &mut String, steps: &[PlannedStep], observation: &Observation) {
        let mut due = observation.events.first().map_or(0, |event| event.seq);
        for event in &observation.events {
            if event.seq > due {
                line!(out, "  ... {} events are missing here", event.seq - due);
            }
            due = event.seq + 1;
            match event.what {
                What::Marker(Marker::CaseBegin) => {}
                What::Marker(Marker::StepBegin { step }) => {
                    self.step(out, u32::try_from(step).ok(), steps, observation);
                }
                What::Marker(Marker::StepEnd { .. }) => self.after_step = After::Silent,
                What::Marker(marker) => self.harness_depth.apply(event.thread, marker),
                _ if self.repeats(event) => self.repeated += 1,
                _ => self.event(out, event),
            }
        }
        self.end_of_repetition(out);
    }

    /// Whether the worker looks up one function after the other, as a library does at its start.
    fn repeats(&self, event: &Event) -> bool {
        let lookup = lookup_function(event);
        let by_worker = self.harness_depth.is_inside(event.thread);
        lookup.is_some() && by_worker && self.last_by_worker == lookup
    }

    fn end_of_repetition(&mut self, out: &mut String) {
        let again = std::mem::take(&mut self.repeated);
        if again > 0 {
            let line = format!("         ... and {again} more look-ups [by the worker]");
            line!(out, "{}", self.palette.faint(line));
        }
    }

    /// `    12  t1  cuda  cuMemAlloc_v2(bytesize=64) = 0, dptr=0x7d0000000000`.
    fn event(&mut self, out: &mut String, event: &Event) {
        self.end_of_repetition(out);
        if matches!(self.after_step, After::Silent) {
            let no_step = self.shown.is_empty();
            line!(out, "{}", if no_step { "\nbefore the first step" } else { "  after the step" });
            self.after_step = After::Shown;
        }
        let mut thread = format!("t{}", place(&mut self.threads, event.thread));
        let process = place(&mut self.processes, event.process);
        if process > 1 {
            let _infallible = write!(thread, " of process {process}");
        }
        let boundary = match &event.what {
            What::Call(call) => call.function.boundary().to_string(),
            _ => "cuda".to_owned(),
        };
        let text = clean(&call::render(event));
        let worker = self.harness_depth.is_inside(event.thread);
        self.last_by_worker = if worker { function(event) } else { None };
        let by_worker = if worker { " [by the worker]" } else { "" };
        let line = format!("  {:>5}  {thread:<3} {boundary:<7} {text}{by_worker}", event.seq);
        match self.roles.get(&event.seq) {
            Some(roles) => {
                line!(out, "{}  <- {}", self.palette.bad(line), clean(&roles.join(", ")));
            }
            None if worker => line!(out, "{}", self.palette.faint(line)),
            None => line!(out, "{line}"),
        }
    }

    fn step(
        &mut self,
        out: &mut String,
        index: Option<u32>,
        steps: &[PlannedStep],
        observation: &Observation,
    ) {
        let Some(step) = steps.iter().find(|step| Some(step.index) == index) else {
            line!(out, "\na step that is not planned");
            return;
        };
        self.end_of_repetition(out);
        self.shown.push(step.index);
        self.after_step = After::InStep;
        line!(out, "\n{}", self.palette.strong(heading(step)));
        match observation.steps.iter().find(|outcome| outcome.index == step.index) {
            Some(outcome) => step_outcome(out, outcome),
            None if has_end(observation, step.index) => {
                line!(out, "  ended; what it came to is not known, because the process was ended");
            }
            None => line!(out, "  did not end"),
        }
    }

    /// Steps that left no marker, because the worker had no trace to write to.
    fn unrecorded_steps(&self, out: &mut String, steps: &[PlannedStep], observation: &Observation) {
        for step in steps.iter().filter(|step| !self.shown.contains(&step.index)) {
            let outcome = observation.steps.iter().find(|outcome| outcome.index == step.index);
            line!(out, "\n{}", self.palette.strong(heading(step)));
            match outcome {
                Some(outcome) => step_outcome(out, outcome),
                None => line!(out, "  was not begun"),
            }
        }
    }
}

/// Whether the trace has the end of a step.
fn has_end(observation: &Observation, index: u32) -> bool {
    let is_end = |event: &Event| match event.what {
        What::Marker(Marker::StepEnd { step }) => u32::try_from(step) == Ok(index),
        _ => false,
    };
    observation.events.iter().any(is_end)
}

/// The function by which a library looks up functions of the driver, if the event calls it.
pub(crate) fn lookup_function(event: &Event) -> Option<Function> {
    function(event)
        .filter(|one| matches!(one, Function::Cuda(function) if effect::cuda::is_lookup(*function)))
}

fn function(event: &Event) -> Option<Function> {
    match &event.what {
        What::Call(call) => Some(call.function),
        _ => None,
    }
}

/// The number of `item` among those that were met, from 1.
fn place(met: &mut Vec<u32>, item: u32) -> usize {
    let found = met.iter().position(|one| *one == item);
    found.unwrap_or_else(|| {
        met.push(item);
        met.len() - 1
    }) + 1
}

/// `step 2, line 6: memalloc {size: 64, as: a} on m`.
fn heading(step: &PlannedStep) -> String {
    let part = match step.part {
        Part::Setup => ", setup",
        Part::Teardown => ", teardown",
        Part::Step => "",
    };
    let thread = match step.thread {
        None => "",
        Some(Thread::Fresh) => ", in a thread of its own",
        Some(Thread::Second) => ", in the second thread",
    };
    let operation = match serde_json::to_value(&step.r#do) {
        Ok(Value::Object(members)) => {
            let of_operation = members.iter().next();
            of_operation.map_or_else(String::new, |(name, members)| {
                let members = fields(members.as_object().into_iter().flatten());
                format!("{name} {{{members}}}")
            })
        }
        _ => step.r#do.name().to_owned(),
    };
    let (index, line, on) = (step.index, step.line, &step.on);
    format!("step {index}, line {line}{part}: {operation} on {on}{thread}")
}

fn fields<'v, K: std::fmt::Display + 'v>(members: impl Iterator<Item = (K, &'v Value)>) -> String {
    let fields: Vec<String> =
        members.map(|(name, value)| format!("{name}: {}", clean(&plain(value)))).collect();
    fields.join(", ")
}

/// As a fixture writes it, a word without quotes; an address as the calls show it.
fn plain(value: &Value) -> String {
    let is_word = |text: &str| {
        let part_of_word = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        text.starts_with(char::is_alphabetic) && text.chars().all(part_of_word)
    };
    match value {
        Value::String(text) if is_word(text) => text.clone(),
        Value::Number(number) => match number.as_u64() {
            Some(address) if address > u64::from(u32::MAX) => format!("{address:#x}"),
            _ => number.to_string(),
        },
        _ => value.to_string(),
    }
}

/// What a step came to, in lines.
pub(crate) fn step_outcome(out: &mut String, outcome: &StepOutcome) {
    match &outcome.outcome {
        Outcome::Returned(facts) => line!(out, "  returned {{{}}}", fields(facts.iter())),
        Outcome::Raised(raised) => {
            line!(out, "  raised {}", describe_error(raised));
            raised.traceback.iter().for_each(|frame| line!(out, "    at {}", clean(frame)));
        }
        Outcome::Skipped { because } => {
            line!(out, "  was skipped: an earlier step did not make {}", clean(because));
        }
        Outcome::Declined { because } => {
            line!(out, "  was declined by the subject: {}", clean(because));
        }
        Outcome::Unsupported { operation } => {
            line!(out, "  is not supported by this worker: {}", clean(operation));
        }
    }
    for facts in &outcome.plugin_calls {
        line!(out, "  the host called the plugin: {{{}}}", fields(facts.iter()));
    }
    for defect in outcome.table_calls.iter().flat_map(|calls| &calls.defects) {
        line!(out, "  {}: {}, {}", defect.call, defect.defect, clean(&defect.observed));
    }
}

fn describe_error(raised: &Raised) -> String {
    let Raised { r#type, message, code, status, .. } = raised;
    let code = code.map(|code| format!(" (code {})", call::error(code))).unwrap_or_default();
    let status = status.as_ref().map(|status| format!(" (status {status})")).unwrap_or_default();
    clean(&format!("{type}: {message}{code}{status}"))
}

fn ending(out: &mut String, observation: &Observation) {
    line!(out);
    match &observation.ending {
        Ending::Done if observation.done => line!(out, "The case was performed to its end."),
        Ending::Done => line!(out, "The process ended in order before the case was done."),
        Ending::Code(code) => line!(out, "The process ended with exit code {code}."),
        Ending::Signal(signal) => line!(out, "The process was ended by signal {signal}."),
        Ending::Stopped { timeouts } => {
            line!(out, "The case was not run, because {timeouts} cases before it had timed out.")
        }
        Ending::OutOfTime { limit_s } => {
            line!(out, "The case was not run: the {limit_s} s of the whole run were over.")
        }
        Ending::TimedOut { after_s } => {
            line!(out, "The process was ended after {after_s} s, the limit of the case.");
        }
        Ending::Slow { after_s } => line!(
            out,
            "The process was ended after {after_s} s, the limit of the case, while its calls \
             returned."
        ),
        Ending::Lost { message } => line!(out, "The case was not observed: {}.", clean(message)),
    }
    if observation.events_lost > 0 {
        line!(out, "{} events were overwritten before they were read.", observation.events_lost);
    }
    printed(out, "output", &observation.stdout);
    printed(out, "error", &observation.stderr);
}

fn printed(out: &mut String, stream: &str, printed: &Captured) {
    if printed.bytes > 0 {
        line!(out, "It wrote {} bytes to standard {stream}:", printed.bytes);
        printed.text.lines().for_each(|text| line!(out, "  | {}", clean(text)));
    }
}

fn report_finding(out: &mut String, finding: &Finding, palette: Palette) {
    let Finding { requirement, level, place, expected, observed, .. } = finding;
    let step = finding.step.map(|step| format!(" in step {step}")).unwrap_or_default();
    line!(out, "\n{}{step}, {place}", palette.bad(format!("{level} {requirement}")));
    line!(out, "  expected  {}", clean(expected));
    line!(out, "  observed  {}", clean(observed));
}
