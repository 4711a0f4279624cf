//! Wrong allocations of no bytes.

use allocert_abi::emm::{Memory, Status};

use crate::base::{Answer, Base, fail};
use crate::mutant::{Flag, Live, Mutation};

/// Calls a request for nothing a defect of its own.
#[derive(Default)]
pub(crate) struct ZeroIsDefect;

impl Mutation for ZeroIsDefect {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        match size_bytes {
            0 => Err(fail(Status::INTERNAL, "memalloc: ZeroDivisionError")),
            _ => base.memalloc(size_bytes),
        }
    }

    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        match size_bytes {
            0 => Err(fail(Status::INTERNAL, "memhostalloc: ZeroDivisionError")),
            _ => base.memhostalloc(size_bytes, flags),
        }
    }
}

/// Files blocks of no bytes under one key, so that the second finds it taken.
#[derive(Default)]
pub(crate) struct ZeroCollides {
    taken: Flag,
}

impl Mutation for ZeroCollides {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        if size_bytes == 0 {
            if self.taken.is_up() {
                return Err(fail(Status::INTERNAL, "memalloc: AssertionError: key 0 exists"));
            }
            self.taken.raise();
        }
        base.memalloc(size_bytes)
    }
}

/// Gives the oldest live block for no bytes, and frees it with them.
#[derive(Default)]
pub(crate) struct ZeroAliases {
    live: Live,
}

impl Mutation for ZeroAliases {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        match self.live.oldest().filter(|_| size_bytes == 0) {
            Some(oldest) => Ok(Memory { size_bytes: 0, ..oldest }),
            None => Ok(self.live.enter(base.memalloc(size_bytes)?)),
        }
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        self.live.leave(token);
        // The alias released it before.
        base.release(token).or(Ok(()))
    }

    fn reset(&self, base: &Base) -> Answer {
        self.live.clear();
        base.reset()
    }
}

/// Serves a request for nothing while something else is live, and refuses it otherwise.
#[derive(Default)]
pub(crate) struct ZeroByMood {
    live: Live,
}

impl Mutation for ZeroByMood {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let alone = self.live.lock().iter().all(|memory| memory.size_bytes == 0);
        if size_bytes == 0 && alone {
            return Err(fail(Status::INVALID_VALUE, "memalloc: no bytes were asked for"));
        }
        Ok(self.live.enter(base.memalloc(size_bytes)?))
    }

    fn live(&self) -> Option<&Live> {
        Some(&self.live)
    }
}

/// Serves requests for nothing until its first reset.
#[derive(Default)]
pub(crate) struct ZeroAfterReset {
    was_reset: Flag,
}

impl Mutation for ZeroAfterReset {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        if size_bytes == 0 && *self.was_reset.lock() {
            return Err(fail(Status::INVALID_VALUE, "memalloc: no bytes were asked for"));
        }
        base.memalloc(size_bytes)
    }

    fn reset(&self, base: &Base) -> Answer {
        *self.was_reset.lock() = true;
        base.reset()
    }
}
