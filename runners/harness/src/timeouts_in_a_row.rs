//! Ends a run whose cases all run out of their time.

use std::sync::atomic::{AtomicU32, Ordering};

use allocert_suite::observation::{Ending, Observation};

/// After so many cases in a row the rest is not run. A subject that hangs in something that every
/// case needs would otherwise keep a run for an hour.
const LIMIT: u32 = 12;

/// How many of the last cases ran out of their time, in all workers of a run together.
#[derive(Debug, Default)]
pub(crate) struct TimeoutsInARow(AtomicU32);

impl TimeoutsInARow {
    pub(crate) fn begin(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    pub(crate) fn note(&self, observation: &Observation) {
        match observation.ending {
            Ending::TimedOut { .. } => {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
            _ => self.begin(),
        }
    }

    /// Whether the last case was not the only one.
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
    fn only_timeouts_in_a_row_stop_a_run() {
        let timeouts = TimeoutsInARow::default();
        let late = Observation::silent("late", Ending::TimedOut { after_s: 10 });
        for _ in 1..LIMIT {
            timeouts.note(&late);
        }
        assert!(timeouts.several() && timeouts.stopped("next").is_none());
        timeouts.note(&Observation::silent("right", Ending::Done));
        assert!(!timeouts.several());
        for _ in 0..LIMIT {
            timeouts.note(&late);
        }
        assert!(timeouts.stopped("next").is_some_and(|observation| is_stopped(&observation)));
        timeouts.begin();
        assert!(timeouts.stopped("next").is_none());
    }
}
