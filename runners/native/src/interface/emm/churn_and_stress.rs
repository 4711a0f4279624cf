//! The operations `churn`, `churn_mixed` and `stress`: many allocations, in a row or on several
//! threads at once. The facts count what was wrong.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex, PoisonError};
use std::thread;

use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::device_bytes::{fill_device, is_filled_device};
use crate::interface::emm::bindings::CaseManager;
use crate::interface::emm::case::EmmCase;
use crate::interface::emm::subject::Memory;
use crate::live_blocks::{LiveBlocks, Random};
use crate::step_result::{NoResult, driver_error, facts};

const ALIGNMENT_BYTES: u64 = 256;
/// So many allocations each thread of a stress keeps alive.
const STRESS_HOLD: usize = 4;

impl EmmCase<'_> {
    /// `times` allocations, at most `hold` of them alive at a time.
    pub(crate) fn churn(
        &mut self,
        on: &str,
        size_bytes: u64,
        times: u64,
        hold: u64,
    ) -> Result<Facts, NoResult> {
        let owner = self.bindings.manager(on)?;
        let (mut alive, mut failed) =
            (LiveBlocks::new(|_| ALIGNMENT_BYTES), FailedRequests::default());
        let mut held = VecDeque::new();
        for _ in 0..times {
            held.extend(allocate(&owner, &mut alive, &mut failed, size_bytes));
            if held.len() as u64 >= hold
                && let Some(oldest) = held.pop_front()
            {
                alive.leave(oldest.pointer);
                owner.manager.release(oldest.token)?;
            }
        }
        for rest in held {
            owner.manager.release(rest.token)?;
        }
        let mut counts = alive.facts();
        counts.extend(failed.facts());
        Ok(counts)
    }

    /// `times` allocations of sizes up to `size_bytes`, at most `hold` of them alive at a time,
    /// released in no order. Each is filled with a byte of its own and looked at when it goes.
    pub(crate) fn churn_mixed(
        &mut self,
        on: &str,
        size_bytes: u64,
        times: u64,
        hold: u64,
    ) -> Result<Facts, NoResult> {
        let owner = self.bindings.manager(on)?;
        let driver = self.driver()?;
        let (mut alive, mut held, mut random, mut changed) =
            (LiveBlocks::new(|_| ALIGNMENT_BYTES), Vec::new(), Random::default(), 0u64);
        let mut failed = FailedRequests::default();
        for number in 0..times {
            let size_bytes = random.below(size_bytes) + 1;
            if let Some(memory) = allocate(&owner, &mut alive, &mut failed, size_bytes) {
                let byte = (number % 255) as u8;
                // One that cannot be written is found when it is read.
                let _ = self
                    .recorder
                    .as_harness(|| fill_device(driver, memory.pointer, byte, size_bytes));
                held.push((memory, size_bytes, byte));
            }
            if held.len() as u64 >= hold.max(1) {
                let (memory, size_bytes, byte) =
                    held.swap_remove(random.below(held.len() as u64) as usize);
                let kept = self
                    .recorder
                    .as_harness(|| is_filled_device(driver, memory.pointer, byte, size_bytes));
                changed += u64::from(!matches!(kept, Ok(true)));
                alive.leave(memory.pointer);
                owner.manager.release(memory.token)?;
            }
        }
        for (rest, ..) in held {
            owner.manager.release(rest.token)?;
        }
        let mut counts = alive.facts();
        counts.extend(facts([("changed", json!(changed))]));
        counts.extend(failed.facts());
        Ok(counts)
    }

    /// `times` allocations and releases on each of several threads.
    pub(crate) fn stress(
        &mut self,
        on: &str,
        threads: u32,
        size_bytes: u64,
        times: u64,
    ) -> Result<Facts, NoResult> {
        let owner = self.bindings.manager(on)?;
        let context = self.context(owner.device)?;
        let driver = self.driver()?;
        let (ready, clock, turn) =
            (Barrier::new(threads as usize), AtomicU64::new(0), Mutex::new(()));
        let recorder = self.recorder;
        let work = || {
            // One at a time and before the first call of the subject, so that the markers enclose
            // no call of it.
            let attached = {
                let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
                recorder.as_harness(|| driver.ctx_set_current(Some(context)))
            };
            ready.wait();
            let mut log = ThreadLog::new(&clock);
            let result = match attached {
                Ok(()) => allocate_repeatedly(&owner, &mut log, size_bytes, times),
                Err(error) => Err(driver_error(error)),
            };
            // What one thread holds, all others have seen by now.
            ready.wait();
            while let Some(rest) = log.held.pop_front() {
                log.leave(rest);
                owner.manager.release(rest.token)?;
            }
            result?;
            Ok::<_, NoResult>(log)
        };
        let logs: Result<Vec<ThreadLog<'_>>, NoResult> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let joined = workers.into_iter().map(|worker| worker.join());
            joined
                .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        let logs = logs?;
        let failed = logs.iter().map(|log| log.failed);
        let mut counts = failed.fold(FailedRequests::default(), FailedRequests::add).facts();
        counts.extend(facts([("overlaps", json!(overlaps(logs, size_bytes)))]));
        Ok(counts)
    }
}

