//! Which calls of a trace the worker makes for itself: those between its markers.

use allocert_contract::trace::Marker;

/// How many markers of the harness each thread is within.
#[derive(Debug, Default)]
pub(crate) struct HarnessDepth {
    depths: Vec<(u32, u32)>,
}

impl HarnessDepth {
    pub(crate) fn apply(&mut self, thread: u32, marker: Marker) {
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

    pub(crate) fn is_inside(&self, thread: u32) -> bool {
        self.depths.iter().any(|(known, depth)| *known == thread && *depth > 0)
    }
}
