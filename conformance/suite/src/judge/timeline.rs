//! Which step each event belongs to, and whether the subject or the harness caused it.

use std::collections::HashMap;
use std::ops::Range;

use allocert_contract::trace::{Call, Event, Marker, What, cuda};
use allocert_requirements::{Role, Side};

use crate::effect::Effect;
use crate::marker_depth::MarkerDepth;
use crate::observation::Observation;

/// The step of an event, and who caused it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attribution {
    pub(crate) step: Option<u32>,
    /// It happened in the process that performs the steps.
    pub(crate) in_process: bool,
    /// Besides, the subject caused it: it stands between no markers of the harness on its thread,
    /// or no worker makes such a call.
    pub(crate) by_subject: bool,
    /// Code of the host did it, which the subject called or inherits.
    pub(crate) in_host_code: bool,
}

/// The attributions of all events, and each step's window.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    pub(crate) attributions: Vec<Attribution>,
    windows: HashMap<u32, Window>,
    /// The process that performs the steps.
    pub(crate) process: Option<u32>,
}

/// One step from its first marker to its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// The index of the event that begins it.
    pub(crate) begin: usize,
    /// The index after the last event; the end of the trace for a step that never ended.
    pub(crate) end: Option<usize>,
}

impl Timeline {
    /// `side` decides whether an allocation between markers of the harness is the worker's.
    pub(crate) fn new(observation: &Observation, side: Side) -> Self {
        let events = &observation.events;
        let mut timeline = Self { process: process_with_markers(events), ..Self::default() };
        timeline.attributions.reserve(events.len());
        let mut step = None;
        let mut harness_depth = MarkerDepth::harness();
        let mut host_code_depth = MarkerDepth::host_code();
        for (index, event) in events.iter().enumerate() {
            if timeline.process.is_some_and(|process| process != event.process) {
                timeline.attributions.push(Attribution {
                    step,
                    in_process: false,
                    by_subject: false,
                    in_host_code: false,
                });
                continue;
            }
            if let What::Marker(marker) = event.what {
                timeline.apply(marker, index, &mut step);
                harness_depth.apply(event.thread, marker);
                host_code_depth.apply(event.thread, marker);
            }
            let by_subject = !harness_depth.is_inside(event.thread)
                || (!plays_the_partner(side) && takes_or_gives(event));
            let in_host_code = host_code_depth.is_inside(event.thread);
            let attribution = Attribution { step, in_process: true, by_subject, in_host_code };
            timeline.attributions.push(attribution);
        }
        timeline
    }

    /// The events of one step, markers included.
    pub(crate) fn window(&self, step: u32) -> Option<Range<usize>> {
        let window = self.windows.get(&step)?;
        Some(window.begin..window.end.unwrap_or(self.attributions.len()))
    }

    pub(crate) fn has_ended(&self, step: u32) -> bool {
        self.windows.get(&step).is_some_and(|window| window.end.is_some())
    }

    /// From the beginning of one step to the end of another.
    pub(crate) fn window_between(&self, first: u32, last: u32) -> Option<Range<usize>> {
        Some(self.window(first)?.start..self.window(last)?.end)
    }

    /// The last step that began and never ended.
    pub(crate) fn step_in_flight(&self) -> Option<u32> {
        let open = self.windows.iter().filter(|(_, window)| window.end.is_none());
        open.max_by_key(|(_, window)| window.begin).map(|(step, _)| *step)
    }

    fn apply(&mut self, marker: Marker, index: usize, step: &mut Option<u32>) {
        let number = marker.step().and_then(|number| u32::try_from(number).ok());
        match marker {
            Marker::CaseBegin => *step = None,
            Marker::StepBegin { .. } => {
                *step = number;
                if let Some(number) = number {
                    // Ignore a second beginning of the same step.
                    self.windows.entry(number).or_insert(Window { begin: index, end: None });
                }
            }
            Marker::StepEnd { .. } => {
                *step = None;
                if let Some(window) = number.and_then(|number| self.windows.get_mut(&number)) {
                    window.end.get_or_insert(index + 1);
                }
            }
            Marker::HarnessBegin
            | Marker::HarnessEnd
            | Marker::HostCodeBegin
            | Marker::HostCodeEnd => {}
        }
    }
}

/// Whether the worker acts as the partner of the subject, and allocates as that partner would.
fn plays_the_partner(side: Side) -> bool {
    matches!(side.role(), Role::Host | Role::Consumer)
}

/// Any other worker does not allocate or free through the driver, so such a call belongs to the
/// subject, even between markers of the harness.
fn takes_or_gives(event: &Event) -> bool {
    cuda_call(event).is_some_and(|(_, call)| {
        matches!(Effect::of(call), Effect::Take { .. } | Effect::Give { .. })
    })
}

/// The process of the first marker of a case or step.
fn process_with_markers(events: &[Event]) -> Option<u32> {
    let marks = |event: &&Event| {
        matches!(event.what, What::Marker(Marker::CaseBegin | Marker::StepBegin { .. }))
    };
    events.iter().find(marks).or(events.first()).map(|event| event.process)
}

/// The call of a driver function, if the event is one.
pub(crate) fn cuda_call(event: &Event) -> Option<(cuda::Function, &Call)> {
    let call = event.call()?;
    Some((call.function.cuda()?, call))
}
