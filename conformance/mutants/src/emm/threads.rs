//! Mutations that go wrong once several threads allocate.

use std::collections::HashMap;
use std::thread;
use std::time::Duration;

use allocert_abi::emm::{IpcHandle, Memory, Status};
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{Answer, BaseManager, OWN_TOKEN, fail};
use crate::emm::mutation::state::{Count, FirstThread, Locked};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_other_threads_share_block => Mutant<OtherThreadsShareBlock>,
    mutant_table_grows_without_lock => Mutant<TableGrowsWithoutLock>,
    mutant_serves_initializing_thread => Mutant<ServesInitializingThread>,
}

/// Serves the first thread, and returns one and the same block to all other threads.
#[derive(Default)]
struct OtherThreadsShareBlock {
    first: FirstThread,
    shared: Locked<Option<Memory>>,
}

impl Mutation for OtherThreadsShareBlock {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        self.first.record();
        if self.first.is_current() {
            return Ok(memory);
        }
        let shared = *self.shared.lock().get_or_insert(memory);
        Ok(Memory { device_pointer: shared.device_pointer, ..memory })
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        self.shared.lock().take();
        base.reset()
    }
}

/// Copies its token table without a lock every 512 blocks, and loses what other threads add
/// meanwhile.
#[derive(Default)]
struct TableGrowsWithoutLock {
    /// The base manager's tokens by the mutation's own numbers.
    table: Locked<HashMap<u64, u64>>,
    count: Count,
    /// Blocks with lower numbers were returned before the last reset.
    first_after_reset: Count,
}

impl TableGrowsWithoutLock {
    const BLOCKS_PER_COPY: u64 = 512;
    /// How long a copy takes: long enough for other threads to add blocks.
    const COPY_TIME: Duration = Duration::from_millis(1);

    fn grow(&self) {
        let copy = self.table.lock().clone();
        thread::sleep(Self::COPY_TIME);
        *self.table.lock() = copy;
    }
}

impl Mutation for TableGrowsWithoutLock {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        let number = self.count.increment();
        if (number + 1).is_multiple_of(Self::BLOCKS_PER_COPY) {
            self.grow();
        }
        self.table.lock().insert(number, memory.token);
        Ok(Memory { token: number | OWN_TOKEN, ..memory })
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        let number = token & !OWN_TOKEN;
        if number == token {
            return base.release(token);
        }
        let entry = self.table.lock().remove(&number);
        match entry {
            Some(token) => base.release(token),
            None if number < self.first_after_reset.get() => Ok(()),
            None => Err(fail(Status::INTERNAL, format!("release: no block {number}"))),
        }
    }

    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        let entry = self.table.lock().get(&(token & !OWN_TOKEN)).copied();
        base.get_ipc_handle(entry.filter(|_| token & OWN_TOKEN != 0).unwrap_or(token), offset_bytes)
    }

    fn reset(&self, base: &BaseManager) -> Answer {
        self.table.lock().clear();
        self.first_after_reset.set(self.count.get());
        base.reset()
    }
}

/// Asks each thread that allocates to call initialize() first.
#[derive(Default)]
struct ServesInitializingThread {
    first: FirstThread,
}

impl Mutation for ServesInitializingThread {
    fn initialize(&self, base: &BaseManager) -> Answer {
        self.first.record();
        base.initialize()
    }

    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        if !self.first.is_current() {
            return Err(fail(Status::STATE, "memalloc: not initialized on this thread"));
        }
        base.memalloc(size_bytes)
    }
}
