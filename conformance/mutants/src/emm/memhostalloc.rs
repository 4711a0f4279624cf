//! Mutations of `memhostalloc`.

use std::ptr;

use allocert_abi::emm::{HOST_MAPPED, HOST_PORTABLE, HOST_WRITE_COMBINED, Memory, Status};
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{Answer, BaseManager, fail};
use crate::emm::mutation::state::LiveBlocks;
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_memhostalloc_fails => Mutant<MemhostallocFails>,
    mutant_mapped_flag_ignored => Mutant<MappedFlagIgnored>,
    mutant_mapped_flag_always_set => Mutant<MappedFlagAlwaysSet>,
    mutant_host_size_rounded => Mutant<HostSizeRounded>,
    mutant_host_pointer_null => Mutant<HostPointerNull>,
    mutant_mapped_pointer_null => Mutant<MappedPointerNull>,
    mutant_mapped_pointer_shared => Mutant<MappedPointerShared>,
    mutant_host_flags_exclusive => Mutant<HostFlagsExclusive>,
    mutant_host_flags_ignored => Mutant<HostFlagsIgnored>,
    mutant_write_combined_not_supported => Mutant<WriteCombinedNotSupported>,
    mutant_host_blocks_overlap => Mutant<HostBlocksOverlap>,
    mutant_host_memory_never_freed => Mutant<HostMemoryNeverFreed>,
    mutant_writes_to_live_host_block => Mutant<WritesToLiveHostBlock>,
    mutant_host_unknown_flags_accepted => Mutant<HostUnknownFlagsAccepted>,
}

/// Claims the capability for host memory and refuses every request for it.
#[derive(Default)]
struct MemhostallocFails;

impl Mutation for MemhostallocFails {
    fn memhostalloc(&self, _base: &BaseManager, _size_bytes: u64, _flags: u32) -> Answer<Memory> {
        Err(fail(Status::INTERNAL, "memhostalloc: not implemented"))
    }
}

/// Never maps host memory.
#[derive(Default)]
struct MappedFlagIgnored;

impl Mutation for MappedFlagIgnored {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags & !HOST_MAPPED)
    }
}

/// Maps all host memory.
#[derive(Default)]
struct MappedFlagAlwaysSet;

impl Mutation for MappedFlagAlwaysSet {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags | HOST_MAPPED)
    }
}

/// Claims the capability for host memory, and offers no write-combined memory.
#[derive(Default)]
struct WriteCombinedNotSupported;

impl Mutation for WriteCombinedNotSupported {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        if flags & HOST_WRITE_COMBINED != 0 {
            return Err(fail(Status::NOT_SUPPORTED, "memhostalloc: no write-combined memory"));
        }
        base.memhostalloc(size_bytes, flags)
    }
}

/// Ignores the flags portable and write-combined.
#[derive(Default)]
struct HostFlagsIgnored;

impl Mutation for HostFlagsIgnored {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags & HOST_MAPPED)
    }
}

/// Reports the size rounded up to whole pages.
#[derive(Default)]
struct HostSizeRounded;

impl Mutation for HostSizeRounded {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let memory = base.memhostalloc(size_bytes, flags)?;
        Ok(Memory { size_bytes: size_bytes.next_multiple_of(4096), ..memory })
    }
}

/// Returns host address 0.
#[derive(Default)]
struct HostPointerNull;

impl Mutation for HostPointerNull {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(Memory { host_pointer: ptr::null_mut(), ..base.memhostalloc(size_bytes, flags)? })
    }
}

/// Returns device address 0 for mapped memory.
#[derive(Default)]
struct MappedPointerNull;

impl Mutation for MappedPointerNull {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(Memory { device_pointer: 0, ..base.memhostalloc(size_bytes, flags)? })
    }
}

/// Returns the device address of the oldest live block for all mapped memory.
#[derive(Default)]
struct MappedPointerShared {
    live: LiveBlocks,
}

impl Mutation for MappedPointerShared {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let mut memory = base.memhostalloc(size_bytes, flags)?;
        if flags & HOST_MAPPED == 0 {
            return Ok(memory);
        }
        if let Some(oldest) = self.live.oldest() {
            memory.device_pointer = oldest.device_pointer;
        }
        Ok(self.live.add(memory))
    }

    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.live)
    }
}

/// Refuses the combination of portable and write-combined.
#[derive(Default)]
struct HostFlagsExclusive;

impl Mutation for HostFlagsExclusive {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        match flags & HOST_PORTABLE != 0 && flags & HOST_WRITE_COMBINED != 0 {
            true => {
                Err(fail(Status::INVALID_VALUE, "memhostalloc: portable excludes write-combined"))
            }
            false => base.memhostalloc(size_bytes, flags),
        }
    }
}

/// Returns the host address of the oldest live block.
#[derive(Default)]
struct HostBlocksOverlap {
    live: LiveBlocks,
}

impl Mutation for HostBlocksOverlap {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let mut memory = base.memhostalloc(size_bytes, flags)?;
        if let Some(oldest) = self.live.oldest() {
            memory.host_pointer = oldest.host_pointer;
        }
        Ok(self.live.add(memory))
    }

    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.live)
    }
}

/// Never frees released host memory, even when memory is short.
#[derive(Default)]
struct HostMemoryNeverFreed {
    live: LiveBlocks,
}

impl Mutation for HostMemoryNeverFreed {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(self.live.add(base.memhostalloc(size_bytes, flags)?))
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        match self.live.remove(token) {
            Some(_) => Ok(()),
            None => base.release(token),
        }
    }
}

/// Overwrites the oldest live host block at every allocation and release.
#[derive(Default)]
struct WritesToLiveHostBlock {
    live: LiveBlocks,
}

impl Mutation for WritesToLiveHostBlock {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        self.overwrite_oldest();
        Ok(self.live.add(base.memhostalloc(size_bytes, flags)?))
    }

    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        self.overwrite_oldest();
        base.memalloc(size_bytes)
    }

    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        self.live.remove(token);
        self.overwrite_oldest();
        base.release(token)
    }

    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.live)
    }
}

impl WritesToLiveHostBlock {
    fn overwrite_oldest(&self) {
        if let Some(oldest) = self.live.oldest() {
            // SAFETY: live host memory of this manager. To write into it is the mutation.
            unsafe {
                ptr::write_bytes(oldest.host_pointer.cast::<u8>(), 0xa5, oldest.size_bytes as usize)
            }
        }
    }
}

/// Accepts flags of memhostalloc that it does not know.
#[derive(Default)]
struct HostUnknownFlagsAccepted;

impl Mutation for HostUnknownFlagsAccepted {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags & (HOST_MAPPED | HOST_PORTABLE | HOST_WRITE_COMBINED))
    }
}