/// One allocation, entered among what is alive.
fn allocate(
    owner: &CaseManager,
    alive: &mut LiveBlocks,
    failed: &mut FailedRequests,
    size_bytes: u64,
) -> Option<Memory> {
    let memory = owner.manager.memalloc(size_bytes);
    match &memory {
        Ok(memory) => alive.enter(memory.pointer, size_bytes),
        Err(raised) => failed.note(raised),
    }
    memory.ok()
}

/// How many requests failed, and whether the first one was said to be out of memory.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FailedRequests {
    count: u64,
    first_is_out_of_memory: Option<bool>,
}

impl FailedRequests {
    pub(crate) fn note(&mut self, raised: &Raised) {
        self.count += 1;
        let is_out_of_memory = raised.status.as_deref() == Some("OUT_OF_MEMORY");
        self.first_is_out_of_memory.get_or_insert(is_out_of_memory);
    }

    /// Adds those of another thread.
    fn add(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            first_is_out_of_memory: self.first_is_out_of_memory.or(other.first_is_out_of_memory),
        }
    }

    /// `failed` and `out_of_memory`.
    pub(crate) fn facts(self) -> Facts {
        facts([
            ("failed", json!(self.count)),
            ("out_of_memory", json!(self.first_is_out_of_memory == Some(true))),
        ])
    }
}

/// What one thread of a stress had, and when. Each has its own: a shared one would make the
/// threads wait for each other outside of the subject.
struct ThreadLog<'a> {
    clock: &'a AtomicU64,
    held: VecDeque<Memory>,
    entries: Vec<(u64, Entry)>,
    failed: FailedRequests,
}

#[derive(Clone, Copy)]
enum Entry {
    Came(Memory),
    Goes(Memory),
}

impl<'a> ThreadLog<'a> {
    fn new(clock: &'a AtomicU64) -> Self {
        Self {
            clock,
            held: VecDeque::new(),
            entries: Vec::new(),
            failed: FailedRequests::default(),
        }
    }

    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn came(&mut self, memory: Memory) {
        self.entries.push((self.now(), Entry::Came(memory)));
        self.held.push_back(memory);
    }

    fn leave(&mut self, memory: Memory) {
        self.entries.push((self.now(), Entry::Goes(memory)));
    }
}

/// What one thread of a stress does.
fn allocate_repeatedly(
    owner: &CaseManager,
    log: &mut ThreadLog<'_>,
    size_bytes: u64,
    times: u64,
) -> Result<(), Raised> {
    for _ in 0..times {
        match owner.manager.memalloc(size_bytes) {
            Ok(memory) => log.came(memory),
            Err(raised) => log.failed.note(&raised),
        }
        if log.held.len() > STRESS_HOLD
            && let Some(oldest) = log.held.pop_front()
        {
            log.leave(oldest);
            owner.manager.release(oldest.token)?;
        }
    }
    Ok(())
}

/// How often a block came that met another one which its thread still had.
fn overlaps(logs: Vec<ThreadLog<'_>>, size_bytes: u64) -> u64 {
    let mut entries: Vec<(u64, Entry)> = logs.into_iter().flat_map(|log| log.entries).collect();
    entries.sort_unstable_by_key(|(at, _)| *at);
    let mut alive = LiveBlocks::new(|_| ALIGNMENT_BYTES);
    for (_, entry) in entries {
        match entry {
            Entry::Came(memory) => alive.enter(memory.pointer, size_bytes),
            Entry::Goes(memory) => alive.leave(memory.pointer),
        }
    }
    alive.overlaps()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(pointer: u64) -> Memory {
        Memory { kind: 0, pointer, host_pointer: 0, size_bytes: 256, token: pointer }
    }

    #[test]
    fn threads_overlap_where_a_block_came_before_the_same_one_went() {
        let clock = AtomicU64::new(0);
        let (mut one, mut other) = (ThreadLog::new(&clock), ThreadLog::new(&clock));
        one.came(block(0x1000));
        one.leave(block(0x1000));
        other.came(block(0x1000));
        other.came(block(0x2000));
        one.came(block(0x2080));
        assert_eq!(overlaps(vec![one, other], 256), 1);
    }
}
