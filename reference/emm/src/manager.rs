use crate::{HostFlags, IpcHandle, Memory, MemoryInfo, Result, Token};

/// The EMM contract (NBEP 7, "Plugin Base Classes"): one manager for one CUDA context.
///
/// "Current" below: the manager's context is the calling thread's current context. Every method may
/// be called from several threads at once. Errors leave everything as it was.
pub trait Manager: Send + Sync {
    /// Makes ready; may be called again at any time and then loses nothing. Context: current.
    ///
    /// # Errors
    /// What the driver answers.
    fn initialize(&self) -> Result<()>;

    /// Allocates device memory, aligned to 256 bytes or better. Context: current.
    ///
    /// # Errors
    /// `OutOfMemory` after giving back what is cached (not inside a `defer` pair); `Driver`.
    fn memalloc(&self, size_bytes: u64) -> Result<Memory>;

    /// Allocates page-locked host memory. Context: current.
    ///
    /// # Errors
    /// As [`Manager::memalloc`].
    fn memhostalloc(&self, size_bytes: u64, flags: HostFlags) -> Result<Memory>;

    /// Pins host memory that the caller owns until the token is released. Context: current.
    ///
    /// # Errors
    /// `InvalidValue` for a null pointer, no bytes or a range past the end of memory; else as
    /// [`Manager::memalloc`].
    fn mempin(&self, pointer: usize, size_bytes: u64, mapped: bool) -> Result<Memory>;

    /// The finalizer. Unpins at once; may give back other memory later. A token from before the
    /// last [`Manager::reset`] is a no-op. Context: any or none.
    ///
    /// # Errors
    /// `InvalidValue` for a token that was never given or already released. `Driver`: the token is
    /// released even then.
    fn release(&self, token: Token) -> Result<()>;

    /// Free and total device memory. Context: current.
    ///
    /// # Errors
    /// `NotSupported` where the manager cannot tell; `Driver`.
    fn get_memory_info(&self) -> Result<MemoryInfo>;

    /// An IPC handle for the byte at `offset_bytes` of a live device allocation. Context: current.
    ///
    /// # Errors
    /// `InvalidValue` for a token that is not live or not of device memory, or an offset at or
    /// beyond its size; `NotSupported`; `Driver`.
    fn get_ipc_handle(&self, token: Token, offset_bytes: u64) -> Result<IpcHandle>;

    /// Gives everything back, also inside a `defer` pair. May come before [`Manager::initialize`],
    /// again, and for a context that is going away: what the driver no longer takes is dropped.
    /// Context: any or none.
    fn reset(&self);

    /// Until the matching [`Manager::defer_end`], releases cause no driver call that frees device
    /// or page-locked memory. Nests. Context: any or none.
    fn defer_begin(&self);

    /// # Errors
    /// `State` without a matching [`Manager::defer_begin`].
    fn defer_end(&self) -> Result<()>;
}
