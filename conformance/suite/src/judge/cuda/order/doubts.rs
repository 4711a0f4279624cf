//! What may have put accesses in order without a trace of it.

use crate::judge::cuda::order::access::Access;
use crate::judge::cuda::order::vector_clock::VectorClock;
use crate::reason::Doubt;

/// More sources are not told apart by name.
const SOURCES: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Doubts {
    /// All that may be over for the host.
    clock: VectorClock,
    sources: Vec<(Doubt, VectorClock)>,
    /// The first that decided anything.
    pub(crate) met: Option<Doubt>,
}

impl Doubts {
    /// From here on, what `clock` knows may be over for the host.
    pub(crate) fn raise(&mut self, doubt: Doubt, clock: VectorClock) {
        if !self.clock.absorb(&clock) || self.met.is_some() {
            return;
        }
        if self.sources.len() == SOURCES {
            self.sources.pop();
        }
        self.sources.push((doubt, clock));
    }

    pub(crate) fn meet(&mut self, doubt: Doubt) {
        self.met.get_or_insert(doubt);
        self.sources = Vec::new();
    }

    /// Whether an access may be over for all that comes now.
    pub(crate) fn cover(&mut self, access: &Access) -> bool {
        if access.coarse {
            self.meet(Doubt::ManyPieces);
            return true;
        }
        if !self.clock.covers(access.epoch) {
            return false;
        }
        let source = self
            .sources
            .iter()
            .find(|(_, clock)| clock.covers(access.epoch))
            .or(self.sources.last());
        if let Some((doubt, _)) = source {
            self.meet(doubt.clone());
        }
        true
    }
}
