//! Wrong memory information.

use allocert_abi::emm::{Memory, MemoryInfo, Status};

use crate::base::{Answer, Base, fail};
use crate::mutant::{Cell, Flag, Mutation};

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

/// The least that was ever free.
#[derive(Default)]
pub(crate) struct InfoPessimist {
    least: Cell<Option<u64>>,
}

impl Mutation for InfoPessimist {
    fn get_memory_info(&self, base: &Base) -> Answer<MemoryInfo> {
        let info = base.get_memory_info()?;
        let mut least = self.least.lock();
        let free_bytes = least.unwrap_or(u64::MAX).min(info.free_bytes);
        *least = Some(free_bytes);
        Ok(MemoryInfo { free_bytes, ..info })
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
