//! What a variant may decide, each with the plainest decision as its default.

use allocert_abi::emm::{CAP_HOST_MEMORY, CAP_IPC, CAP_MEMORY_INFO, HOST_MAPPED, HOST_PORTABLE};
use allocert_abi::emm::{HOST_WRITE_COMBINED, MemoryInfo, Status};
use allocert_abi::plugin::Failure;
use allocert_cuda::{Context, Driver, DriverError, HostAllocFlags};

/// What a plugin function returns.
pub(crate) type Answer<T = ()> = Result<T, Failure>;

/// The driver, for the context of one manager.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cuda {
    pub(crate) driver: Driver,
    pub(crate) context: Context,
    pub(crate) device: i32,
}

impl Cuda {
    pub(crate) fn free(self, pointer: u64) -> Result<(), DriverError> {
        self.driver.in_context(self.context, || self.driver.mem_free(pointer))
    }

    pub(crate) fn free_host(self, pointer: usize) -> Result<(), DriverError> {
        self.driver.in_context(self.context, || self.driver.mem_free_host(pointer))
    }

    pub(crate) fn unregister(self, pointer: usize) -> Result<(), DriverError> {
        self.driver.in_context(self.context, || self.driver.mem_host_unregister(pointer))
    }
}

/// One choice that a text leaves to a plugin.
pub(crate) trait Choice: Default + Send + Sync + 'static {
    const CAPABILITIES: u32 = CAP_HOST_MEMORY | CAP_MEMORY_INFO | CAP_IPC;
    /// Whether a request for zero bytes returns memory.
    const SERVES_ZERO_BYTES: bool = true;

    fn initialize(&self, _cuda: Cuda) -> Answer {
        Ok(())
    }
    fn allocate(&self, cuda: Cuda, size_bytes: u64) -> Result<u64, DriverError> {
        cuda.driver.mem_alloc(size_bytes)
    }
    /// Takes released device memory back. What it keeps, it gives to the driver in `trim`.
    fn free(&self, cuda: Cuda, pointer: u64) -> Result<(), DriverError> {
        cuda.free(pointer)
    }
    fn allocate_host(&self, cuda: Cuda, size_bytes: u64, flags: u32) -> Result<usize, DriverError> {
        cuda.driver.mem_host_alloc(size_bytes, alloc_flags(flags))
    }
    fn free_host(&self, cuda: Cuda, pointer: usize) -> Result<(), DriverError> {
        cuda.free_host(pointer)
    }
    /// Gives what no request uses to the driver; returns when the driver has it.
    fn trim(&self, _cuda: Cuda) {}
    /// The token of the allocation with this number, from 1. `number` is the inverse.
    fn token(&self, number: u64) -> u64 {
        number
    }
    fn number(&self, token: u64) -> u64 {
        token
    }
    fn memory_info(&self, cuda: Cuda) -> Answer<MemoryInfo> {
        let info = cuda.driver.mem_get_info().map_err(failure("get_memory_info"))?;
        let (free_bytes, total_bytes) = (info.free_bytes, info.total_bytes);
        Ok(MemoryInfo { free_bytes, total_bytes, ..MemoryInfo::empty() })
    }
    /// Whether the manager shares memory with other processes.
    fn shares(&self) -> bool {
        true
    }
}

pub(crate) fn alloc_flags(flags: u32) -> HostAllocFlags {
    HostAllocFlags {
        mapped: flags & HOST_MAPPED != 0,
        portable: flags & HOST_PORTABLE != 0,
        write_combined: flags & HOST_WRITE_COMBINED != 0,
    }
}

/// A failure of `call`, for `last_error`.
pub(crate) fn failure(call: &'static str) -> impl Fn(DriverError) -> Failure {
    move |error| {
        let status = match error.is_out_of_memory() {
            true => Status::OUT_OF_MEMORY,
            false => Status::DRIVER_ERROR,
        };
        Failure::new(status, format!("{call}: {error}"))
    }
}
