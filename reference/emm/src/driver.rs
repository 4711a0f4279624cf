use allocert_cuda::{DriverError, HostAllocFlags, IPC_HANDLE_BYTES, MemoryInfo};

/// The driver calls that the managers make, for one context. [`crate::Cuda`] is the real one; tests
/// and benches bring others. One method is one driver call.
#[expect(clippy::missing_errors_doc, reason = "all answer with what the driver answers")]
pub trait Driver: Clone + Send + Sync + 'static {
    /// `cuMemAlloc`; `size_bytes` is not 0.
    fn mem_alloc(&self, size_bytes: u64) -> Result<u64, DriverError>;
    /// `cuMemFree`, with or without a current context.
    fn mem_free(&self, pointer: u64) -> Result<(), DriverError>;
    /// `cuMemGetInfo` of the context, whichever is current.
    fn mem_info(&self) -> Result<MemoryInfo, DriverError>;
    /// The base that `cuMemGetAddressRange` reports.
    fn mem_base(&self, pointer: u64) -> Result<u64, DriverError>;
    /// `cuMemHostAlloc`; `size_bytes` is not 0.
    fn host_alloc(&self, size_bytes: u64, flags: HostAllocFlags) -> Result<usize, DriverError>;
    /// `cuMemFreeHost`, with or without a current context.
    fn host_free(&self, pointer: usize) -> Result<(), DriverError>;
    /// `cuMemHostRegister`.
    fn host_register(
        &self,
        pointer: usize,
        size_bytes: u64,
        mapped: bool,
    ) -> Result<(), DriverError>;
    /// `cuMemHostUnregister`, with or without a current context.
    fn host_unregister(&self, pointer: usize) -> Result<(), DriverError>;
    /// `cuMemHostGetDevicePointer`.
    fn host_device_pointer(&self, pointer: usize) -> Result<u64, DriverError>;
    /// `cuIpcGetMemHandle` of an allocation's base.
    fn ipc_handle(&self, base: u64) -> Result<[u8; IPC_HANDLE_BYTES], DriverError>;
    /// `cuDeviceGetUuid` of the context's device.
    fn device_uuid(&self) -> Result<[u8; 16], DriverError>;
}
