//! Choices of where device memory comes from.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::emm::{CAP_HOST_MEMORY, CAP_MEMORY_INFO};
use allocert_abi::export_emm_plugin;
use allocert_cuda::DriverError;

use crate::emm::choice::{Answer, Choice, Cuda, failure};
use crate::emm::manager::Manager;

export_emm_plugin! {
    variant_reserves_four_fifths => Manager<ReservesFourFifths>,
    variant_aligns_to_2_mib => Manager<AlignsTo2Mib>,
    variant_stream_ordered => Manager<StreamOrdered>,
    variant_keeps_until_short => Manager<KeepsUntilShort>,
    variant_has_256_mib => Manager<Has256Mib>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const ALIGNMENT_BYTES: u64 = 512;
const LARGE_ALIGNMENT_BYTES: u64 = 2 << 20;
const CAPACITY_BYTES: u64 = 256 << 20;
const CAPACITY_BLOCKS: usize = 512;

/// Reserves four fifths of the free memory when it is initialized. It takes from the driver what
/// does not fit, and gives the reserve back when nothing in it is used and memory is short.
#[derive(Debug, Default)]
struct ReservesFourFifths {
    reserve: Mutex<Option<Reserve>>,
}

impl Choice for ReservesFourFifths {
    fn initialize(&self, cuda: Cuda) -> Answer {
        let mut reserve = locked(&self.reserve);
        if reserve.is_none() {
            let info = cuda.driver.mem_get_info().map_err(failure("initialize"))?;
            let size_bytes = info.free_bytes / 5 * 4 / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
            let start = cuda.driver.mem_alloc(size_bytes).map_err(failure("initialize"))?;
            *reserve = Some(Reserve::new(start, size_bytes));
        }
        Ok(())
    }

    fn allocate(&self, cuda: Cuda, size_bytes: u64) -> Result<u64, DriverError> {
        let inside = locked(&self.reserve).as_mut().and_then(|reserve| reserve.take(size_bytes));
        inside.map_or_else(|| cuda.driver.mem_alloc(size_bytes), Ok)
    }

    fn free(&self, cuda: Cuda, pointer: u64) -> Result<(), DriverError> {
        let mut reserve = locked(&self.reserve);
        if reserve.as_mut().is_some_and(|reserve| reserve.give_back(pointer)) {
            return Ok(());
        }
        drop(reserve);
        cuda.free(pointer)
    }

    fn trim(&self, cuda: Cuda) {
        let unused = locked(&self.reserve).take_if(|reserve| reserve.used.is_empty());
        if let Some(reserve) = unused {
            let _ = cuda.free(reserve.start);
        }
    }
}

/// One allocation of the driver, divided among requests: the first free range that is large enough.
#[derive(Debug)]
struct Reserve {
    start: u64,
    end: u64,
    /// Start of each used range, and the address after it.
    used: BTreeMap<u64, u64>,
}

impl Reserve {
    fn new(start: u64, size_bytes: u64) -> Self {
        Self { start, end: start + size_bytes, used: BTreeMap::new() }
    }

    fn take(&mut self, size_bytes: u64) -> Option<u64> {
        let size_bytes = size_bytes.checked_next_multiple_of(ALIGNMENT_BYTES)?;
        let ends = std::iter::once(self.start).chain(self.used.values().copied());
        let starts = self.used.keys().copied().chain(std::iter::once(self.end));
        let mut gaps = ends.zip(starts);
        let (start, _) = gaps.find(|(start, end)| end - start >= size_bytes)?;
        self.used.insert(start, start + size_bytes);
        Some(start)
    }

    /// Whether the address was a range of this reserve.
    fn give_back(&mut self, pointer: u64) -> bool {
        self.used.remove(&pointer).is_some()
    }
}

/// Begins each block at a multiple of 2 MiB, inside a larger block of the driver.
#[derive(Debug, Default)]
struct AlignsTo2Mib {
    /// The driver's address of each block.
    bases: Mutex<HashMap<u64, u64>>,
}

impl Choice for AlignsTo2Mib {
    fn allocate(&self, cuda: Cuda, size_bytes: u64) -> Result<u64, DriverError> {
        let base = cuda.driver.mem_alloc(size_bytes.saturating_add(LARGE_ALIGNMENT_BYTES))?;
        // Never the base itself, so that every handle has an offset.
        let pointer = (base + 1).next_multiple_of(LARGE_ALIGNMENT_BYTES);
        locked(&self.bases).insert(pointer, base);
        Ok(pointer)
    }

    fn free(&self, cuda: Cuda, pointer: u64) -> Result<(), DriverError> {
        let base = locked(&self.bases).remove(&pointer);
        cuda.free(base.unwrap_or(pointer))
    }
}

/// Takes device memory from the driver's stream-ordered pool, on the default stream. Other
/// processes cannot open such memory.
#[derive(Debug, Default)]
struct StreamOrdered;

impl Choice for StreamOrdered {
    const CAPABILITIES: u32 = CAP_HOST_MEMORY | CAP_MEMORY_INFO;

    fn allocate(&self, cuda: Cuda, size_bytes: u64) -> Result<u64, DriverError> {
        cuda.driver.mem_alloc_async(size_bytes)
    }

    fn free(&self, cuda: Cuda, pointer: u64) -> Result<(), DriverError> {
        cuda.driver.in_context(cuda.context, || cuda.driver.mem_free_async(pointer))
    }
}

/// Is out of memory where its blocks would have more than 256 MiB together, or be more than 512.
#[derive(Debug, Default)]
struct Has256Mib {
    sizes: Mutex<HashMap<u64, u64>>,
}

impl Choice for Has256Mib {
    fn allocate(&self, cuda: Cuda, size_bytes: u64) -> Result<u64, DriverError> {
        let mut sizes = locked(&self.sizes);
        let live_bytes: u64 = sizes.values().sum();
        if live_bytes.saturating_add(size_bytes) > CAPACITY_BYTES || sizes.len() >= CAPACITY_BLOCKS
        {
            return Err(DriverError::Call { call: "memalloc", code: DriverError::OUT_OF_MEMORY });
        }
        let pointer = cuda.driver.mem_alloc(size_bytes)?;
        sizes.insert(pointer, size_bytes);
        Ok(pointer)
    }

    fn free(&self, cuda: Cuda, pointer: u64) -> Result<(), DriverError> {
        locked(&self.sizes).remove(&pointer);
        cuda.free(pointer)
    }
}

/// Keeps released blocks for requests of the same size until memory is short or reset() is called.
#[derive(Debug, Default)]
struct KeepsUntilShort {
    sizes: Mutex<HashMap<u64, u64>>,
    idle: Mutex<Vec<(u64, u64)>>,
}

impl Choice for KeepsUntilShort {
    fn allocate(&self, cuda: Cuda, size_bytes: u64) -> Result<u64, DriverError> {
        let mut idle = locked(&self.idle);
        if let Some(place) = idle.iter().position(|(_, size)| *size == size_bytes) {
            return Ok(idle.swap_remove(place).0);
        }
        drop(idle);
        let pointer = cuda.driver.mem_alloc(size_bytes)?;
        locked(&self.sizes).insert(pointer, size_bytes);
        Ok(pointer)
    }

    fn free(&self, _cuda: Cuda, pointer: u64) -> Result<(), DriverError> {
        let size_bytes = locked(&self.sizes).get(&pointer).copied().unwrap_or(0);
        locked(&self.idle).push((pointer, size_bytes));
        Ok(())
    }

    fn trim(&self, cuda: Cuda) {
        let idle = std::mem::take(&mut *locked(&self.idle));
        for (pointer, _) in idle {
            locked(&self.sizes).remove(&pointer);
            let _ = cuda.free(pointer);
        }
    }
}
