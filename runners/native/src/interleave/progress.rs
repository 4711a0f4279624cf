//! Whether a thread waits for a lock, or only for a processor: on a busy machine a thread that
//! needs no lock may not run for many milliseconds.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// The clock of the CPU time of the observed thread. 0 is another clock, and stands for none.
static CLOCK: AtomicI32 = AtomicI32::new(0);
/// Its file of `/proc`, which says whether it sleeps.
static STAT: AtomicI32 = AtomicI32::new(-1);

/// The calling thread is observed while this lives.
pub(super) struct Observed {
    _stat: Option<File>,
}

impl Observed {
    pub(super) fn begin() -> Self {
        let mut clock = 0;
        // SAFETY: has no conditions.
        let thread = unsafe { libc::pthread_self() };
        // SAFETY: the thread is the calling one, and `clock` can be written to.
        let failed = unsafe { libc::pthread_getcpuclockid(thread, &raw mut clock) };
        CLOCK.store(if failed == 0 { clock } else { 0 }, Ordering::SeqCst);
        let stat = File::open("/proc/thread-self/stat").ok();
        STAT.store(stat.as_ref().map_or(-1, File::as_raw_fd), Ordering::SeqCst);
        Self { _stat: stat }
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        STAT.store(-1, Ordering::SeqCst);
        CLOCK.store(0, Ordering::SeqCst);
    }
}

/// What the observed thread does from now on. A handler of a signal may use it.
pub(super) struct Progress {
    cpu_time: Option<Duration>,
}

impl Progress {
    pub(super) fn of_other() -> Self {
        Self { cpu_time: cpu_time() }
    }

    /// Whether the thread sleeps, or has run for so long that it must be trying to take a lock.
    /// True as well where nobody can tell.
    pub(super) fn needs_a_lock(&self, limit: Duration) -> bool {
        let (Some(before), Some(now)) = (self.cpu_time, cpu_time()) else {
            return true;
        };
        now.saturating_sub(before) > limit || sleeps()
    }
}

fn cpu_time() -> Option<Duration> {
    let clock = Some(CLOCK.load(Ordering::SeqCst)).filter(|clock| *clock != 0)?;
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: `time` can be written to.
    let failed = unsafe { libc::clock_gettime(clock, time.as_mut_ptr()) };
    // SAFETY: the call wrote it where it did not fail.
    let time = (failed == 0).then(|| unsafe { time.assume_init() })?;
    Some(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// Whether the thread is in the state `S`, behind its name in parentheses.
fn sleeps() -> bool {
    let mut text = [0_u8; 128];
    let stat = STAT.load(Ordering::SeqCst);
    // SAFETY: the buffer has so many bytes. A file that is closed meanwhile is an error.
    let length = unsafe { libc::pread(stat, text.as_mut_ptr().cast(), text.len(), 0) };
    let Ok(length) = usize::try_from(length) else {
        return true;
    };
    let state = text[..length].rsplitn(2, |byte| *byte == b')').next();
    state.is_none_or(|state| state.starts_with(b" S"))
}

#[cfg(test)]
mod tests {
    use std::hint;
    use std::sync::Barrier;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;

    const LIMIT: Duration = Duration::from_millis(2);

    /// One test, since one thread is observed at a time.
    #[test]
    fn a_thread_that_sleeps_or_runs_on_needs_a_lock() {
        let barrier = Barrier::new(2);
        let [runs, ends] = [const { AtomicBool::new(false) }; 2];
        assert!(Progress::of_other().needs_a_lock(LIMIT), "nobody is observed");
        thread::scope(|scope| {
            scope.spawn(|| {
                let _observed = Observed::begin();
                runs.store(true, Ordering::SeqCst);
                while !ends.load(Ordering::SeqCst) {
                    hint::spin_loop();
                }
                barrier.wait();
            });
            while !runs.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            let progress = Progress::of_other();
            while !progress.needs_a_lock(LIMIT) {
                thread::yield_now();
            }
            let ran = cpu_time().expect("observed") - progress.cpu_time.expect("observed");
            assert!(ran > LIMIT, "it did not sleep: {ran:?}");
            ends.store(true, Ordering::SeqCst);
            // It waits at the barrier, and runs no more.
            while !Progress::of_other().needs_a_lock(LIMIT) {
                thread::yield_now();
            }
            barrier.wait();
        });
    }
}
