//! Checks that a worker wrote the markers in the trace. The subject can write to the trace and call
//! the function that writes markers, so a record with other markers proves nothing.

use std::collections::HashSet;

use allocert_contract::trace::{Event, Marker, What};

use crate::marker_depth::MarkerDepth;
use crate::observation::{Ending, Observation, Outcome};

/// Nobody else can have done it.
const WHO_CAN_DO_THIS: &str = "only a subject that forks, writes to the trace or calls the \
                               recorder's own functions brings that about, or a change of the run \
                               file";

/// The first marker that no worker can have written, or that is missing. A trace with gaps is not
/// looked at, nor one without markers of steps if the process did not end in order.
pub(crate) fn contradiction(observation: &Observation, process: Option<u32>) -> Option<String> {
    let mut markers =
        observation.events.iter().filter_map(|event| Some((event, marker(event)?))).peekable();
    let in_order = observation.done && observation.ending == Ending::Done;
    if observation.events_lost > 0 || (markers.peek().is_none() && !in_order) {
        return None;
    }
    let mut sequence = StepSequence::new(observation);
    let wrong = markers.find_map(|(event, marker)| {
        let in_process = process.is_none_or(|process| process == event.process);
        let accepted = if in_process {
            sequence.accept(event.thread, marker)
        } else {
            accept_elsewhere(event, marker)
        };
        Some((event.seq, accepted.err()?))
    });
    let what = match wrong {
        Some((seq, what)) => format!("{what} (event #{seq})"),
        None => {
            format!(
                "step {} has an outcome and no markers in the trace",
                sequence.first_without_markers()?
            )
        }
    };
    Some(format!("{what}; {WHO_CAN_DO_THIS}"))
}

/// Another process, which reads IPC handles, makes calls but performs no steps.
fn accept_elsewhere(event: &Event, marker: Marker) -> Result<(), String> {
    match marker {
        Marker::StepBegin { step } | Marker::StepEnd { step } => {
            Err(format!("step {step} has a marker of process {} too", event.process))
        }
        Marker::CaseBegin
        | Marker::HarnessBegin
        | Marker::HarnessEnd
        | Marker::HostCodeBegin
        | Marker::HostCodeEnd => Ok(()),
    }
}

/// The marker of an event, unless it begins a case.
fn marker(event: &Event) -> Option<Marker> {
    match event.what {
        What::Marker(Marker::CaseBegin) => None,
        What::Marker(marker) => Some(marker),
        _ => None,
    }
}

/// The order in which a worker performs steps: one after the other, each with one beginning and
/// one end. It leaves out those that it has no operation for.
struct StepSequence {
    reported: usize,
    unsupported: HashSet<u64>,
    next: u64,
    open: Option<u64>,
    harness_depth: MarkerDepth,
}

impl StepSequence {
    fn new(observation: &Observation) -> Self {
        let unsupported = observation
            .steps
            .iter()
            .filter(|line| matches!(line.outcome, Outcome::Unsupported { .. }));
        Self {
            reported: observation.steps.len(),
            unsupported: unsupported.map(|line| u64::from(line.index)).collect(),
            next: 0,
            open: None,
            harness_depth: MarkerDepth::harness(),
        }
    }

    fn accept(&mut self, thread: u32, marker: Marker) -> Result<(), String> {
        match marker {
            Marker::CaseBegin => {}
            Marker::StepBegin { step } => {
                self.skip_unsupported(step);
                if self.open.is_some() || step != self.next {
                    return Err(format!(
                        "the trace begins step {step} where {} was due",
                        self.due()
                    ));
                }
                self.open = Some(step);
                self.next = step + 1;
            }
            Marker::StepEnd { step } if self.open != Some(step) => {
                return Err(format!("the trace ends step {step} where {} was due", self.due()));
            }
            Marker::StepEnd { step } if self.harness_depth.is_inside(thread) => {
                return Err(format!("the trace ends step {step} between markers of the harness"));
            }
            Marker::StepEnd { .. } => self.open = None,
            Marker::HarnessBegin
            | Marker::HarnessEnd
            | Marker::HostCodeBegin
            | Marker::HostCodeEnd => self.harness_depth.apply(thread, marker),
        }
        Ok(())
    }

    fn due(&self) -> String {
        match self.open {
            Some(step) => format!("the end of step {step}"),
            None => format!("the beginning of step {}", self.next),
        }
    }

    fn skip_unsupported(&mut self, until: u64) {
        while self.next < until && self.unsupported.contains(&self.next) {
            self.next += 1;
        }
    }

    /// The first step that was reported and did not end in the trace.
    fn first_without_markers(&mut self) -> Option<u64> {
        let reported = self.reported as u64;
        self.skip_unsupported(reported);
        let first = self.open.unwrap_or(self.next);
        (first < reported).then_some(first)
    }
}
