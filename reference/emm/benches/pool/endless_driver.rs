//! A driver whose calls cost nothing, under the pools of the benches of `emm` and of `place`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use allocert_emm::{Driver, DriverError, HostFlags, MemoryInfo, Pool};

/// Endless device memory.
#[derive(Clone, Debug)]
pub(crate) struct Endless(Arc<AtomicU64>);

const NOT_SUPPORTED: DriverError = DriverError::Call { call: "none", code: 801 };

/// A pool of `emm` over it.
pub(crate) fn pool() -> Pool<Endless> {
    Pool::new(Endless(Arc::new(AtomicU64::new(1 << 40))))
}

impl Driver for Endless {
    fn mem_alloc(&self, size_bytes: u64) -> Result<u64, DriverError> {
        Ok(self.0.fetch_add(size_bytes.next_multiple_of(512), Ordering::Relaxed))
    }
    fn mem_free(&self, _pointer: u64) -> Result<(), DriverError> {
        Ok(())
    }
    fn mem_info(&self) -> Result<MemoryInfo, DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn mem_base(&self, _pointer: u64) -> Result<u64, DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn host_alloc(&self, _size_bytes: u64, _flags: HostFlags) -> Result<usize, DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn host_free(&self, _pointer: usize) -> Result<(), DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn host_register(
        &self,
        _pointer: usize,
        _size_bytes: u64,
        _mapped: bool,
    ) -> Result<(), DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn host_unregister(&self, _pointer: usize) -> Result<(), DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn host_device_pointer(&self, _pointer: usize) -> Result<u64, DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn ipc_handle(&self, _base: u64) -> Result<[u8; 64], DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn device_uuid(&self) -> Result<[u8; 16], DriverError> {
        Err(NOT_SUPPORTED)
    }
}
