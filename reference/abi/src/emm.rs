//! `allocert_emm.h` as `repr(C)` types. The header's comments hold here and are not repeated.

use std::ffi::{c_char, c_void};
use std::fmt;

/// `ALLOCERT_EMM_VERSION`.
pub const VERSION: u32 = 1;
/// The default symbol, NUL-terminated for a symbol look-up.
pub const SYMBOL: &[u8] = b"allocert_emm_plugin_v1\0";

pub const CAP_HOST_MEMORY: u32 = 1;
pub const CAP_MEMORY_INFO: u32 = 2;
pub const CAP_IPC: u32 = 4;
/// Reserved: no function uses it in version 1.
pub const CAP_MANAGED: u32 = 8;

pub const HOST_MAPPED: u32 = 1;
pub const HOST_PORTABLE: u32 = 2;
pub const HOST_WRITE_COMBINED: u32 = 4;

pub const KIND_DEVICE: u32 = 0;
pub const KIND_PINNED: u32 = 1;
pub const KIND_MAPPED: u32 = 2;

/// `allocert_emm_status`. Any value may arrive from a foreign plugin, so this is no Rust enum.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Status(pub i32);

impl Status {
    pub const OK: Self = Self(0);
    pub const OUT_OF_MEMORY: Self = Self(1);
    pub const INVALID_VALUE: Self = Self(2);
    pub const NOT_SUPPORTED: Self = Self(3);
    pub const DRIVER_ERROR: Self = Self(4);
    pub const STATE: Self = Self(5);
    pub const INTERNAL: Self = Self(6);

    /// The header's name without its prefix, or `None` for a value that it does not name.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OK => "OK",
            Self::OUT_OF_MEMORY => "OUT_OF_MEMORY",
            Self::INVALID_VALUE => "INVALID_VALUE",
            Self::NOT_SUPPORTED => "NOT_SUPPORTED",
            Self::DRIVER_ERROR => "DRIVER_ERROR",
            Self::STATE => "STATE",
            Self::INTERNAL => "INTERNAL",
            _ => return None,
        })
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "Status({})", self.0),
        }
    }
}

/// `allocert_emm_manager`, opaque.
#[derive(Debug)]
#[repr(C)]
pub struct Manager {
    _opaque: [u8; 0],
    _not_send: std::marker::PhantomData<*mut u8>,
}

/// `allocert_emm_memory`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Memory {
    pub size: usize,
    pub kind: u32,
    pub reserved: u32,
    pub device_pointer: u64,
    pub host_pointer: *mut c_void,
    pub size_bytes: u64,
    pub token: u64,
}

/// `allocert_emm_ipc_handle`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct IpcHandle {
    pub size: usize,
    pub handle: [u8; 64],
    pub size_bytes: u64,
    pub offset_bytes: u64,
    pub device_uuid: [u8; 16],
}

/// `allocert_emm_memory_info`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MemoryInfo {
    pub size: usize,
    pub free_bytes: u64,
    pub total_bytes: u64,
}

/// The value to pass as an `out` argument: all zero but for its `size`.
macro_rules! empty {
    ($($type:ident { $($field:ident: $value:expr),* })*) => {$(
        impl $type {
            /// All zero except `size`: what a caller passes as `out`.
            #[must_use]
            pub const fn empty() -> Self {
                Self { size: size_of::<Self>(), $($field: $value),* }
            }
        }
        impl Default for $type {
            fn default() -> Self {
                Self::empty()
            }
        }
    )*};
}

empty! {
    Memory {
        kind: 0,
        reserved: 0,
        device_pointer: 0,
        host_pointer: std::ptr::null_mut(),
        size_bytes: 0,
        token: 0
    }
    IpcHandle { handle: [0; 64], size_bytes: 0, offset_bytes: 0, device_uuid: [0; 16] }
    MemoryInfo { free_bytes: 0, total_bytes: 0 }
}

/// `allocert_emm_plugin`, the table. Functions are optional because a foreign table may hold NULL
/// anywhere; a caller also reads nothing beyond the table's own `size`.
#[derive(Debug)]
#[repr(C)]
pub struct Plugin {
    pub size: usize,
    pub interface_version: u32,
    pub capabilities: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub create: Option<
        unsafe extern "C" fn(
            cuda_context: *mut c_void,
            device: i32,
            out: *mut *mut Manager,
        ) -> Status,
    >,
    pub destroy: Option<unsafe extern "C" fn(manager: *mut Manager)>,
    pub initialize: Option<unsafe extern "C" fn(manager: *mut Manager) -> Status>,
    pub memalloc: Option<
        unsafe extern "C" fn(manager: *mut Manager, size_bytes: u64, out: *mut Memory) -> Status,
    >,
    pub memhostalloc: Option<
        unsafe extern "C" fn(
            manager: *mut Manager,
            size_bytes: u64,
            flags: u32,
            out: *mut Memory,
        ) -> Status,
    >,
    pub mempin: Option<
        unsafe extern "C" fn(
            manager: *mut Manager,
            pointer: *mut c_void,
            size_bytes: u64,
            flags: u32,
            out: *mut Memory,
        ) -> Status,
    >,
    pub release: Option<unsafe extern "C" fn(manager: *mut Manager, token: u64) -> Status>,
    pub get_memory_info:
        Option<unsafe extern "C" fn(manager: *mut Manager, out: *mut MemoryInfo) -> Status>,
    pub get_ipc_handle: Option<
        unsafe extern "C" fn(
            manager: *mut Manager,
            token: u64,
            offset_bytes: u64,
            out: *mut IpcHandle,
        ) -> Status,
    >,
    pub reset: Option<unsafe extern "C" fn(manager: *mut Manager) -> Status>,
    pub defer_begin: Option<unsafe extern "C" fn(manager: *mut Manager) -> Status>,
    pub defer_end: Option<unsafe extern "C" fn(manager: *mut Manager) -> Status>,
    pub last_error: Option<unsafe extern "C" fn(manager: *mut Manager) -> *const c_char>,
}

/// `allocert_emm_plugin_fn`: what the symbol resolves to.
pub type PluginFn = unsafe extern "C" fn() -> *const Plugin;

// SAFETY: a table is immutable once it exists and lives as long as its library, as the header
// demands, so threads may share references to it; its pointers name text that is as constant.
unsafe impl Sync for Plugin {}
