//! What a Rust type implements to become a native plugin.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::ptr::NonNull;

use crate::emm::{IpcHandle, Memory, MemoryInfo, Status};

/// A manager behind `allocert_emm.h`. Each method is the header's function of the same name;
/// threads, ownership and errors are as the header says. [`crate::export_emm_plugin!`] makes the
/// table.
///
/// Methods of a capability whose bit is clear are never called and may keep their default.
pub trait EmmPlugin: Sized + Send + Sync + 'static {
    const NAME: &'static CStr;
    const VERSION: &'static CStr;
    /// `CAP_*`, or'ed.
    const CAPABILITIES: u32;

    fn create(context: CudaContext, device: i32) -> Result<Self, Failure>;
    fn initialize(&self) -> Result<(), Failure>;
    fn memalloc(&self, size_bytes: u64) -> Result<Memory, Failure>;
    fn memhostalloc(&self, _size_bytes: u64, _flags: u32) -> Result<Memory, Failure> {
        Err(Failure::not_supported("memhostalloc"))
    }
    fn mempin(
        &self,
        _pointer: NonNull<c_void>,
        _size_bytes: u64,
        _flags: u32,
    ) -> Result<Memory, Failure> {
        Err(Failure::not_supported("mempin"))
    }
    fn release(&self, token: u64) -> Result<(), Failure>;
    fn get_memory_info(&self) -> Result<MemoryInfo, Failure> {
        Err(Failure::not_supported("get_memory_info"))
    }
    fn get_ipc_handle(&self, _token: u64, _offset_bytes: u64) -> Result<IpcHandle, Failure> {
        Err(Failure::not_supported("get_ipc_handle"))
    }
    fn reset(&self) -> Result<(), Failure>;
    fn defer_begin(&self) -> Result<(), Failure>;
    fn defer_end(&self) -> Result<(), Failure>;
}

/// The host's `CUcontext`. Only the call table makes one, from a host that promised (header,
/// `create`) that it is a context of the driver.
#[derive(Clone, Copy, Debug)]
pub struct CudaContext(pub(crate) NonNull<c_void>);

impl CudaContext {
    #[must_use]
    pub const fn as_non_null(self) -> NonNull<c_void> {
        self.0
    }
}

/// A failed call: the status for the host and the text for `last_error`.
#[derive(Clone, Debug)]
pub struct Failure {
    pub status: Status,
    pub message: String,
}

impl Failure {
    #[must_use]
    pub fn new(status: Status, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    fn not_supported(call: &str) -> Self {
        Self::new(Status::NOT_SUPPORTED, format!("this plugin does not offer {call}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.status, self.message)
    }
}

impl std::error::Error for Failure {}

/// Exports each type as a plugin table under the symbol named before it.
///
/// ```
/// # use allocert_abi::plugin::{CudaContext, EmmPlugin, Failure};
/// # use allocert_abi::emm::{Memory, Status};
/// struct Nothing;
/// impl EmmPlugin for Nothing {
///     const NAME: &'static std::ffi::CStr = c"nothing";
///     const VERSION: &'static std::ffi::CStr = c"1.0";
///     const CAPABILITIES: u32 = 0;
///     fn create(_: CudaContext, _device: i32) -> Result<Self, Failure> { Ok(Self) }
///     fn initialize(&self) -> Result<(), Failure> { Ok(()) }
///     fn memalloc(&self, _size_bytes: u64) -> Result<Memory, Failure> {
///         Err(Failure::new(Status::OUT_OF_MEMORY, "memalloc: there is none"))
///     }
///     fn release(&self, token: u64) -> Result<(), Failure> {
///         let message = format!("release: token {token} was never given");
///         Err(Failure::new(Status::INVALID_VALUE, message))
///     }
///     fn reset(&self) -> Result<(), Failure> { Ok(()) }
///     fn defer_begin(&self) -> Result<(), Failure> { Ok(()) }
///     fn defer_end(&self) -> Result<(), Failure> { Ok(()) }
/// }
/// allocert_abi::export_emm_plugin! { allocert_emm_plugin_v1 => Nothing }
/// ```
#[macro_export]
macro_rules! export_emm_plugin {
    ($($symbol:ident => $plugin:ty),+ $(,)?) => {$(
        /// The plugin table of `allocert_emm.h`.
        #[unsafe(no_mangle)]
        pub extern "C" fn $symbol() -> *const $crate::emm::Plugin {
            static TABLE: $crate::emm::Plugin = $crate::table::<$plugin>();
            &raw const TABLE
        }
    )+};
}
