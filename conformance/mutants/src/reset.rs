//! Wrong resets, and wrong ends.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::OnceLock;

use allocert_abi::emm::{HOST_MAPPED, Memory, Status};

use crate::base::{Answer, Base, Kind, fail};
use crate::mutant::{Cell, Count, Flag, Live, Mutation};

/// Forgets everything and gives nothing back, nor when it ends.
#[derive(Default)]
pub(crate) struct ResetLeaks {
    live: Live,
}

impl Mutation for ResetLeaks {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.enter(base.memalloc(size_bytes)?))
    }

    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(self.live.enter(base.memhostalloc(size_bytes, flags)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        self.live.leave(token).map_or(Ok(()), |memory| base.release(memory.token))
    }

    fn reset(&self, _base: &Base) -> Answer {
        self.live.clear();
        Ok(())
    }

    fn destroy(&self, base: Base) {
        std::mem::forget(base);
    }
}

/// Keeps all memory when it ends.
#[derive(Default)]
pub(crate) struct EndLeaks;

impl Mutation for EndLeaks {
    const KIND: Kind = Kind::Pool;

    fn destroy(&self, base: Base) {
        std::mem::forget(base);
    }
}

/// Fails always.
#[derive(Default)]
pub(crate) struct ResetFails;

impl Mutation for ResetFails {
    fn reset(&self, base: &Base) -> Answer {
        base.reset()?;
        Err(fail(Status::INTERNAL, "reset: not implemented"))
    }
}

/// Refuses a reset that comes before initialize.
#[derive(Default)]
pub(crate) struct ResetWantsInitialize {
    ready: Flag,
}

impl Mutation for ResetWantsInitialize {
    fn initialize(&self, base: &Base) -> Answer {
        self.ready.raise();
        base.initialize()
    }

    fn reset(&self, base: &Base) -> Answer {
        match self.ready.is_up() {
            true => base.reset(),
            false => Err(fail(Status::STATE, "reset: not initialized")),
        }
    }
}

/// Refuses a second reset.
#[derive(Default)]
pub(crate) struct ResetOnce {
    count: Count,
}

impl Mutation for ResetOnce {
    fn reset(&self, base: &Base) -> Answer {
        match self.count.next() {
            0 => base.reset(),
            _ => Err(fail(Status::STATE, "reset: was reset before")),
        }
    }
}

/// Refuses a reset while no context is current.
#[derive(Default)]
pub(crate) struct ResetWantsContext;

impl Mutation for ResetWantsContext {
    fn reset(&self, base: &Base) -> Answer {
        match base.has_context() {
            true => base.reset(),
            false => Err(fail(Status::DRIVER_ERROR, "reset: no context is current")),
        }
    }
}

/// Gives nothing after a reset.
#[derive(Default)]
pub(crate) struct ResetIsFinal {
    over: Flag,
}

impl Mutation for ResetIsFinal {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        match self.over.is_up() {
            true => Err(fail(Status::STATE, "memalloc: was reset")),
            false => base.memalloc(size_bytes),
        }
    }

    fn reset(&self, base: &Base) -> Answer {
        self.over.raise();
        base.reset()
    }
}

/// Cannot be initialized again after a reset.
#[derive(Default)]
pub(crate) struct NoSecondLife {
    over: Flag,
}

impl Mutation for NoSecondLife {
    fn initialize(&self, base: &Base) -> Answer {
        match self.over.is_up() {
            true => Err(fail(Status::STATE, "initialize: was reset")),
            false => base.initialize(),
        }
    }

    fn reset(&self, base: &Base) -> Answer {
        self.over.raise();
        base.reset()
    }
}

/// Leaves host memory alone: an override that forgets the host half.
#[derive(Default)]
pub(crate) struct ResetForgetsHost {
    host: OnceLock<Base>,
}

/// Host tokens of the twin are told apart from the base's by this bit.
const OF_TWIN: u64 = 1 << 62;

impl ResetForgetsHost {
    fn host(&self, base: &Base) -> Answer<&Base> {
        if self.host.get().is_none() {
            let _ = self.host.set(base.twin()?);
        }
        Ok(self.host.get().expect("set above"))
    }

    fn mark(memory: Memory) -> Memory {
        Memory { token: memory.token | OF_TWIN, ..memory }
    }
}

impl Mutation for ResetForgetsHost {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(Self::mark(self.host(base)?.memhostalloc(size_bytes, flags)?))
    }

    fn mempin(
        &self,
        base: &Base,
        pointer: NonNull<c_void>,
        size_bytes: u64,
        flags: u32,
    ) -> Answer<Memory> {
        Ok(Self::mark(self.host(base)?.mempin(pointer, size_bytes, flags)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        match token & OF_TWIN {
            0 => base.release(token),
            _ => self.host(base)?.release(token & !OF_TWIN),
        }
    }
}

/// Gives back only what is still live: what was released is pending, and forgotten.
#[derive(Default)]
pub(crate) struct ResetForgetsPending {
    live: Live,
    pins: Cell<Vec<u64>>,
}

impl Mutation for ResetForgetsPending {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.enter(base.memalloc(size_bytes)?))
    }

    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(self.live.enter(base.memhostalloc(size_bytes, flags)?))
    }

    fn mempin(
        &self,
        base: &Base,
        pointer: NonNull<c_void>,
        size_bytes: u64,
        flags: u32,
    ) -> Answer<Memory> {
        let memory = base.mempin(pointer, size_bytes, flags)?;
        self.pins.lock().push(memory.token);
        Ok(memory)
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        self.live.leave(token);
        if self.pins.lock().contains(&token) { base.release(token) } else { Ok(()) }
    }

    fn reset(&self, base: &Base) -> Answer {
        let live = std::mem::take(&mut *self.live.lock());
        let pins = std::mem::take(&mut *self.pins.lock());
        for token in live.iter().map(|memory| memory.token).chain(pins) {
            // A pin may have been released before.
            let _ = base.release(token);
        }
        Ok(())
    }

    fn destroy(&self, base: Base) {
        std::mem::forget(base);
    }
}

/// Device memory of all managers of the process.
static EVERYBODYS: Cell<Vec<Memory>> = Cell::new();

/// Empties a pool that all managers share.
#[derive(Default)]
pub(crate) struct ResetEverybody;

impl Mutation for ResetEverybody {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(EVERYBODYS.enter(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        EVERYBODYS.leave(token);
        base.release(token)
    }

    fn reset(&self, base: &Base) -> Answer {
        base.reset()?;
        for memory in std::mem::take(&mut *EVERYBODYS.lock()) {
            let _ = base.driver.mem_free(memory.device_pointer);
        }
        Ok(())
    }
}

/// Leaves regions pinned.
#[derive(Default)]
pub(crate) struct PinsOutliveReset {
    pins: OnceLock<Base>,
}

impl Mutation for PinsOutliveReset {
    fn mempin(
        &self,
        base: &Base,
        pointer: NonNull<c_void>,
        size_bytes: u64,
        flags: u32,
    ) -> Answer<Memory> {
        if self.pins.get().is_none() {
            let _ = self.pins.set(base.twin()?);
        }
        let pins = self.pins.get().expect("set above");
        let memory = pins.mempin(pointer, size_bytes, flags & HOST_MAPPED)?;
        Ok(Memory { token: memory.token | OF_TWIN, ..memory })
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        match self.pins.get() {
            Some(pins) if token & OF_TWIN != 0 => pins.release(token & !OF_TWIN),
            _ => base.release(token),
        }
    }
}
