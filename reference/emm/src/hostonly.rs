use std::sync::Arc;

use crate::host::Host;
use crate::{
    Cuda, DeviceMemory, Direct, Driver, Error, HostFlags, IpcHandle, Manager, Memory, MemoryInfo,
    Pending, Result, Token,
};

/// A manager whose host half is complete and whose device half is left to `D` (NBEP 7, "Providing
/// device memory management only").
#[derive(Debug)]
pub struct HostOnly<D: DeviceMemory, R: Driver = Cuda> {
    host: Host<R>,
    device: D,
    pending: Arc<Pending<R>>,
}

impl<D: DeviceMemory, R: Driver> HostOnly<D, R> {
    /// `pending` may be shared with `device`, so that both halves defer together.
    #[must_use]
    pub fn with_device(driver: R, pending: Arc<Pending<R>>, device: D) -> Self {
        Self { host: Host::new(driver, Arc::clone(&pending)), device, pending }
    }
}

impl<R: Driver> HostOnly<Direct<R>, R> {
    /// Over the trivial device half.
    #[must_use]
    pub fn new(driver: R) -> Self {
        let pending = Arc::new(Pending::new(driver.clone()));
        let device = Direct::new(driver.clone(), Arc::clone(&pending));
        Self::with_device(driver, pending, device)
    }
}

impl<D: DeviceMemory, R: Driver> Manager for HostOnly<D, R> {
    fn initialize(&self) -> Result<()> {
        self.device.initialize()
    }

    fn memalloc(&self, size_bytes: u64) -> Result<Memory> {
        self.device.memalloc(size_bytes)
    }

    fn memhostalloc(&self, size_bytes: u64, flags: HostFlags) -> Result<Memory> {
        self.host.memhostalloc(size_bytes, flags)
    }

    fn mempin(&self, pointer: usize, size_bytes: u64, mapped: bool) -> Result<Memory> {
        self.host.mempin(pointer, size_bytes, mapped)
    }

    fn release(&self, token: Token) -> Result<()> {
        match token.is_host() {
            true => self.host.release(token),
            false => self.device.release(token),
        }
    }

    fn get_memory_info(&self) -> Result<MemoryInfo> {
        self.device.get_memory_info()
    }

    fn get_ipc_handle(&self, token: Token, offset_bytes: u64) -> Result<IpcHandle> {
        match token.is_host() {
            true => Err(Error::InvalidValue(format!("token {:#x} is of host memory", token.0))),
            false => self.device.get_ipc_handle(token, offset_bytes),
        }
    }

    fn reset(&self) {
        self.device.reset();
        self.host.reset();
        self.pending.clear();
    }

    fn defer_begin(&self) {
        self.pending.defer_begin();
        self.device.defer_begin();
    }

    fn defer_end(&self) -> Result<()> {
        self.pending.defer_end()?;
        self.device.defer_end();
        Ok(())
    }
}

impl<D: DeviceMemory, R: Driver> Drop for HostOnly<D, R> {
    fn drop(&mut self) {
        self.reset();
    }
}
