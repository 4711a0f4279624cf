//! How far a run has come, for a person who waits.

use allocert_suite::observation::Observation;

/// Called on the thread that started the run.
pub trait Progress {
    /// So many things will be done.
    fn expect(&mut self, total: u64) {
        let _ = total;
    }

    /// So many more are done; the last of them is called `name`.
    fn advance(&mut self, count: u64, name: &str) {
        let _ = (count, name);
    }

    /// A case was run. It may be run again, alone, if it ran out of its time.
    fn observe(&mut self, observation: &Observation) {
        let _ = observation;
    }
}

/// Nobody waits.
impl Progress for () {}
