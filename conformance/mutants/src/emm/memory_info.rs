//! Mutations of `get_memory_info`.

use allocert_abi::emm::{Memory, MemoryInfo, Status};
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{Answer, BaseManager, fail};
use crate::emm::mutation::state::{Count, Flag, Locked};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_info_fails => Mutant<InfoFails>,
    mutant_info_swapped => Mutant<InfoSwapped>,
    mutant_info_free_exceeds_total => Mutant<InfoFreeExceedsTotal>,
    mutant_info_constant => Mutant<InfoConstant>,
    mutant_info_counts_freed_memory => Mutant<InfoCountsFreedMemory>,
    mutant_info_needs_allocation => Mutant<InfoNeedsAllocation>,
    mutant_info_allocates => Mutant<InfoAllocates>,
}

/// Claims the capability for memory information and fails.
#[derive(Default)]
struct InfoFails;

impl Mutation for InfoFails {
    fn get_memory_info(&self, _base: &BaseManager) -> Answer<MemoryInfo> {
        Err(fail(Status::INTERNAL, "get_memory_info: not implemented"))
    }
}

/// Swaps free and total memory.
#[derive(Default)]
struct InfoSwapped;

impl Mutation for InfoSwapped {
    fn get_memory_info(&self, base: &BaseManager) -> Answer<MemoryInfo> {
        let info = base.get_memory_info()?;
        Ok(MemoryInfo { free_bytes: info.total_bytes, total_bytes: info.free_bytes, ..info })
    }
}

/// Reports more free memory than total memory.
#[derive(Default)]
struct InfoFreeExceedsTotal;

impl Mutation for InfoFreeExceedsTotal {
    fn get_memory_info(&self, base: &BaseManager) -> Answer<MemoryInfo> {
        let info = base.get_memory_info()?;
        Ok(MemoryInfo { free_bytes: info.total_bytes + 1, ..info })
    }
}

/// Repeats its first answer for ever.
#[derive(Default)]
struct InfoConstant {
    first: Locked<Option<MemoryInfo>>,
}

impl Mutation for InfoConstant {
    fn get_memory_info(&self, base: &BaseManager) -> Answer<MemoryInfo> {
        let info = base.get_memory_info()?;
        Ok(*self.first.lock().get_or_insert(info))
    }
}

/// Counts freed memory as taken.
#[derive(Default)]
struct InfoCountsFreedMemory {
    taken_bytes: Count,
}

impl Mutation for InfoCountsFreedMemory {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        self.taken_bytes.set(self.taken_bytes.get() + size_bytes);
        Ok(memory)
    }

    fn get_memory_info(&self, base: &BaseManager) -> Answer<MemoryInfo> {
        let info = base.get_memory_info()?;
        let rest_bytes = info.total_bytes.saturating_sub(self.taken_bytes.get());
        Ok(MemoryInfo { free_bytes: rest_bytes.min(info.free_bytes), ..info })
    }
}

/// Fails before the first allocation.
#[derive(Default)]
struct InfoNeedsAllocation {
    allocated: Flag,
}

impl Mutation for InfoNeedsAllocation {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        self.allocated.set();
        base.memalloc(size_bytes)
    }

    fn get_memory_info(&self, base: &BaseManager) -> Answer<MemoryInfo> {
        match self.allocated.is_set() {
            true => base.get_memory_info(),
            false => Err(fail(Status::STATE, "get_memory_info: no pool yet")),
        }
    }
}

/// Allocates memory to find out how much is free.
#[derive(Default)]
struct InfoAllocates;

impl Mutation for InfoAllocates {
    fn get_memory_info(&self, base: &BaseManager) -> Answer<MemoryInfo> {
        base.allocate_and_free();
        base.get_memory_info()
    }
}
