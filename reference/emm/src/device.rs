use crate::{Error, IpcHandle, Memory, MemoryInfo, Result, Token};

/// The device half of a manager: what `HostOnlyCUDAMemoryManager` leaves to its subclass (NBEP 7,
/// "Providing device memory management only"). Each method keeps the promises of its namesake in
/// [`crate::Manager`]. The highest bit of its tokens is 0, as in a device [`crate::Ledger`]: that
/// keeps them apart from the host half's.
pub trait DeviceMemory: Send + Sync {
    fn initialize(&self) -> Result<()> {
        Ok(())
    }

    fn memalloc(&self, size_bytes: u64) -> Result<Memory>;

    fn release(&self, token: Token) -> Result<()>;

    fn get_memory_info(&self) -> Result<MemoryInfo> {
        Err(Error::NotSupported("this manager cannot tell how much device memory is free"))
    }

    fn get_ipc_handle(&self, _token: Token, _offset_bytes: u64) -> Result<IpcHandle> {
        Err(Error::NotSupported("this manager's device memory cannot be shared between processes"))
    }

    /// Gives back every allocation and everything cached.
    fn reset(&self);

    fn defer_begin(&self) {}

    /// Called only after a matching [`DeviceMemory::defer_begin`].
    fn defer_end(&self) {}
}
