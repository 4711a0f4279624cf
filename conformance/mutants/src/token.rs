//! Wrong tokens, and wrong answers to wrong ones. No text but the C contract knows tokens.

use std::collections::HashSet;
use std::ffi::c_void;
use std::ptr::NonNull;

use allocert_abi::emm::{IpcHandle, Memory, Status};

use crate::base::{Answer, Base};
use crate::mutant::{Cell, Mutation};

fn is_invalid<T>(answer: &Answer<T>) -> bool {
    answer.as_ref().is_err_and(|failure| failure.status == Status::INVALID_VALUE)
}

/// Numbers its blocks, and gives the number of one that was released to the next.
#[derive(Default)]
pub(crate) struct TokenReused {
    /// The reference's tokens.
    numbers: Cell<Vec<Option<u64>>>,
}

impl Mutation for TokenReused {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        let mut numbers = self.numbers.lock();
        let at = numbers.iter().position(Option::is_none).unwrap_or(numbers.len());
        match numbers.get_mut(at) {
            Some(free) => *free = Some(memory.token),
            None => numbers.push(Some(memory.token)),
        }
        Ok(Memory { token: NUMBERED | (at as u64 + 1), ..memory })
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        if token & NUMBERED == 0 {
            return base.release(token);
        }
        let at = (token & !NUMBERED).wrapping_sub(1);
        let taken = self.numbers.lock().get_mut(at as usize).and_then(Option::take);
        base.release(taken.unwrap_or(0))
    }

    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        let at = (token & !NUMBERED).wrapping_sub(1);
        let known = self
            .numbers
            .lock()
            .get(at as usize)
            .copied()
            .flatten()
            .filter(|_| token & NUMBERED != 0);
        base.get_ipc_handle(known.unwrap_or(token), offset_bytes)
    }
}

/// Apart from the tokens of host memory, which are the reference's.
const NUMBERED: u64 = 1 << 62;

/// Counts its blocks from 0.
#[derive(Default)]
pub(crate) struct TokenZero(Cell<Option<u64>>);

impl Mutation for TokenZero {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        let mut zeroth = self.0.lock();
        if zeroth.is_some() {
            return Ok(memory);
        }
        *zeroth = Some(memory.token);
        Ok(Memory { token: 0, ..memory })
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        let zeroth = self.0.lock().filter(|_| token == 0);
        base.release(zeroth.unwrap_or(token))
    }

    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        let zeroth = self.0.lock().filter(|_| token == 0);
        base.get_ipc_handle(zeroth.unwrap_or(token), offset_bytes)
    }
}

/// Lets a block be released as often as anybody likes.
#[derive(Default)]
pub(crate) struct ReleasedAgain(Cell<HashSet<u64>>);

impl Mutation for ReleasedAgain {
    fn release(&self, base: &Base, token: u64) -> Answer {
        let answer = base.release(token);
        let first = self.0.lock().insert(token);
        if is_invalid(&answer) && !first { Ok(()) } else { answer }
    }
}

/// Answers that all is well where a token was never given.
#[derive(Default)]
pub(crate) struct ReleasedUnknown(Cell<HashSet<u64>>);

impl ReleasedUnknown {
    fn enter(&self, memory: Memory) -> Memory {
        self.0.lock().insert(memory.token);
        memory
    }
}

impl Mutation for ReleasedUnknown {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        base.memalloc(size_bytes).map(|memory| self.enter(memory))
    }

    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags).map(|memory| self.enter(memory))
    }

    fn mempin(
        &self,
        base: &Base,
        pointer: NonNull<c_void>,
        size_bytes: u64,
        flags: u32,
    ) -> Answer<Memory> {
        base.mempin(pointer, size_bytes, flags).map(|memory| self.enter(memory))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        let answer = base.release(token);
        if is_invalid(&answer) && !self.0.lock().contains(&token) { Ok(()) } else { answer }
    }
}

/// Gives memory that is not mapped the address that it would have on the device.
#[derive(Default)]
pub(crate) struct PinnedOnDevice;

impl Mutation for PinnedOnDevice {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let memory = base.memhostalloc(size_bytes, flags)?;
        Ok(Memory { device_pointer: memory.host_pointer.addr() as u64, ..memory })
    }
}

/// Keeps its own affairs in the member that is reserved.
#[derive(Default)]
pub(crate) struct ReservedUsed;

impl Mutation for ReservedUsed {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(Memory { reserved: size_bytes as u32 | 1, ..base.memalloc(size_bytes)? })
    }
}
