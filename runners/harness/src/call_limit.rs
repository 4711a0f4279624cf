//! How long one call of the subject may take, where no call needs as long as a case.
//!
//! A case may make thousands of calls, so its limit is long. A call that has not returned while
//! nothing else was recorded hangs much earlier.

use std::time::{Duration, Instant};

use crate::own_time::{Counted, OwnTime};
use crate::ring::Ring;

/// How often to look whether anything was recorded.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A limit on the time that processes work inside one call.
#[derive(Debug)]
pub(crate) struct CallLimit {
    limit: Duration,
    next_look: Instant,
    /// How many records there were when `time` began.
    records: Option<u64>,
    time: OwnTime,
}

impl CallLimit {
    pub(crate) fn begin(limit: Duration, now: Instant) -> Self {
        let time = OwnTime::begin(limit, now);
        Self { limit, next_look: now + LOOK_EVERY, records: None, time }
    }

    pub(crate) fn next_look(&self) -> Instant {
        self.next_look
    }

    /// Whether a call has not returned in all of the limit, in which nothing else was recorded.
    pub(crate) fn is_used_up(
        &mut self,
        now: Instant,
        ring: &Ring,
        counted: impl FnOnce() -> Counted,
    ) -> bool {
        self.next_look = now + LOOK_EVERY;
        let records = ring.records();
        if records != self.records {
            self.records = records;
            self.time = OwnTime::begin(self.limit, now);
            return false;
        }
        now >= self.time.next_look() && self.time.is_used_up(now, counted()) && ring.has_open_call()
    }
}

#[cfg(test)]
mod tests {
    use allocert_contract::trace::record::{ENTERED, RETURNED};
    use rstest::rstest;

    use super::*;
    use crate::ring::tests::{ring, write};

    const LIMIT: Duration = Duration::from_secs(4);

    /// Looks as often as it is due for so many seconds on the clock, in which the processes do not
    /// wait for a processor. In each second so many records come, all of calls in this state.
    fn is_used_up_within(seconds: u64, records: u64, state: u32) -> bool {
        let ring = ring();
        write(&ring, 0, state).expect("writable");
        let begin = Instant::now();
        let mut limit = CallLimit::begin(LIMIT, begin);
        let mut next = 1;
        while limit.next_look() <= begin + Duration::from_secs(seconds) {
            let now = limit.next_look();
            while next < (now - begin).as_secs() * records {
                write(&ring, next, state).expect("writable");
                next += 1;
            }
            if limit.is_used_up(now, &ring, Counted::default) {
                return true;
            }
        }
        false
    }

    #[rstest]
    #[case::hangs(5, 0, ENTERED, true)]
    #[case::is_still_within_its_limit(3, 0, ENTERED, false)]
    #[case::other_calls_return_meanwhile(60, 1, ENTERED, false)]
    #[case::nothing_calls_the_subject(60, 0, RETURNED, false)]
    fn a_call_hangs_that_has_not_returned_while_nothing_else_was_recorded(
        #[case] seconds: u64,
        #[case] records: u64,
        #[case] state: u32,
        #[case] expected: bool,
    ) {
        assert_eq!(is_used_up_within(seconds, records, state), expected);
    }
}
