//! Which step each event belongs to, and whether the subject or the harness caused it.

use std::collections::HashMap;
use std::ops::Range;

use allocert_contract::trace::{Call, Event, Marker, What, cuda};
use allocert_requirements::{Role, Side};

use crate::effect::Effect;
use crate::observation::Observation;

/// One event's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) step: Option<u32>,
    /// In the process whose steps are marked, not in a peer.
    pub(crate) own: bool,
    /// Besides, not between harness marks of its thread, or of a kind that no worker makes.
    pub(crate) subject: bool,
}

/// The moments of all events, and each step's window.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    pub(crate) moments: Vec<Moment>,
    windows: HashMap<u32, Window>,
    /// The process whose steps are marked; a peer is another one.
    pub(crate) process: Option<u32>,
}

/// One step between its marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// The index of the event that begins it.
    pub(crate) begin: usize,
    /// The index after the last event; the end of the trace for a step that never ended.
    pub(crate) end: Option<usize>,
}

impl Timeline {
    /// `side` decides whether an allocation between harness marks is believed to be the worker's.
    pub(crate) fn new(observation: &Observation, side: Side) -> Self {
        let events = &observation.events;
        let mut timeline = Self { process: marked_process(events), ..Self::default() };
        timeline.moments.reserve(events.len());
        let mut step = None;
        let mut inside = Inside::default();
        for (index, event) in events.iter().enumerate() {
            if timeline.process.is_some_and(|process| process != event.process) {
                timeline.moments.push(Moment { step, own: false, subject: false });
                continue;
            }
            if let What::Marker(marker) = event.what {
                timeline.mark(marker, index, &mut step);
                inside.mark(event.thread, marker);
            }
            let subject =
                !inside.harness(event.thread) || (!stands_in(side) && takes_or_gives(event));
            timeline.moments.push(Moment { step, own: true, subject });
        }
        timeline
    }

    /// The events of one step, marks included.
    pub(crate) fn window(&self, step: u32) -> Option<Range<usize>> {
        let window = self.windows.get(&step)?;
        Some(window.begin..window.end.unwrap_or(self.moments.len()))
    }

    pub(crate) fn ended(&self, step: u32) -> bool {
        self.windows.get(&step).is_some_and(|window| window.end.is_some())
    }

    /// From the beginning of one step to the end of another.
    pub(crate) fn between(&self, first: u32, last: u32) -> Option<Range<usize>> {
        Some(self.window(first)?.start..self.window(last)?.end)
    }

    /// The last step that began and never ended.
    pub(crate) fn in_flight(&self) -> Option<u32> {
        let open = self.windows.iter().filter(|(_, window)| window.end.is_none());
        open.max_by_key(|(_, window)| window.begin).map(|(step, _)| *step)
    }

    fn mark(&mut self, marker: Marker, index: usize, step: &mut Option<u32>) {
        let number = marker.step().and_then(|number| u32::try_from(number).ok());
        match marker {
            Marker::CaseBegin => *step = None,
            Marker::StepBegin { .. } => {
                *step = number;
                if let Some(number) = number {
                    // A second beginning of the same step is not believed.
                    self.windows.entry(number).or_insert(Window { begin: index, end: None });
                }
            }
            Marker::StepEnd { .. } => {
                *step = None;
                if let Some(window) = number.and_then(|number| self.windows.get_mut(&number)) {
                    window.end.get_or_insert(index + 1);
                }
            }
            Marker::HarnessBegin | Marker::HarnessEnd => {}
        }
    }
}

/// How deep each thread is between harness marks.
#[derive(Default)]
pub(crate) struct Inside {
    depths: Vec<(u32, u32)>,
}

impl Inside {
    pub(crate) fn mark(&mut self, thread: u32, marker: Marker) {
        let step = match marker {
            Marker::HarnessBegin => 1,
            Marker::HarnessEnd => -1,
            Marker::CaseBegin | Marker::StepBegin { .. } | Marker::StepEnd { .. } => return,
        };
        match self.depths.iter_mut().find(|(known, _)| *known == thread) {
            Some((_, depth)) => *depth = depth.saturating_add_signed(step),
            None => self.depths.push((thread, 0_u32.saturating_add_signed(step))),
        }
    }

    pub(crate) fn harness(&self, thread: u32) -> bool {
        self.depths.iter().any(|(known, depth)| *known == thread && *depth > 0)
    }
}

/// Whether the worker plays the partner of the subject, and so allocates as that partner would.
fn stands_in(side: Side) -> bool {
    matches!(side.role(), Role::Host | Role::Consumer)
}

/// Any other worker allocates and frees nothing through the driver, so such a call is the
/// subject's, whatever marks stand around it.
fn takes_or_gives(event: &Event) -> bool {
    cuda_call(event).is_some_and(|(_, call)| {
        matches!(Effect::of(call), Effect::Take { .. } | Effect::Give { .. })
    })
}

/// The process of the first step that is marked.
fn marked_process(events: &[Event]) -> Option<u32> {
    let mark = |event: &&Event| {
        matches!(event.what, What::Marker(Marker::CaseBegin | Marker::StepBegin { .. }))
    };
    events.iter().find(mark).or(events.first()).map(|event| event.process)
}

/// The call of a driver function, if the event is one.
pub(crate) fn cuda_call(event: &Event) -> Option<(cuda::Function, &Call)> {
    match &event.what {
        What::Call(call) => Some((call.function.cuda()?, call)),
        _ => None,
    }
}
