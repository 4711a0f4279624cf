//! What a worker writes itself: its markers, and calls of the boundaries that it sees.

use allocert_contract::trace::{Function, Marker};

use crate::{
    context, ids,
    ring::{Entry, Origin, Ring, ring},
};

/// Writes a marker, if there is a trace.
pub fn marker(marker: Marker) {
    if let Some(ring) = ring() {
        ring.marker(marker, ids::thread_id(), context::current());
    }
}

/// Writes down that the calling thread calls `function` with these inputs, in the order of
/// [`Function::inputs`]; a record has room for eight. A call without an [`OpenCall::end`] is one
/// that never returned.
pub fn begin_call(function: Function, inputs: &[u64]) -> OpenCall {
    OpenCall(ring().map(|ring| {
        let origin = Origin {
            function,
            thread: ids::thread_id(),
            context: context::current(),
            per_thread: false,
        };
        (ring, ring.enter(origin, fitted(inputs)))
    }))
}

/// A call that has not returned yet.
#[derive(Debug)]
#[must_use = "a call that is not ended counts as one that never returned"]
pub struct OpenCall(Option<(&'static Ring, Entry)>);

impl OpenCall {
    /// Writes down what the call came to: 0 for success, or a code of the boundary. The outputs are
    /// in the order of [`Function::outputs`]; a record has room for three.
    pub fn end(self, result: i32, outputs: &[u64]) {
        if let Some((ring, entry)) = self.0 {
            ring.leave(&entry, result, false, fitted(outputs));
        }
    }

    /// Writes down that the case made the call fail: it answered `result` and did nothing.
    pub fn end_injected(self, result: i32) {
        if let Some((ring, entry)) = self.0 {
            ring.leave(&entry, result, true, [0; 3]);
        }
    }

    /// Stands for the call where a number is wanted; 0 if there is no trace.
    pub(crate) fn into_token(self) -> u64 {
        self.0.map_or(0, |(_, entry)| entry.seq() + 1)
    }

    /// `None` if the token stands for no call, or for one so old that its record is gone.
    pub(crate) fn from_token(token: u64) -> Option<Self> {
        let ring = ring()?;
        Some(Self(Some((ring, ring.reopen(token.checked_sub(1)?)?))))
    }
}

/// The first words, zeros after them.
fn fitted<const N: usize>(words: &[u64]) -> [u64; N] {
    std::array::from_fn(|index| words.get(index).copied().unwrap_or(0))
}
