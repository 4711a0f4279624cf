use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Driver, Error, Result};

/// Memory that was released and waits to be freed: Numba's deallocation list (NBEP 7, "Deallocation
/// strategies"). Shared by the two halves of a manager, as Numba shares it.
///
/// Everything is freed as soon as more than ten entries wait, or more than a fifth of the capacity.
/// Until a capacity is set it counts as 0, so that every release frees at once. Inside a `defer`
/// pair nothing is freed.
#[derive(Debug)]
pub struct Pending<R> {
    driver: R,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    discards: Vec<Discard>,
    bytes: u64,
    capacity_bytes: u64,
    depth: usize,
}

/// One entry to be freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discard {
    Device { pointer: u64, size_bytes: u64 },
    Host { pointer: usize, size_bytes: u64 },
}

const MAX_COUNT: usize = 10;
const CAPACITY_DIVISOR: u64 = 5;

impl<R: Driver> Pending<R> {
    #[must_use]
    pub fn new(driver: R) -> Self {
        Self { driver, queue: Mutex::default() }
    }

    /// The memory of the device, of which a fifth may wait.
    pub(crate) fn set_capacity(&self, bytes: u64) {
        self.queue().capacity_bytes = bytes;
    }

    pub(crate) fn has_capacity(&self) -> bool {
        self.queue().capacity_bytes != 0
    }

    pub(crate) fn add(&self, discard: Discard) -> Result<()> {
        let due = {
            let mut queue = self.queue();
            queue.push(discard);
            queue.take_due()
        };
        self.free(due)
    }

    /// Makes an allocation; where memory is short, frees what waits and tries once more.
    pub(crate) fn retrying<T>(&self, allocate: impl Fn() -> Result<T>) -> Result<T> {
        match allocate() {
            Err(error) if error.is_out_of_memory() && self.flush() => allocate(),
            result => result,
        }
    }

    /// Frees all that waits, unless inside a `defer` pair: then it answers false.
    fn flush(&self) -> bool {
        let due = {
            let mut queue = self.queue();
            if queue.depth > 0 {
                return false;
            }
            queue.take_all()
        };
        // Whatever the driver refuses here concerns older releases, not the call being served.
        let _ = self.free(due);
        true
    }

    /// Frees all that waits, also inside a `defer` pair.
    pub(crate) fn clear(&self) {
        let due = self.queue().take_all();
        let _ = self.free(due);
    }

    pub(crate) fn defer_begin(&self) {
        self.queue().depth += 1;
    }

    pub(crate) fn defer_end(&self) -> Result<()> {
        let due = {
            let mut queue = self.queue();
            queue.depth =
                queue.depth.checked_sub(1).ok_or(Error::State("defer_end without defer_begin"))?;
            queue.take_due()
        };
        // The pair has ended whatever the driver says about memory released within.
        let _ = self.free(due);
        Ok(())
    }

    /// Frees each, also after a failure, and answers with the first failure. Holds no lock.
    fn free(&self, discards: Vec<Discard>) -> Result<()> {
        let mut first = Ok(());
        for discard in discards {
            let result = match discard {
                Discard::Device { pointer, .. } => self.driver.mem_free(pointer),
                Discard::Host { pointer, .. } => self.driver.host_free(pointer),
            };
            first = first.and(result.map_err(Error::from));
        }
        first
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn push(&mut self, discard: Discard) {
        let (Discard::Device { size_bytes, .. } | Discard::Host { size_bytes, .. }) = discard;
        self.bytes = self.bytes.saturating_add(size_bytes);
        self.discards.push(discard);
    }

    fn take_due(&mut self) -> Vec<Discard> {
        let full =
            self.discards.len() > MAX_COUNT || self.bytes > self.capacity_bytes / CAPACITY_DIVISOR;
        if self.depth == 0 && full { self.take_all() } else { Vec::new() }
    }

    fn take_all(&mut self) -> Vec<Discard> {
        self.bytes = 0;
        std::mem::take(&mut self.discards)
    }
}
