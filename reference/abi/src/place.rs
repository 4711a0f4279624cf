//! `allocert_place.h` as `repr(C)` types. The header's comments hold here and are not repeated.

use std::ffi::{c_char, c_void};
use std::fmt;

/// `ALLOCERT_PLACE_VERSION`.
pub const VERSION: u32 = 1;
/// The default symbol, NUL-terminated for a symbol look-up.
pub const SYMBOL: &[u8] = b"allocert_place_allocator_v1\0";

pub const CPU: i32 = 0;
pub const CUDA: i32 = 1;
pub const CUDA_PINNED: i32 = 2;

/// `allocert_place_status`. Any value may arrive from a foreign library, so this is no Rust enum.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Status(pub i32);

impl Status {
    pub const OK: Self = Self(0);
    pub const OUT_OF_MEMORY: Self = Self(1);
    pub const INVALID_VALUE: Self = Self(2);
    pub const NO_PLACE: Self = Self(3);
    pub const DRIVER_ERROR: Self = Self(4);
    pub const CORRUPTED: Self = Self(5);
    pub const INTERNAL: Self = Self(6);

    /// The header's name without its prefix, or `None` for a value that it does not name.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::OK => "OK",
            Self::OUT_OF_MEMORY => "OUT_OF_MEMORY",
            Self::INVALID_VALUE => "INVALID_VALUE",
            Self::NO_PLACE => "NO_PLACE",
            Self::DRIVER_ERROR => "DRIVER_ERROR",
            Self::CORRUPTED => "CORRUPTED",
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

/// `allocert_place`. Any kind may arrive from a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Place {
    pub kind: i32,
    pub device: i32,
}

impl Place {
    pub const CPU: Self = Self { kind: CPU, device: 0 };
    pub const PINNED: Self = Self { kind: CUDA_PINNED, device: 0 };

    /// The place of the device with this ordinal.
    #[must_use]
    pub const fn cuda(device: i32) -> Self {
        Self { kind: CUDA, device }
    }
}

/// `allocert_place_allocator`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Allocator {
    pub size: usize,
    pub interface_version: u32,
    pub reserved: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub alloc: Option<
        unsafe extern "C" fn(place: Place, size_bytes: usize, out: *mut *mut c_void) -> Status,
    >,
    pub free: Option<unsafe extern "C" fn(place: Place, pointer: *mut c_void) -> Status>,
    pub used: Option<unsafe extern "C" fn(place: Place, out_bytes: *mut usize) -> Status>,
    pub release: Option<unsafe extern "C" fn(place: Place, out_bytes: *mut usize) -> Status>,
    pub last_error: Option<unsafe extern "C" fn() -> *const c_char>,
}

/// A table in static memory, which every thread calls.
#[repr(transparent)]
#[derive(Debug)]
pub struct StaticAllocator(pub Allocator);

// SAFETY: nothing writes to it, the texts are static, and the header lets every thread call the
// functions.
unsafe impl Sync for StaticAllocator {}

/// `allocert_place_allocator_fn`, the type of the exported symbol.
pub type AllocatorFn = unsafe extern "C" fn() -> *const Allocator;
