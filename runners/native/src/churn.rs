//! Many allocations in a row or at once. What they are checked for is said as numbers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
use std::thread;

use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::context::driver_error;
use crate::names::{Halt, Owner};
use crate::scene::Scene;
use crate::subject::{Memory, facts};

const ALIGNMENT_BYTES: u64 = 256;
/// So many allocations each thread of a stress keeps alive.
const STRESS_HOLD: usize = 4;

/// What is alive, by address, and what was wrong with it.
#[derive(Debug, Default)]
struct Alive {
    ends: BTreeMap<u64, u64>,
    failed: u64,
    overlaps: u64,
    misaligned: u64,
}

impl Alive {
    /// Enters a block of the size that was asked for.
    fn enter(&mut self, memory: &Memory, size_bytes: u64) {
        let (start, end) = (memory.pointer, memory.pointer.saturating_add(size_bytes));
        if !start.is_multiple_of(ALIGNMENT_BYTES) {
            self.misaligned += 1;
        }
        let below = self.ends.range(..=start).next_back().is_some_and(|(_, end)| *end > start);
        let above = self.ends.range(start..end).next().is_some();
        if below || above {
            self.overlaps += 1;
        }
        self.ends.insert(start, end);
    }

    fn leave(&mut self, memory: &Memory) {
        self.ends.remove(&memory.pointer);
    }

    fn allocate(&mut self, owner: &Owner, size_bytes: u64) -> Option<Memory> {
        let memory = owner.manager.memalloc(size_bytes).ok();
        match &memory {
            Some(memory) => self.enter(memory, size_bytes),
            None => self.failed += 1,
        }
        memory
    }
}

impl Scene<'_> {
    /// `times` allocations, at most `hold` of them alive at a time.
    pub(crate) fn churn(&mut self, on: &str, size_bytes: u64, times: u64, hold: u64) -> Result<Facts, Halt> {
        let owner = self.names.manager(on)?;
        let mut alive = Alive::default();
        let mut held = VecDeque::new();
        for _ in 0..times {
            held.extend(alive.allocate(&owner, size_bytes));
            if held.len() as u64 >= hold
                && let Some(oldest) = held.pop_front()
            {
                alive.leave(&oldest);
                owner.manager.release(oldest.token)?;
            }
        }
        for rest in held {
            owner.manager.release(rest.token)?;
        }
        Ok(facts([
            ("failed", json!(alive.failed)),
            ("overlaps", json!(alive.overlaps)),
            ("misaligned", json!(alive.misaligned)),
        ]))
    }

    /// `times` allocations and releases on each of several threads.
    pub(crate) fn stress(&mut self, on: &str, threads: u32, size_bytes: u64, times: u64) -> Result<Facts, Halt> {
        let owner = self.names.manager(on)?;
        let context = self.context(owner.device)?;
        let driver = self.driver()?;
        let alive = Mutex::new(Alive::default());
        let ready = Barrier::new(threads as usize);
        let recorder = self.recorder;
        let work = || {
            // One at a time and before the first call of the subject, so that the marks enclose no call of it.
            let attached = {
                let _turn = lock(&alive);
                recorder.aside(|| driver.ctx_set_current(Some(context)))
            };
            ready.wait();
            let mut held = VecDeque::new();
            let result = match attached {
                Ok(()) => hammer(&owner, &alive, &mut held, size_bytes, times),
                Err(error) => Err(driver_error(error)),
            };
            // What one thread holds, all others have seen by now.
            ready.wait();
            for rest in held {
                lock(&alive).leave(&rest);
                owner.manager.release(rest.token)?;
            }
            Ok::<(), Halt>(result?)
        };
        let all: Result<(), Halt> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let mut joined = workers.into_iter().map(|worker| worker.join());
            joined.try_for_each(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        all?;
        let alive = lock(&alive);
        Ok(facts([("failed", json!(alive.failed)), ("overlaps", json!(alive.overlaps))]))
    }
}

/// What one thread of a stress does; `held` is what it has when it is done.
fn hammer(
    owner: &Owner,
    alive: &Mutex<Alive>,
    held: &mut VecDeque<Memory>,
    size_bytes: u64,
    times: u64,
) -> Result<(), Raised> {
    for _ in 0..times {
        match owner.manager.memalloc(size_bytes) {
            Ok(memory) => {
                lock(alive).enter(&memory, size_bytes);
                held.push_back(memory);
            }
            Err(_) => lock(alive).failed += 1,
        }
        if held.len() > STRESS_HOLD
            && let Some(oldest) = held.pop_front()
        {
            lock(alive).leave(&oldest);
            owner.manager.release(oldest.token)?;
        }
    }
    Ok(())
}

fn lock(alive: &Mutex<Alive>) -> MutexGuard<'_, Alive> {
    alive.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(pointer: u64) -> Memory {
        Memory { kind: 0, pointer, host_pointer: 0, size_bytes: 256, token: pointer }
    }

    #[test]
    fn overlaps_are_counted_from_both_sides_and_neighbours_are_none() {
        let mut alive = Alive::default();
        for pointer in [0x1000, 0x1100, 0x0f80, 0x1080] {
            alive.enter(&block(pointer), 256);
        }
        assert_eq!((alive.overlaps, alive.misaligned), (2, 2));
        alive.leave(&block(0x1000));
        assert_eq!(alive.ends.len(), 3);
    }
}
