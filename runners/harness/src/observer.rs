//! Who watches a run: a progress bar, a log, nobody.

use allocert_suite::observation::Observation;

/// Called on the thread that started the run.
pub trait Observer {
    /// So many cases will be run.
    fn began(&mut self, cases: usize) {
        let _ = cases;
    }

    /// A case was run, in the order in which they end.
    fn observed(&mut self, observation: &Observation) {
        let _ = observation;
    }
}

/// Nobody watches.
impl Observer for () {}
