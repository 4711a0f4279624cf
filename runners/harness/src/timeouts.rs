//! Ends a run whose cases run out of their time.

use std::sync::atomic::{AtomicU32, Ordering};

use allocert_suite::observation::{Ending, Observation};

/// After so many cases the rest is not run. A subject that hangs in something that many cases need
/// would otherwise keep a run for an hour.
pub(crate) const LIMIT: u32 = 6;

/// How many cases ran out of their time, in all workers of a run together.
#[derive(Debug, Default)]
pub(crate) struct Timeouts(AtomicU32);

impl Timeouts {
    pub(crate) fn begin(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    pub(crate) fn note(&self, observation: &Observation) {
        if observation.ending.timed_out() {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether there was more than one.
    pub(crate) fn several(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 1
    }

    /// The observation of a case that is not run any more.
    pub(crate) fn stopped(&self, case: &str) -> Option<Observation> {
        let timeouts = self.0.load(Ordering::Relaxed);
        (timeouts >= LIMIT).then(|| Observation::silent(case, Ending::Stopped { timeouts: LIMIT }))
    }
}

pub(crate) fn is_stopped(observation: &Observation) -> bool {
    matches!(observation.ending, Ending::Stopped { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_stop_a_run_whatever_lies_between() {
        let timeouts = Timeouts::default();
        let late = Observation::silent("late", Ending::TimedOut { after_s: 10 });
        for number in 1..LIMIT {
            timeouts.note(&late);
            assert_eq!(timeouts.several(), number > 1);
            timeouts.note(&Observation::silent("right", Ending::Done));
            assert!(timeouts.stopped("next").is_none());
        }
        timeouts.note(&late);
        assert!(timeouts.stopped("next").is_some_and(|observation| is_stopped(&observation)));
        timeouts.begin();
        assert!(!timeouts.several());
        assert!(timeouts.stopped("next").is_none());
    }
}
