//! Mutations of `mempin`.

use std::ptr;

use allocert_abi::emm::{HOST_MAPPED, KIND_MAPPED, KIND_PINNED, Memory, Status};
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{
    Answer, BaseManager, NULL_TOKEN, OWN_TOKEN, PinRequest, fail, release_unless_null,
};
use crate::emm::mutation::state::{Count, LiveBlocks, Locked, ScopeDepth};
use crate::emm::mutation::{Mutant, Mutation};

const PAGE_BYTES: usize = 4096;

export_emm_plugin! {
    mutant_mempin_fails => Mutant<MempinFails>,
    mutant_pin_kinds_swapped => Mutant<PinKindsSwapped>,
    mutant_pin_first_64_bytes => Mutant<PinFirst64Bytes>,
    mutant_pin_whole_pages_only => Mutant<PinWholePagesOnly>,
    mutant_pin_size_rounded => Mutant<PinSizeRounded>,
    mutant_pin_until_reset => Mutant<PinUntilReset>,
    mutant_pin_deferred => Mutant<PinDeferred>,
    mutant_second_pin_unpins_first => Mutant<SecondPinUnpinsFirst>,
    mutant_second_pin_is_internal_error => Mutant<SecondPinIsInternalError>,
    mutant_pin_error_ignored => Mutant<PinErrorIgnored>,
    mutant_pin_clears_region => Mutant<PinClearsPinRequest>,
    mutant_pin_unknown_flags_accepted => Mutant<PinUnknownFlagsAccepted>,
    mutant_second_pin_succeeds => Mutant<SecondPinSucceeds>,
}

/// Claims the capability for host memory and refuses to pin.
#[derive(Default)]
struct MempinFails;

impl Mutation for MempinFails {
    fn mempin(&self, _base: &BaseManager, _request: PinRequest) -> Answer<Memory> {
        Err(fail(Status::INTERNAL, "mempin: not implemented"))
    }
}

/// Reports pinned memory as mapped and mapped memory as pinned.
#[derive(Default)]
struct PinKindsSwapped;

impl Mutation for PinKindsSwapped {
    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        let kind = if request.flags & HOST_MAPPED == 0 { KIND_MAPPED } else { KIND_PINNED };
        Ok(Memory { kind, ..base.mempin(request)? })
    }
}

/// Pins the first 64 bytes of a region and reports all of it.
#[derive(Default)]
struct PinFirst64Bytes;

impl Mutation for PinFirst64Bytes {
    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        let first = PinRequest { size_bytes: request.size_bytes.min(64), ..request };
        Ok(Memory { size_bytes: request.size_bytes, ..base.mempin(first)? })
    }
}

/// Refuses a region that does not begin and end at the border of a page.
#[derive(Default)]
struct PinWholePagesOnly;

impl Mutation for PinWholePagesOnly {
    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        let aligned = request.pointer.as_ptr().addr().is_multiple_of(PAGE_BYTES);
        if !aligned || !request.size_bytes.is_multiple_of(PAGE_BYTES as u64) {
            return Err(fail(Status::INVALID_VALUE, "mempin: whole pages only"));
        }
        base.mempin(request)
    }
}

/// Reports the size rounded up to 64 KiB.
#[derive(Default)]
struct PinSizeRounded;

impl Mutation for PinSizeRounded {
    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        let memory = base.mempin(request)?;
        Ok(Memory { size_bytes: request.size_bytes.next_multiple_of(65536), ..memory })
    }
}

/// Leaves released regions pinned until reset.
#[derive(Default)]
struct PinUntilReset {
    pins: LiveBlocks,
}

impl Mutation for PinUntilReset {
    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        Ok(self.pins.add(base.mempin(request)?))
    }

    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.pins)
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        match self.pins.remove(token) {
            Some(_) => Ok(()),
            None => base.release(token),
        }
    }
}

/// Unpins a region at the end of the scope, as if it were an allocation.
#[derive(Default)]
struct PinDeferred {
    depth: ScopeDepth,
    pins: LiveBlocks,
    waiting: Locked<Vec<u64>>,
}

