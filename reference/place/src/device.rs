//! Memory of the CUDA driver: that of a device, and page-locked memory of the host.

use allocert_cuda::HostAllocFlags;
use allocert_pool::{Region, System};

use crate::Error;
use crate::driver::Primary;
use crate::guarded::HostMemory;

/// The system allocator of the place of one device: `cuMemAlloc` in its primary context.
#[derive(Debug)]
pub(crate) struct Device(pub(crate) Primary);

impl System for Device {
    type Error = Error;

    const GRAIN_BYTES: u64 = 256;
    const CHUNK_GRAIN_BYTES: u64 = 256;
    /// Memory of a device is scarce, and what a thread keeps of it joins with nothing.
    const CACHE_BYTES: u64 = 24 << 20;
    const CLASS_BYTES: u64 = 512 << 10;
    const SURVIVES_FORK: bool = false;

    fn is_out_of_memory(error: Error) -> bool {
        error == Error::OutOfMemory
    }

    fn reserve(&self, size_bytes: u64) -> Result<u64, Error> {
        self.0.call(|| self.0.driver.mem_alloc(size_bytes))
    }

    fn wait_for_work(&self) -> Result<(), Error> {
        self.0.call(|| self.0.driver.ctx_synchronize())
    }

    fn give_back(&self, chunk: Region) -> bool {
        self.0.release(|| self.0.driver.mem_free(chunk.address))
    }
}

/// The system allocator of the pinned place: `cuMemHostAlloc`, for all contexts, in the primary
/// context of the first device.
#[derive(Debug)]
pub(crate) struct Pinned(pub(crate) Primary);

impl HostMemory for Pinned {
    const SURVIVES_FORK: bool = false;

    fn reserve(&self, size_bytes: u64) -> Result<u64, Error> {
        let flags = HostAllocFlags { portable: true, ..HostAllocFlags::default() };
        let chunk = self.0.call(|| self.0.driver.mem_host_alloc(size_bytes, flags));
        chunk.map(|chunk| chunk as u64)
    }

    fn give_back(&self, chunk: Region) -> bool {
        self.0.release(|| self.0.driver.mem_free_host(chunk.address as usize))
    }
}
