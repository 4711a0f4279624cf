use std::sync::Arc;

use allocert_pool::{Ended, Error as PoolError, Name, Region, Settings, System};

use crate::direct::{inside, not_live, share};
use crate::{
    Cuda, DeviceMemory, Driver, DriverError, Error, HostOnly, IpcHandle, Memory, MemoryInfo,
    MemoryKind, Pending, Result, Token,
};

/// A pool: device memory comes from large driver allocations (chunks) and goes back to them at
/// release, without a driver call. It is the pool of the reference allocator by place.
///
/// Chunks are kept until memory runs short or the manager is reset. Inside `defer_cleanup` the pool
/// works as ever, but frees no chunk (NBEP 7, "Deallocation strategies", names this policy):
/// running out of memory there is reported although empty chunks may be held. What the pool holds
/// and could serve counts as free in `get_memory_info`.
pub type Pool<R = Cuda> = HostOnly<Chunks<R>, R>;

/// The device half of [`Pool`].
#[derive(Debug)]
pub struct Chunks<R> {
    pool: allocert_pool::Pool<DriverMemory<R>>,
}

/// Device memory of the driver, in the context of the manager.
#[derive(Debug)]
struct DriverMemory<R>(R);

impl<R: Driver> System for DriverMemory<R> {
    type Error = DriverError;

    /// What `cuMemAlloc` aligns to at least.
    const GRAIN_BYTES: u64 = 256;
    const CHUNK_GRAIN_BYTES: u64 = 256;
    const CACHE_BYTES: u64 = 24 << 20;
    const CLASS_BYTES: u64 = 512 << 10;
    /// A child of `fork` that uses CUDA is the host's fault.
    const SURVIVES_FORK: bool = true;

    fn reserve(&self, size_bytes: u64) -> std::result::Result<u64, DriverError> {
        self.0.mem_alloc(size_bytes)
    }

    fn is_out_of_memory(error: DriverError) -> bool {
        error.is_out_of_memory()
    }

    /// The driver refuses only if the context went away, which is no error for the caller.
    fn give_back(&self, chunk: Region) -> bool {
        self.0.mem_free(chunk.address).is_ok()
    }
}

impl<R: Driver> Pool<R> {
    #[must_use]
    pub fn new(driver: R) -> Self {
        let pending = Arc::new(Pending::new(driver.clone()));
        Self::with_device(driver.clone(), pending, Chunks::new(driver))
    }
}

impl<R: Driver> Chunks<R> {
    #[must_use]
    pub fn new(driver: R) -> Self {
        Self { pool: allocert_pool::Pool::new(DriverMemory(driver), Settings::default()) }
    }

    fn driver(&self) -> &R {
        &self.pool.system().0
    }

    /// Why the pool has no memory. No pool serves a size beyond all address spaces; then the driver
    /// is asked for its answer.
    fn refusal(&self, size_bytes: u64, error: PoolError<DriverError>) -> Error {
        match error {
            PoolError::OutOfMemory(Some(error)) | PoolError::System(error) => error.into(),
            _ => match self.driver().mem_alloc(size_bytes) {
                Err(error) => error.into(),
                Ok(pointer) => {
                    let _ = self.driver().mem_free(pointer);
                    Error::NotSupported("the pool serves no size beyond all address spaces")
                }
            },
        }
    }
}

impl<R: Driver> DeviceMemory for Chunks<R> {
    fn memalloc(&self, size_bytes: u64) -> Result<Memory> {
        let given = self.pool.alloc(Some(self.pool.cache_of_thread()), size_bytes);
        let given = given.map_err(|error| self.refusal(size_bytes, error))?;
        Ok(Memory {
            kind: MemoryKind::Device,
            device_pointer: given.address,
            host_pointer: 0,
            size_bytes,
            token: Token(given.name.to_bits()),
        })
    }

    fn release(&self, token: Token) -> Result<()> {
        let free = |name| self.pool.free_named(self.pool.cache_of_thread(), name);
        match Name::from_bits(token.0).map_or(Ended::Never, free) {
            Ended::Now | Ended::Forgotten => Ok(()),
            Ended::Before => Err(Error::released_before(token)),
            Ended::Never => Err(Error::never_given(token)),
        }
    }

    fn get_memory_info(&self) -> Result<MemoryInfo> {
        let driver = self.driver().mem_info()?;
        let free_bytes = driver.free_bytes.saturating_add(self.pool.idle_bytes());
        Ok(MemoryInfo { free_bytes: free_bytes.min(driver.total_bytes), ..driver })
    }

    fn get_ipc_handle(&self, token: Token, offset_bytes: u64) -> Result<IpcHandle> {
        let name = Name::from_bits(token.0);
        let block = name.and_then(|name| self.pool.locate(name)).ok_or_else(|| not_live(token))?;
        let address = inside(block.address, block.size_bytes, offset_bytes)?;
        share(self.driver(), block.chunk, address, block.size_bytes)
    }

    fn reset(&self) {
        self.pool.clear();
    }

    fn defer_begin(&self) {
        self.pool.hold();
    }

    fn defer_end(&self) {
        self.pool.let_go();
    }
}
