//! The structures of NEP 49, as NumPy's `ndarraytypes.h` declares them.

use std::ffi::{c_char, c_void};

/// The bytes of a handler's name, the NUL among them.
pub const NAME_BYTES: usize = 127;

/// The version of [`Handler`] that NEP 49 describes.
pub const VERSION: u8 = 1;

/// `PyDataMemAllocator`: the four functions, each called with `ctx`. NEP 49, "NumPy C-API
/// functions". A function that is `None` is null, which the text does not accept.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Allocator {
    pub ctx: *mut c_void,
    /// At least `size` bytes, or null.
    pub malloc: Option<unsafe extern "C" fn(ctx: *mut c_void, size: usize) -> *mut c_void>,
    /// `nelem * elsize` bytes of zeros, or null.
    pub calloc:
        Option<unsafe extern "C" fn(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void>,
    /// A block of `new_size` bytes in place of `ptr`, or null; `ptr` then stays as it is.
    pub realloc: Option<
        unsafe extern "C" fn(ctx: *mut c_void, ptr: *mut c_void, new_size: usize) -> *mut c_void,
    >,
    /// Gives `ptr` back. `size` is NumPy's best guess.
    pub free: Option<unsafe extern "C" fn(ctx: *mut c_void, ptr: *mut c_void, size: usize)>,
}

/// `PyDataMem_Handler`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Handler {
    /// NUL-terminated.
    pub name: [c_char; NAME_BYTES],
    /// [`VERSION`].
    pub version: u8,
    pub allocator: Allocator,
}

impl Handler {
    /// A handler of the current version.
    ///
    /// # Panics
    /// For a name of more than 126 bytes, at compile time where it is used in a constant.
    #[must_use]
    pub const fn new(name: &str, allocator: Allocator) -> Self {
        let bytes = name.as_bytes();
        assert!(bytes.len() < NAME_BYTES, "the name and its NUL have 127 bytes");
        let mut padded = [0; NAME_BYTES];
        let mut index = 0;
        while index < bytes.len() {
            padded[index] = bytes[index] as c_char;
            index += 1;
        }
        Self { name: padded, version: VERSION, allocator }
    }
}

/// A handler in static memory, which every thread calls.
#[repr(transparent)]
#[derive(Debug)]
pub struct StaticHandler(pub Handler);

// SAFETY: nothing writes to it. That the functions may be called from every thread, with this
// context, is the contract of a handler (NEP 49, "PyDataMem_Handler thread safety and lifetime").
unsafe impl Sync for StaticHandler {}

const _: () = {
    assert!(std::mem::offset_of!(Handler, version) == 127);
    assert!(std::mem::offset_of!(Handler, allocator) == 128);
    assert!(size_of::<Handler>() == 128 + 5 * size_of::<usize>());
};
