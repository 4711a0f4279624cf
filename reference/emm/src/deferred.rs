use std::sync::Arc;

use crate::{
    Cuda, DeviceMemory, Direct, Driver, HostOnly, IpcHandle, Memory, MemoryInfo, Pending, Result,
    Token,
};

/// Numba's own policy: frees wait until more than ten of them, or more than a fifth of the device's
/// memory, are waiting; running out of memory frees them and tries once more; inside
/// `defer_cleanup` nothing is freed, and memory that came due meanwhile is freed when it ends.
pub type Deferred<R = Cuda> = HostOnly<Queued<R>, R>;

/// The device half of [`Deferred`].
#[derive(Debug)]
pub struct Queued<R> {
    driver: R,
    direct: Direct<R>,
    pending: Arc<Pending<R>>,
}

impl<R: Driver> Deferred<R> {
    #[must_use]
    pub fn new(driver: R) -> Self {
        let pending = Arc::new(Pending::new(driver.clone()));
        let direct = Direct::new(driver.clone(), Arc::clone(&pending));
        let device = Queued { driver: driver.clone(), direct, pending: Arc::clone(&pending) };
        Self::with_device(driver, pending, device)
    }
}

impl<R: Driver> DeviceMemory for Queued<R> {
    fn initialize(&self) -> Result<()> {
        if !self.pending.has_capacity() {
            self.pending.set_capacity(self.driver.mem_info()?.total_bytes);
        }
        Ok(())
    }

    fn memalloc(&self, size_bytes: u64) -> Result<Memory> {
        self.direct.memalloc(size_bytes)
    }

    fn release(&self, token: Token) -> Result<()> {
        self.direct.release(token)
    }

    fn get_memory_info(&self) -> Result<MemoryInfo> {
        Ok(self.driver.mem_info()?)
    }

    fn get_ipc_handle(&self, token: Token, offset_bytes: u64) -> Result<IpcHandle> {
        self.direct.get_ipc_handle(token, offset_bytes)
    }

    fn reset(&self) {
        self.direct.reset();
    }
}
