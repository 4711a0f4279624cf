//! How long a case has worked: the time on the clock, without the time in which its processes
//! waited for a processor. A machine that is busy with something else uses up nobody's limit.
//!
//! Linux counts for each thread how long it ran and how long it was ready to run and did not
//! (`/proc/PID/task/TID/schedstat`; kernel documentation, "Scheduler Statistics"). Where a kernel
//! does not tell, all time on the clock counts.

use std::fs;
use std::time::{Duration, Instant};

use crate::parallel;
use crate::process_table::ProcessTable;

/// A case that has used so many times its limit on the clock has used its limit, whatever else the
/// machine is busy with.
const LONGEST: u32 = 100;
/// The shortest extension, so that a case close to its limit is not looked at all the time.
const SHORTEST_EXTENSION: Duration = Duration::from_millis(50);

/// A limit on the time that processes work.
#[derive(Debug)]
pub(crate) struct OwnTime {
    limit: Duration,
    began: Instant,
    next_look: Instant,
    /// What had been counted when the time began, as far as that can be told at the first look.
    before: Option<Counted>,
}

/// What the kernel has counted for some processes since they began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    ran: Duration,
    waited: Duration,
}

impl OwnTime {
    pub(crate) fn begin(limit: Duration, now: Instant) -> Self {
        Self { limit, began: now, next_look: now + limit, before: None }
    }

    /// When to look next: before that the limit cannot be used up.
    pub(crate) fn next_look(&self) -> Instant {
        self.next_look
    }

    /// Takes in what was counted by `now`, and tells whether the limit is used up.
    pub(crate) fn is_used_up(&mut self, now: Instant, counted: Counted) -> bool {
        let elapsed = now - self.began;
        // A process may have a past: of its waiting no more can be of this time than this time is
        // long, and of its running nothing is known.
        let before = *self.before.get_or_insert(Counted {
            ran: counted.ran,
            waited: counted.waited.saturating_sub(elapsed),
        });
        let waited = counted.waited.saturating_sub(before.waited).min(elapsed);
        // Threads that take turns on the cores wait for each other; they used what they ran.
        let cores = u32::try_from(parallel::cores().get()).unwrap_or(u32::MAX);
        let shared = counted.ran.saturating_sub(before.ran) / cores;
        let used = (elapsed - waited).max(shared);
        self.next_look = now + self.limit.saturating_sub(used).max(SHORTEST_EXTENSION);
        used >= self.limit || elapsed >= self.limit * LONGEST
    }
}

impl Counted {
    /// What was counted for a process and all its descendants that are alive.
    pub(crate) fn of(root: u32) -> Self {
        let Ok(root) = i32::try_from(root) else { return Self::default() };
        let mut processes = ProcessTable::read().descendants(root);
        processes.insert(root);
        let threads = processes.into_iter().flat_map(|pid| {
            fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten()
        });
        threads
            .filter_map(|thread| parse(&fs::read_to_string(thread.path().join("schedstat")).ok()?))
            .fold(Self::default(), |sum, one| Self {
                ran: sum.ran + one.ran,
                waited: sum.waited + one.waited,
            })
    }
}

/// `ran waited slices`, the times in nanoseconds.
fn parse(schedstat: &str) -> Option<Counted> {
    let mut fields = schedstat.split_ascii_whitespace().map(|field| field.parse().ok());
    let mut time = || Some(Duration::from_nanos(fields.next()??));
    Some(Counted { ran: time()?, waited: time()? })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(4);

    fn counted(ran: f64, waited: f64) -> Counted {
        Counted { ran: Duration::from_secs_f64(ran), waited: Duration::from_secs_f64(waited) }
    }

    /// Looks whenever it is due, and gives the seconds on the clock until the limit is used up. In
    /// each second the processes run and wait for so many; `past` is what they waited before.
    fn seconds_until_used_up(past: f64, ran: f64, waited: f64) -> f64 {
        let began = Instant::now();
        let mut time = OwnTime::begin(LIMIT, began);
        loop {
            let now = time.next_look();
            let seconds = (now - began).as_secs_f64();
            let counted = counted(ran * seconds, past + waited * seconds);
            if time.is_used_up(now, counted) {
                return seconds;
            }
        }
    }

    #[rstest]
    #[case::hangs(0.0, 0.0, 0.0, 4.0)]
    #[case::loops_alone(0.0, 1.0, 0.0, 4.0)]
    #[case::loops_on_a_third_of_a_core(0.0, 1.0 / 3.0, 2.0 / 3.0, 12.0)]
    #[case::sleeps_and_waits(0.0, 0.0, 0.5, 8.0)]
    #[case::never_gets_a_core(0.0, 0.0, 1.0, 400.0)]
    #[case::hangs_after_a_long_past(100.0, 0.0, 0.0, 8.0)]
    #[case::hangs_after_a_short_past(1.0, 0.0, 0.0, 5.0)]
    fn what_is_waited_for_a_core_is_not_used(
        #[case] past: f64,
        #[case] ran: f64,
        #[case] waited: f64,
        #[case] seconds: f64,
    ) {
        let until = seconds_until_used_up(past, ran, waited);
        assert!((seconds - 0.2..seconds + 0.2).contains(&until), "{until}");
    }

    #[test]
    fn many_threads_that_take_turns_use_what_they_run() {
        let cores = parallel::cores().get() as f64;
        let until = seconds_until_used_up(0.0, cores, 20.0);
        assert!((7.8..8.2).contains(&until), "{until}");
    }

    #[test]
    fn this_process_has_run() {
        let own = std::process::id();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(20) {}
        let counted = Counted::of(own);
        // A kernel that does not count says nothing at all.
        assert!(counted.ran > Duration::ZERO || counted == Counted::default(), "{counted:?}");
    }

    #[test]
    fn reads_what_the_kernel_tells() {
        assert_eq!(
            parse("1508614 5626045 2\n"),
            Some(Counted {
                ran: Duration::from_nanos(1_508_614),
                waited: Duration::from_nanos(5_626_045),
            })
        );
        assert_eq!(parse(""), None);
    }
}
