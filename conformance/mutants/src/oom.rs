//! Wrong answers to a lack of memory, and to other errors of the driver.

use allocert_abi::emm::{KIND_DEVICE, Memory, Status};

use crate::base::{Answer, Base, fail};
use crate::mutant::{Cell, Flag, Live, Mutation};

fn is_oom<T>(answer: &Answer<T>) -> bool {
    answer.as_ref().is_err_and(|failure| failure.status == Status::OUT_OF_MEMORY)
}

/// What a mutant gives in the place of an error.
fn nothing(size_bytes: u64) -> Memory {
    Memory { size_bytes, token: u64::MAX, ..Memory::empty() }
}

/// Calls a lack of memory a success.
#[derive(Default)]
pub(crate) struct OomIsNull;

impl Mutation for OomIsNull {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let answer = base.memalloc(size_bytes);
        if is_oom(&answer) { Ok(nothing(size_bytes)) } else { answer }
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        if token == u64::MAX { Ok(()) } else { base.release(token) }
    }
}

/// Calls a lack of memory a defect of its own.
#[derive(Default)]
pub(crate) struct OomIsInternal;

impl Mutation for OomIsInternal {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let answer = base.memalloc(size_bytes);
        if is_oom(&answer) {
            Err(fail(Status::INTERNAL, "memalloc: std::bad_alloc"))
        } else {
            answer
        }
    }
}

/// Frees a live block when memory is short.
#[derive(Default)]
pub(crate) struct OomEvicts {
    live: Live,
}

impl Mutation for OomEvicts {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let answer = base.memalloc(size_bytes);
        if is_oom(&answer)
            && let Some(victim) = self.live.oldest()
        {
            self.live.leave(victim.token);
            base.release(victim.token)?;
        }
        answer.map(|memory| self.live.enter(memory))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        self.live.leave(token);
        // A victim's token was spent before.
        base.release(token).or(Ok(()))
    }

    fn reset(&self, base: &Base) -> Answer {
        self.live.clear();
        base.reset()
    }
}

/// Never serves again once memory was short.
#[derive(Default)]
pub(crate) struct OomIsFinal {
    over: Flag,
}

impl Mutation for OomIsFinal {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        if self.over.is_up() {
            return Err(fail(Status::OUT_OF_MEMORY, "memalloc: out of memory before"));
        }
        let answer = base.memalloc(size_bytes);
        if is_oom(&answer) {
            self.over.raise();
        }
        answer
    }

    fn reset(&self, base: &Base) -> Answer {
        self.over.lower();
        base.reset()
    }
}

/// Keeps released blocks for requests of the same size, and keeps them when memory is short.
#[derive(Default)]
pub(crate) struct Hoards {
    live: Live,
    hoard: Cell<Vec<Memory>>,
}

impl Hoards {
    fn find(&self, like: impl Fn(&Memory) -> bool) -> Option<Memory> {
        let mut hoard = self.hoard.lock();
        let at = hoard.iter().position(like)?;
        Some(hoard.remove(at))
    }
}

impl Mutation for Hoards {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let same =
            self.find(|memory| memory.kind == KIND_DEVICE && memory.size_bytes == size_bytes);
        let memory = same.map_or_else(|| base.memalloc(size_bytes), Ok)?;
        Ok(self.live.enter(memory))
    }

    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let memory = base.memhostalloc(size_bytes, flags)?;
        Ok(self.live.enter(memory))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        match self.live.leave(token) {
            Some(memory) => {
                self.hoard.lock().push(memory);
                Ok(())
            }
            None => base.release(token),
        }
    }

    fn reset(&self, base: &Base) -> Answer {
        self.live.clear();
        self.hoard.lock().clear();
        base.reset()
    }
}

/// Calls any other error of the driver a success.
#[derive(Default)]
pub(crate) struct ErrorIsNull;

impl Mutation for ErrorIsNull {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        match base.memalloc(size_bytes) {
            Err(failure) if failure.status == Status::DRIVER_ERROR => Ok(nothing(size_bytes)),
            answer => answer,
        }
    }

    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags).or_else(|_| Ok(nothing(size_bytes)))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        if token == u64::MAX { Ok(()) } else { base.release(token) }
    }
}

/// Gives nothing back any more once memory was short.
#[derive(Default)]
pub(crate) struct OomBlocksReset {
    over: Flag,
}

impl Mutation for OomBlocksReset {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let answer = base.memalloc(size_bytes);
        if is_oom(&answer) {
            self.over.raise();
        }
        answer
    }

    fn reset(&self, base: &Base) -> Answer {
        if self.over.is_up() { Ok(()) } else { base.reset() }
    }

    fn destroy(&self, base: Base) {
        std::mem::forget(base);
    }
}

/// Keeps released blocks for requests of the same size. How its list goes astray when memory is
/// short is the mutation.
#[derive(Default)]
struct Cache {
    live: Live,
    free: Cell<Vec<Memory>>,
}

impl Cache {
    fn memalloc(
        &self,
        base: &Base,
        size_bytes: u64,
        astray: impl FnOnce(&mut Vec<Memory>),
    ) -> Answer<Memory> {
        let mut free = self.free.lock();
        let same = free.iter().position(|memory| memory.size_bytes == size_bytes);
        let answer = same.map_or_else(|| base.memalloc(size_bytes), |at| Ok(free.remove(at)));
        if is_oom(&answer) {
            astray(&mut free);
        }
        answer.map(|memory| self.live.enter(memory))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        match self.live.leave(token) {
            Some(memory) => {
                self.free.lock().push(memory);
                Ok(())
            }
            None => base.release(token),
        }
    }

    fn reset(&self, base: &Base) -> Answer {
        self.live.clear();
        self.free.lock().clear();
        base.reset()
    }
}

/// Loses its list of free blocks when memory is short: neither the host nor the driver gets them
/// before a reset.
#[derive(Default)]
pub(crate) struct CacheLost(Cache);

impl Mutation for CacheLost {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        self.0.memalloc(base, size_bytes, Vec::clear)
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        self.0.release(base, token)
    }

    fn reset(&self, base: &Base) -> Answer {
        self.0.reset(base)
    }
}

/// Enters its youngest free block a second time when memory is short.
#[derive(Default)]
pub(crate) struct CacheDoubled(Cache);

impl Mutation for CacheDoubled {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        self.0.memalloc(base, size_bytes, |free| free.extend(free.last().copied()))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        self.0.release(base, token)
    }

    fn reset(&self, base: &Base) -> Answer {
        self.0.reset(base)
    }
}

/// Gives its free blocks back when memory is short, and keeps them in its list.
#[derive(Default)]
pub(crate) struct CacheStale(Cache);

impl Mutation for CacheStale {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let give_back = |free: &mut Vec<Memory>| {
            free.iter().for_each(|memory| drop(base.release(memory.token)))
        };
        self.0.memalloc(base, size_bytes, give_back)
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        self.0.release(base, token)
    }

    fn reset(&self, base: &Base) -> Answer {
        self.0.reset(base)
    }
}
