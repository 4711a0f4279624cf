//! Which calls of a trace stand between two markers: those that the worker makes for itself, or
//! those of the host's code that the subject called.

use allocert_contract::trace::{Marker, MarkerKind};

/// How many pairs of markers each thread is within.
#[derive(Debug)]
pub(crate) struct MarkerDepth {
    begin: MarkerKind,
    end: MarkerKind,
    depths: Vec<(u32, u32)>,
}

impl MarkerDepth {
    /// Within what the worker does for itself.
    pub(crate) fn harness() -> Self {
        Self { begin: MarkerKind::HarnessBegin, end: MarkerKind::HarnessEnd, depths: Vec::new() }
    }

    /// Within code of the host that the subject called or inherits.
    pub(crate) fn host_code() -> Self {
        Self { begin: MarkerKind::HostCodeBegin, end: MarkerKind::HostCodeEnd, depths: Vec::new() }
    }

    pub(crate) fn apply(&mut self, thread: u32, marker: Marker) {
        let step = match marker.kind() {
            kind if kind == self.begin => 1,
            kind if kind == self.end => -1,
            _ => return,
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