impl Mutation for PinDeferred {
    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        Ok(self.pins.add(base.mempin(request)?))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        match self.pins.remove(token) {
            Some(_) if self.depth.get() > 0 => {
                self.waiting.lock().push(token);
                Ok(())
            }
            _ => base.release(token),
        }
    }

    fn depth(&self) -> Option<&ScopeDepth> {
        Some(&self.depth)
    }

    fn defer_end(&self, base: &BaseManager) -> Answer {
        if self.depth.end() == 0 {
            let waiting = std::mem::take(&mut *self.waiting.lock());
            waiting.into_iter().try_for_each(|token| base.release(token))?;
        }
        base.defer_end()
    }
}

/// Unpins a pinned region when it is asked to pin it again.
#[derive(Default)]
struct SecondPinUnpinsFirst {
    pins: LiveBlocks,
}

impl Mutation for SecondPinUnpinsFirst {
    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        let same = self.pins.lock().iter().any(|pin| pin.host_pointer == request.pointer.as_ptr());
        if same {
            let _ = base.driver.mem_host_unregister(request.pointer.as_ptr().addr());
            return Err(fail(Status::INVALID_VALUE, "mempin: was pinned already"));
        }
        Ok(self.pins.add(base.mempin(request)?))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        self.pins.remove(token);
        base.release(token)
    }
}

/// Reports an internal error when a region is pinned a second time.
#[derive(Default)]
struct SecondPinIsInternalError {
    pins: LiveBlocks,
}

impl Mutation for SecondPinIsInternalError {
    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        if self.pins.lock().iter().any(|pin| pin.host_pointer == request.pointer.as_ptr()) {
            return Err(fail(Status::INTERNAL, "mempin: KeyError"));
        }
        Ok(self.pins.add(base.mempin(request)?))
    }

    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.pins)
    }
}

/// Reports success when the driver fails to pin.
#[derive(Default)]
struct PinErrorIgnored;

impl Mutation for PinErrorIgnored {
    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        let unpinned = Memory {
            kind: KIND_PINNED,
            host_pointer: request.pointer.as_ptr(),
            size_bytes: request.size_bytes,
            token: NULL_TOKEN,
            ..Memory::empty()
        };
        base.mempin(request).or(Ok(unpinned))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        release_unless_null(base, token)
    }
}

/// Overwrites a region with zeros when it pins it.
#[derive(Default)]
struct PinClearsPinRequest;

impl Mutation for PinClearsPinRequest {
    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        let memory = base.mempin(request)?;
        // SAFETY: memory that the host keeps alive. To write into it is the mutation.
        unsafe {
            ptr::write_bytes(request.pointer.as_ptr().cast::<u8>(), 0, request.size_bytes as usize)
        }
        Ok(memory)
    }
}

/// Accepts flags of mempin that it does not know.
#[derive(Default)]
struct PinUnknownFlagsAccepted;

impl Mutation for PinUnknownFlagsAccepted {
    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        base.mempin(PinRequest { flags: request.flags & HOST_MAPPED, ..request })
    }
}

/// Counts how often a region is pinned and accepts a second pin.
#[derive(Default)]
struct SecondPinSucceeds {
    pins: LiveBlocks,
    second_pins: Count,
}

impl Mutation for SecondPinSucceeds {
    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        let first = self
            .pins
            .lock()
            .iter()
            .find(|memory| memory.host_pointer == request.pointer.as_ptr())
            .copied();
        match first {
            Some(first) if (first.kind == KIND_MAPPED) == (request.flags & HOST_MAPPED != 0) => {
                Ok(Memory {
                    size_bytes: request.size_bytes,
                    token: OWN_TOKEN | self.second_pins.increment(),
                    ..first
                })
            }
            _ => Ok(self.pins.add(base.mempin(request)?)),
        }
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        self.pins.remove(token);
        let second_pin = (OWN_TOKEN..OWN_TOKEN + self.second_pins.get()).contains(&token);
        if second_pin { Ok(()) } else { base.release(token) }
    }

    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.pins)
    }
}
