//! Whether the marks in the trace are the ones that a worker writes. The subject can reach the
//! trace and the function that writes marks, so marks that no worker writes make the record
//! worthless.

use std::collections::HashSet;

use allocert_contract::trace::{Event, Marker, What};

use crate::judge::timeline::Inside;
use crate::observation::{Observation, Outcome};

/// Says who can have done it, for there is nobody else.
const CULPRIT: &str = "only a subject that forks, writes to the trace or calls the recorder's own functions brings that about";

/// What no worker can have written. A trace without step marks, or with gaps, is not looked at.
pub(crate) fn contradiction(observation: &Observation, process: Option<u32>) -> Option<String> {
    let mut marks =
        observation.events.iter().filter_map(|event| Some((event, marker(event)?))).peekable();
    if observation.events_lost > 0 || marks.peek().is_none() {
        return None;
    }
    let mut order = Order::new(observation);
    let wrong = marks.find_map(|(event, marker)| {
        let own = process.is_none_or(|process| process == event.process);
        let taken = if own { order.take(event.thread, marker) } else { elsewhere(event, marker) };
        Some((event.seq, taken.err()?))
    });
    let what = match wrong {
        Some((seq, what)) => format!("{what} (event #{seq})"),
        None => {
            format!("step {} has an outcome and no marks in the trace", order.first_unmarked()?)
        }
    };
    Some(format!("{what}; {CULPRIT}"))
}

/// A reader of IPC handles makes calls in a process of its own, but performs no steps.
fn elsewhere(event: &Event, marker: Marker) -> Result<(), String> {
    match marker {
        Marker::StepBegin { step } | Marker::StepEnd { step } => {
            Err(format!("step {step} is marked by process {} too", event.process))
        }
        Marker::CaseBegin | Marker::HarnessBegin | Marker::HarnessEnd => Ok(()),
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

/// Steps follow each other, each with one beginning and one end; a worker leaves out those that it
/// has no operation for.
struct Order {
    reported: usize,
    unsupported: HashSet<u64>,
    next: u64,
    open: Option<u64>,
    inside: Inside,
}

impl Order {
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
            inside: Inside::default(),
        }
    }

    fn take(&mut self, thread: u32, marker: Marker) -> Result<(), String> {
        match marker {
            Marker::CaseBegin => {}
            Marker::StepBegin { step } => {
                self.leave_out(step);
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
            Marker::StepEnd { step } if self.inside.harness(thread) => {
                return Err(format!("the trace ends step {step} between marks of the harness"));
            }
            Marker::StepEnd { .. } => self.open = None,
            Marker::HarnessBegin | Marker::HarnessEnd => self.inside.mark(thread, marker),
        }
        Ok(())
    }

    fn due(&self) -> String {
        match self.open {
            Some(step) => format!("the end of step {step}"),
            None => format!("the beginning of step {}", self.next),
        }
    }

    fn leave_out(&mut self, until: u64) {
        while self.next < until && self.unsupported.contains(&self.next) {
            self.next += 1;
        }
    }

    /// The first step that was reported and did not end in the trace.
    fn first_unmarked(&mut self) -> Option<u64> {
        let reported = self.reported as u64;
        self.leave_out(reported);
        let first = self.open.unwrap_or(self.next);
        (first < reported).then_some(first)
    }
}
