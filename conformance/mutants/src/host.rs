//! Wrong page-locked memory.

use std::ptr;

use allocert_abi::emm::{HOST_MAPPED, HOST_PORTABLE, HOST_WRITE_COMBINED, Memory, Status};

use crate::base::{Answer, Base, fail};
use crate::mutant::{Live, Mutation};

/// Refuses all host memory, though it claims the capability.
#[derive(Default)]
pub(crate) struct HostRefused;

impl Mutation for HostRefused {
    fn memhostalloc(&self, _base: &Base, _size_bytes: u64, _flags: u32) -> Answer<Memory> {
        Err(fail(Status::INTERNAL, "memhostalloc: not implemented"))
    }
}

/// Never maps.
#[derive(Default)]
pub(crate) struct MappedDropped;

impl Mutation for MappedDropped {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags & !HOST_MAPPED)
    }
}

/// Maps always.
#[derive(Default)]
pub(crate) struct MappedAlways;

impl Mutation for MappedAlways {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags | HOST_MAPPED)
    }
}

/// Passes on whether to map, and neither of the other flags.
#[derive(Default)]
pub(crate) struct FlagsDropped;

impl Mutation for FlagsDropped {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags & HOST_MAPPED)
    }
}

/// Reports whole pages.
#[derive(Default)]
pub(crate) struct HostRounded;

impl Mutation for HostRounded {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let memory = base.memhostalloc(size_bytes, flags)?;
        Ok(Memory { size_bytes: size_bytes.next_multiple_of(4096), ..memory })
    }
}

/// Gives no host address.
#[derive(Default)]
pub(crate) struct HostNull;

impl Mutation for HostNull {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(Memory { host_pointer: ptr::null_mut(), ..base.memhostalloc(size_bytes, flags)? })
    }
}

/// Gives no device address of mapped memory.
#[derive(Default)]
pub(crate) struct MappedNull;

impl Mutation for MappedNull {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(Memory { device_pointer: 0, ..base.memhostalloc(size_bytes, flags)? })
    }
}

/// Maps every block where the oldest live one is mapped.
#[derive(Default)]
pub(crate) struct MappedElsewhere {
    live: Live,
}

impl Mutation for MappedElsewhere {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let mut memory = base.memhostalloc(size_bytes, flags)?;
        if flags & HOST_MAPPED == 0 {
            return Ok(memory);
        }
        if let Some(oldest) = self.live.oldest() {
            memory.device_pointer = oldest.device_pointer;
        }
        Ok(self.live.enter(memory))
    }

    fn live(&self) -> Option<&Live> {
        Some(&self.live)
    }
}

/// Serves no combination of portable and write-combined.
#[derive(Default)]
pub(crate) struct FlagsRefused;

impl Mutation for FlagsRefused {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        match flags & HOST_PORTABLE != 0 && flags & HOST_WRITE_COMBINED != 0 {
            true => {
                Err(fail(Status::INVALID_VALUE, "memhostalloc: portable excludes write-combined"))
            }
            false => base.memhostalloc(size_bytes, flags),
        }
    }
}

/// Gives the oldest live block again.
#[derive(Default)]
pub(crate) struct HostOverlapping {
    live: Live,
}

impl Mutation for HostOverlapping {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let mut memory = base.memhostalloc(size_bytes, flags)?;
        if let Some(oldest) = self.live.oldest() {
            memory.host_pointer = oldest.host_pointer;
        }
        Ok(self.live.enter(memory))
    }

    fn live(&self) -> Option<&Live> {
        Some(&self.live)
    }
}

/// Keeps host memory for ever, also what waits for a larger request.
#[derive(Default)]
pub(crate) struct HostNeverReleased {
    live: Live,
}

impl Mutation for HostNeverReleased {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(self.live.enter(base.memhostalloc(size_bytes, flags)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        match self.live.leave(token) {
            Some(_) => Ok(()),
            None => base.release(token),
        }
    }
}

/// Clears older host memory whenever it allocates some.
#[derive(Default)]
pub(crate) struct HostScribbler {
    live: Live,
}

impl Mutation for HostScribbler {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        self.scribble();
        Ok(self.live.enter(base.memhostalloc(size_bytes, flags)?))
    }

    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        self.scribble();
        base.memalloc(size_bytes)
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        self.live.leave(token);
        self.scribble();
        base.release(token)
    }

    fn reset(&self, base: &Base) -> Answer {
        self.live.clear();
        base.reset()
    }
}

impl HostScribbler {
    fn scribble(&self) {
        if let Some(oldest) = self.live.oldest() {
            // SAFETY: live host memory of this manager. That its owner did not ask for it is the
            // mutation.
            unsafe {
                ptr::write_bytes(oldest.host_pointer.cast::<u8>(), 0xa5, oldest.size_bytes as usize)
            }
        }
    }
}

/// Passes over flags that it does not know.
#[derive(Default)]
pub(crate) struct FlagsUnknown;

impl Mutation for FlagsUnknown {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags & (HOST_MAPPED | HOST_PORTABLE | HOST_WRITE_COMBINED))
    }
}
