//! Wrong pinning.

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use allocert_abi::emm::{HOST_MAPPED, KIND_MAPPED, KIND_PINNED, Memory, Status};

use crate::base::{Answer, Base, fail};
use crate::mutant::{Cell, Count, Live, Mutation};

type Region = NonNull<c_void>;

/// Refuses to pin, though it claims the capability.
#[derive(Default)]
pub(crate) struct PinRefused;

impl Mutation for PinRefused {
    fn mempin(
        &self,
        _base: &Base,
        _pointer: Region,
        _size_bytes: u64,
        _flags: u32,
    ) -> Answer<Memory> {
        Err(fail(Status::INTERNAL, "mempin: not implemented"))
    }
}

/// Calls pinned memory mapped and mapped memory pinned.
#[derive(Default)]
pub(crate) struct PinKindsSwapped;

impl Mutation for PinKindsSwapped {
    fn mempin(&self, base: &Base, pointer: Region, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let kind = if flags & HOST_MAPPED == 0 { KIND_MAPPED } else { KIND_PINNED };
        Ok(Memory { kind, ..base.mempin(pointer, size_bytes, flags)? })
    }
}

/// Reports the pages of a region, not the region.
#[derive(Default)]
pub(crate) struct PinRounded;

impl Mutation for PinRounded {
    fn mempin(&self, base: &Base, pointer: Region, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let memory = base.mempin(pointer, size_bytes, flags)?;
        Ok(Memory { size_bytes: size_bytes.next_multiple_of(65536), ..memory })
    }
}

/// Leaves regions pinned until reset.
#[derive(Default)]
pub(crate) struct PinKept {
    pins: Live,
}

impl Mutation for PinKept {
    fn mempin(&self, base: &Base, pointer: Region, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(self.pins.enter(base.mempin(pointer, size_bytes, flags)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        match self.pins.leave(token) {
            Some(_) => Ok(()),
            None => base.release(token),
        }
    }

    fn reset(&self, base: &Base) -> Answer {
        self.pins.clear();
        base.reset()
    }
}

/// Unpins after the scope, as if a region were an allocation.
#[derive(Default)]
pub(crate) struct PinDeferred {
    depth: Count,
    pins: Live,
    waiting: Cell<Vec<u64>>,
}

impl Mutation for PinDeferred {
    fn mempin(&self, base: &Base, pointer: Region, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(self.pins.enter(base.mempin(pointer, size_bytes, flags)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        match self.pins.leave(token) {
            Some(_) if self.depth.get() > 0 => {
                self.waiting.lock().push(token);
                Ok(())
            }
            _ => base.release(token),
        }
    }

    fn defer_begin(&self, base: &Base) -> Answer {
        self.depth.next();
        base.defer_begin()
    }

    fn defer_end(&self, base: &Base) -> Answer {
        let depth = self.depth.get().saturating_sub(1);
        self.depth.set(depth);
        if depth == 0 {
            let waiting = std::mem::take(&mut *self.waiting.lock());
            waiting.into_iter().try_for_each(|token| base.release(token))?;
        }
        base.defer_end()
    }
}

/// Unpins what is pinned already before it tries to pin it.
#[derive(Default)]
pub(crate) struct PinTakesOver {
    pins: Live,
}

impl Mutation for PinTakesOver {
    fn mempin(&self, base: &Base, pointer: Region, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let same = self.pins.lock().iter().any(|pin| pin.host_pointer == pointer.as_ptr());
        if same {
            let _ = base.driver.mem_host_unregister(pointer.as_ptr().addr());
            return Err(fail(Status::INVALID_VALUE, "mempin: was pinned already"));
        }
        Ok(self.pins.enter(base.mempin(pointer, size_bytes, flags)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        self.pins.leave(token);
        base.release(token)
    }
}

/// Calls the second pinning of a region a defect of its own, and leaves the first alone.
#[derive(Default)]
pub(crate) struct PinTwiceIsDefect {
    pins: Live,
}

impl Mutation for PinTwiceIsDefect {
    fn mempin(&self, base: &Base, pointer: Region, size_bytes: u64, flags: u32) -> Answer<Memory> {
        if self.pins.lock().iter().any(|pin| pin.host_pointer == pointer.as_ptr()) {
            return Err(fail(Status::INTERNAL, "mempin: KeyError"));
        }
        Ok(self.pins.enter(base.mempin(pointer, size_bytes, flags)?))
    }

    fn live(&self) -> Option<&Live> {
        Some(&self.pins)
    }
}

/// Calls an error of the driver a success.
#[derive(Default)]
pub(crate) struct PinErrorIgnored;

impl Mutation for PinErrorIgnored {
    fn mempin(&self, base: &Base, pointer: Region, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let unpinned = Memory {
            kind: KIND_PINNED,
            host_pointer: pointer.as_ptr(),
            size_bytes,
            token: u64::MAX,
            ..Memory::empty()
        };
        base.mempin(pointer, size_bytes, flags).or(Ok(unpinned))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        if token == u64::MAX { Ok(()) } else { base.release(token) }
    }
}

/// Clears a region when it pins it.
#[derive(Default)]
pub(crate) struct PinClears;

impl Mutation for PinClears {
    fn mempin(&self, base: &Base, pointer: Region, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let memory = base.mempin(pointer, size_bytes, flags)?;
        // SAFETY: memory of the host that it keeps alive. That it did not ask for this is the
        // mutation.
        unsafe { ptr::write_bytes(pointer.as_ptr().cast::<u8>(), 0, size_bytes as usize) }
        Ok(memory)
    }
}

/// Passes over flags that it does not know.
#[derive(Default)]
pub(crate) struct PinFlagsUnknown;

impl Mutation for PinFlagsUnknown {
    fn mempin(
        &self,
        base: &Base,
        pointer: NonNull<c_void>,
        size_bytes: u64,
        flags: u32,
    ) -> Answer<Memory> {
        base.mempin(pointer, size_bytes, flags & HOST_MAPPED)
    }
}

/// Counts how often a region is pinned, as if it were its own.
#[derive(Default)]
pub(crate) struct PinCounts {
    first: Live,
    shared: Count,
}

impl Mutation for PinCounts {
    fn mempin(
        &self,
        base: &Base,
        pointer: NonNull<c_void>,
        size_bytes: u64,
        flags: u32,
    ) -> Answer<Memory> {
        let before = self
            .first
            .lock()
            .iter()
            .find(|memory| memory.host_pointer == pointer.as_ptr())
            .copied();
        match before {
            Some(first) if (first.kind == KIND_MAPPED) == (flags & HOST_MAPPED != 0) => {
                Ok(Memory { size_bytes, token: SHARED | self.shared.next(), ..first })
            }
            _ => Ok(self.first.enter(base.mempin(pointer, size_bytes, flags)?)),
        }
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        self.first.leave(token);
        let counted = (SHARED..SHARED + self.shared.get()).contains(&token);
        if counted { Ok(()) } else { base.release(token) }
    }

    fn reset(&self, base: &Base) -> Answer {
        self.first.clear();
        base.reset()
    }
}

/// In the tokens of second registrations, and in none of the reference's.
const SHARED: u64 = 1 << 62;
