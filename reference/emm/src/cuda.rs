use allocert_cuda::{Context, DriverError, HostAllocFlags, IPC_HANDLE_BYTES, MemoryInfo};

use crate::Driver;

/// The loaded CUDA driver, for one context of one device.
#[derive(Clone, Copy, Debug)]
pub struct Cuda {
    driver: allocert_cuda::Driver,
    context: Context,
    device: i32,
}

impl Cuda {
    #[must_use]
    pub const fn new(driver: allocert_cuda::Driver, context: Context, device: i32) -> Self {
        Self { driver, context, device }
    }
}

impl Driver for Cuda {
    fn mem_alloc(&self, size_bytes: u64) -> Result<u64, DriverError> {
        self.driver.mem_alloc(size_bytes)
    }

    fn mem_free(&self, pointer: u64) -> Result<(), DriverError> {
        self.driver.in_context(self.context, || self.driver.mem_free(pointer))
    }

    fn mem_info(&self) -> Result<MemoryInfo, DriverError> {
        self.driver.ctx_push_current(self.context)?;
        let info = self.driver.mem_get_info();
        self.driver.ctx_pop_current()?;
        info
    }

    fn mem_base(&self, pointer: u64) -> Result<u64, DriverError> {
        self.driver.mem_get_address_range(pointer).map(|(base, _size_bytes)| base)
    }

    fn host_alloc(&self, size_bytes: u64, flags: HostAllocFlags) -> Result<usize, DriverError> {
        self.driver.mem_host_alloc(size_bytes, flags)
    }

    fn host_free(&self, pointer: usize) -> Result<(), DriverError> {
        self.driver.in_context(self.context, || self.driver.mem_free_host(pointer))
    }

    fn host_register(
        &self,
        pointer: usize,
        size_bytes: u64,
        mapped: bool,
    ) -> Result<(), DriverError> {
        self.driver.mem_host_register(pointer, size_bytes, mapped)
    }

    fn host_unregister(&self, pointer: usize) -> Result<(), DriverError> {
        self.driver.in_context(self.context, || self.driver.mem_host_unregister(pointer))
    }

    fn host_device_pointer(&self, pointer: usize) -> Result<u64, DriverError> {
        self.driver.mem_host_get_device_pointer(pointer)
    }

    fn ipc_handle(&self, base: u64) -> Result<[u8; IPC_HANDLE_BYTES], DriverError> {
        self.driver.ipc_get_mem_handle(base)
    }

    fn device_uuid(&self) -> Result<[u8; 16], DriverError> {
        self.driver.device_get_uuid(self.device)
    }
}
