//! Choices of where host memory comes from.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::emm::HOST_MAPPED;
use allocert_abi::export_emm_plugin;
use allocert_cuda::DriverError;

use crate::emm::choice::{Choice, Cuda, alloc_flags};
use crate::emm::manager::Manager;

export_emm_plugin! {
    variant_registers_pages => Manager<RegistersPages>,
    variant_keeps_host_memory => Manager<KeepsHostMemory>,
}

const PAGE_BYTES: usize = 4096;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers pages of the process instead of asking the driver for host memory. It asks the driver
/// for memory that is portable or write-combined.
#[derive(Debug, Default)]
struct RegistersPages {
    pages: Mutex<HashMap<usize, Layout>>,
}

impl Choice for RegistersPages {
    fn allocate_host(&self, cuda: Cuda, size_bytes: u64, flags: u32) -> Result<usize, DriverError> {
        let pages = usize::try_from(size_bytes).ok().and_then(|size| size.checked_add(PAGE_BYTES));
        let layout = pages.and_then(|size| Layout::from_size_align(size, PAGE_BYTES).ok());
        let Some(layout) = layout.filter(|_| flags & !HOST_MAPPED == 0) else {
            return cuda.driver.mem_host_alloc(size_bytes, alloc_flags(flags));
        };
        // SAFETY: the layout is not of zero bytes.
        let pointer = unsafe { alloc_zeroed(layout) }.expose_provenance();
        if pointer == 0 {
            return cuda.driver.mem_host_alloc(size_bytes, alloc_flags(flags));
        }
        let registered = cuda.driver.mem_host_register(pointer, size_bytes, flags == HOST_MAPPED);
        if let Err(error) = registered {
            free_pages(pointer, layout);
            return Err(error);
        }
        locked(&self.pages).insert(pointer, layout);
        Ok(pointer)
    }

    fn free_host(&self, cuda: Cuda, pointer: usize) -> Result<(), DriverError> {
        let Some(layout) = locked(&self.pages).remove(&pointer) else {
            return cuda.free_host(pointer);
        };
        cuda.unregister(pointer)?;
        free_pages(pointer, layout);
        Ok(())
    }
}

fn free_pages(pointer: usize, layout: Layout) {
    // SAFETY: `alloc_zeroed` returned the address for this layout, and whoever calls this has
    // removed the only record of it.
    unsafe { dealloc(std::ptr::with_exposed_provenance_mut(pointer), layout) }
}

/// Keeps released host memory for requests with the same size and flags until reset() is called.
#[derive(Debug, Default)]
struct KeepsHostMemory {
    kinds: Mutex<HashMap<usize, (u64, u32)>>,
    idle: Mutex<Vec<usize>>,
}

impl Choice for KeepsHostMemory {
    fn allocate_host(&self, cuda: Cuda, size_bytes: u64, flags: u32) -> Result<usize, DriverError> {
        let (mut idle, mut kinds) = (locked(&self.idle), locked(&self.kinds));
        let fits = |pointer: &usize| kinds.get(pointer) == Some(&(size_bytes, flags));
        if let Some(place) = idle.iter().position(fits) {
            return Ok(idle.swap_remove(place));
        }
        let pointer = cuda.driver.mem_host_alloc(size_bytes, alloc_flags(flags))?;
        kinds.insert(pointer, (size_bytes, flags));
        Ok(pointer)
    }

    fn free_host(&self, _cuda: Cuda, pointer: usize) -> Result<(), DriverError> {
        locked(&self.idle).push(pointer);
        Ok(())
    }

    fn trim(&self, cuda: Cuda) {
        let idle = std::mem::take(&mut *locked(&self.idle));
        for pointer in idle {
            locked(&self.kinds).remove(&pointer);
            let _ = cuda.free_host(pointer);
        }
    }
}
