//! Wrong memory information.

use allocert_abi::emm::{Memory, MemoryInfo, Status};

use crate::base::{Answer, Base, fail};
use crate::mutant::{Cell, Count, Flag, Mutation};

/// Claims the capability and refuses.
#[derive(Default)]
pub(crate) struct InfoRefused;

impl Mutation for InfoRefused {
    fn get_memory_info(&self, _base: &Base) -> Answer<MemoryInfo> {
        Err(fail(Status::INTERNAL, "get_memory_info: not implemented"))
    }
}

/// Free and total the wrong way round.
#[derive(Default)]
pub(crate) struct InfoSwapped;

impl Mutation for InfoSwapped {
    fn get_memory_info(&self, base: &Base) -> Answer<MemoryInfo> {
        let info = base.get_memory_info()?;
        Ok(MemoryInfo { free_bytes: info.total_bytes, total_bytes: info.free_bytes, ..info })
    }
}

/// More free than there is.
#[derive(Default)]
pub(crate) struct InfoBoasts;

impl Mutation for InfoBoasts {
    fn get_memory_info(&self, base: &Base) -> Answer<MemoryInfo> {
        let info = base.get_memory_info()?;
        Ok(MemoryInfo { free_bytes: info.total_bytes + 1, ..info })
    }
}

/// The first answer for ever.
#[derive(Default)]
pub(crate) struct InfoFrozen {
    first: Cell<Option<MemoryInfo>>,
}

impl Mutation for InfoFrozen {
    fn get_memory_info(&self, base: &Base) -> Answer<MemoryInfo> {
        let info = base.get_memory_info()?;
        Ok(*self.first.lock().get_or_insert(info))
    }
}

/// Counts what was ever allocated as taken.
#[derive(Default)]
pub(crate) struct InfoPessimist {
    taken_bytes: Count,
}

impl Mutation for InfoPessimist {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        self.taken_bytes.set(self.taken_bytes.get() + size_bytes);
        Ok(memory)
    }

    fn get_memory_info(&self, base: &Base) -> Answer<MemoryInfo> {
        let info = base.get_memory_info()?;
        let rest = info.total_bytes.saturating_sub(self.taken_bytes.get());
        Ok(MemoryInfo { free_bytes: rest.min(info.free_bytes), ..info })
    }
}

/// Knows nothing before the first allocation.
#[derive(Default)]
pub(crate) struct InfoLate {
    started: Flag,
}

impl Mutation for InfoLate {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        self.started.raise();
        base.memalloc(size_bytes)
    }

    fn get_memory_info(&self, base: &Base) -> Answer<MemoryInfo> {
        match self.started.is_up() {
            true => base.get_memory_info(),
            false => Err(fail(Status::STATE, "get_memory_info: no pool yet")),
        }
    }
}

/// Finds out by allocating.
#[derive(Default)]
pub(crate) struct InfoProbes;

impl Mutation for InfoProbes {
    fn get_memory_info(&self, base: &Base) -> Answer<MemoryInfo> {
        if let Ok(probe) = base.driver.mem_alloc(1 << 20) {
            let _ = base.driver.mem_free(probe);
        }
        base.get_memory_info()
    }
}
