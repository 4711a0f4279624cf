//! What may have ordered accesses and left no trace.

use crate::judge::cuda::order::access::Access;
use crate::judge::cuda::order::vector_clock::VectorClock;
use crate::reason::Doubt;

/// More doubts are not told apart by name.
const SOURCE_LIMIT: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Doubts {
    /// All work that may be over for the host.
    clock: VectorClock,
    sources: Vec<(Doubt, VectorClock)>,
    /// The first call that may have made accesses which nobody saw.
    conjecture: Option<Doubt>,
    /// The first doubt that decided anything.
    pub(crate) decisive: Option<Doubt>,
}

impl Doubts {
    /// From here on, the work that `clock` covers may be over for the host.
    pub(crate) fn raise(&mut self, doubt: Doubt, clock: VectorClock) {
        if !self.clock.absorb(&clock) || self.decisive.is_some() {
            return;
        }
        if self.sources.len() == SOURCE_LIMIT {
            self.sources.pop();
        }
        self.sources.push((doubt, clock));
    }

    /// From here on, a call may have made accesses that nobody saw. They are conjectured.
    pub(crate) fn conjecture(&mut self, doubt: &Doubt) {
        self.conjecture.get_or_insert_with(|| doubt.clone());
    }

    /// A doubt decides: the case is not observed, for this reason.
    pub(crate) fn decide(&mut self, doubt: Doubt) {
        self.decisive.get_or_insert(doubt);
        self.sources = Vec::new();
    }

    /// Whether a doubt explains an unordered access: it may be over for all that comes now.
    pub(crate) fn explains(&mut self, access: &Access) -> bool {
        if access.merged {
            self.decide(Doubt::ManyPieces);
            return true;
        }
        if let Some(doubt) = self.conjecture.as_ref().filter(|_| access.conjectured) {
            self.decide(doubt.clone());
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
            self.decide(doubt.clone());
        }
        true
    }
}
