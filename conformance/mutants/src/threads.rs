//! Tables that are wrong once several threads allocate.

use std::collections::HashMap;
use std::thread::{self, ThreadId};
use std::time::Duration;

use allocert_abi::emm::{IpcHandle, Memory, Status};

use crate::base::{Answer, Base, fail};
use crate::mutant::{Cell, Count, Mutation};

/// Serves the thread that came first, and gives all others one and the same block.
#[derive(Default)]
pub(crate) struct OneThread {
    first: Cell<Option<ThreadId>>,
    shared: Cell<Option<Memory>>,
}

impl Mutation for OneThread {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        if *self.first.lock().get_or_insert(thread::current().id()) == thread::current().id() {
            return Ok(memory);
        }
        let shared = *self.shared.lock().get_or_insert(memory);
        Ok(Memory { device_pointer: shared.device_pointer, ..memory })
    }

    fn reset(&self, base: &Base) -> Answer {
        self.shared.lock().take();
        base.reset()
    }
}

/// Copies its table to a larger one every 512 blocks, and locks nothing for as long: what other
/// threads enter meanwhile is lost.
#[derive(Default)]
pub(crate) struct GrowsUnlocked {
    /// The base's tokens by its own numbers.
    table: Cell<HashMap<u64, u64>>,
    count: Count,
    /// Numbers below are from before a reset.
    young: Count,
}

/// Tells its numbers from the base's tokens of host memory.
const NUMBERED: u64 = 1 << 62;

impl GrowsUnlocked {
    const ROOM: u64 = 512;
    /// A copy of a table that is long enough to matter.
    const COPYING: Duration = Duration::from_millis(1);

    fn grow(&self) {
        let copy = self.table.lock().clone();
        thread::sleep(Self::COPYING);
        *self.table.lock() = copy;
    }
}

impl Mutation for GrowsUnlocked {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        let number = self.count.next();
        if (number + 1).is_multiple_of(Self::ROOM) {
            self.grow();
        }
        self.table.lock().insert(number, memory.token);
        Ok(Memory { token: number | NUMBERED, ..memory })
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        let number = token & !NUMBERED;
        if number == token {
            return base.release(token);
        }
        let entry = self.table.lock().remove(&number);
        match entry {
            Some(token) => base.release(token),
            None if number < self.young.get() => Ok(()),
            None => Err(fail(Status::INTERNAL, format!("release: no block {number}"))),
        }
    }

    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        let entry = self.table.lock().get(&(token & !NUMBERED)).copied();
        base.get_ipc_handle(entry.filter(|_| token & NUMBERED != 0).unwrap_or(token), offset_bytes)
    }

    fn reset(&self, base: &Base) -> Answer {
        self.table.lock().clear();
        self.young.set(self.count.get());
        base.reset()
    }
}
