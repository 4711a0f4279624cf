//! What may have put accesses in order without a trace of it.

use crate::applicability::Doubt;
use crate::judge::order::access::Mark;
use crate::judge::order::clock::Clock;

/// More sources are not told apart by name.
const SOURCES: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Doubts {
    /// All that may be over for the host.
    clock: Clock,
    sources: Vec<(Doubt, Clock)>,
    /// The first that decided anything.
    pub(crate) met: Option<Doubt>,
}

impl Doubts {
    /// From here on, what `clock` knows may be over for the host.
    pub(crate) fn raise(&mut self, doubt: Doubt, clock: Clock) {
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
    pub(crate) fn cover(&mut self, mark: &Mark) -> bool {
        if mark.coarse {
            self.meet(Doubt::ManyPieces);
            return true;
        }
        if !self.clock.covers(mark.epoch) {
            return false;
        }
        let source =
            self.sources.iter().find(|(_, clock)| clock.covers(mark.epoch)).or(self.sources.last());
        if let Some((doubt, _)) = source {
            self.meet(doubt.clone());
        }
        true
    }
}
