//! The two functions that CuPy's `CFunctionAllocator` calls, for the places of CUDA.
//!
//! ```text
//! library = ctypes.CDLL("allocert/bin/liballocert_place.so")
//! address = lambda name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value
//! allocator = cupy.cuda.CFunctionAllocator(
//!     0, address("allocert_place_cupy_malloc"), address("allocert_place_cupy_free"), library
//! )
//! cupy.cuda.set_allocator(allocator.malloc)
//! ```
//!
//! CuPy names no stream, and drops arrays while work that uses them is queued. So a block that was
//! freed is idle memory only after `cuCtxSynchronize` of the device's primary context, which is
//! called when memory runs short. Blocks of these functions and of the table are of one kind.

use std::ffi::c_void;
use std::ptr;

use crate::stderr::answer;
use crate::{CudaPlace, memory};

/// A block of `size` bytes of the device. Null for size 0, and if there is no memory; then stderr
/// says why. `param` is not used.
#[unsafe(no_mangle)]
pub extern "C" fn allocert_place_cupy_malloc(
    _param: *mut c_void,
    size: usize,
    device: i32,
) -> *mut c_void {
    answer("cupy_malloc", ptr::null_mut(), || {
        memory::alloc(CudaPlace(device), size)
            .map_err(|error| format!("{size} bytes of device {device}: {error}"))
    })
}

/// Takes a block of the device back that work queued on any stream may still use. What is no block
/// stays as it is; then stderr says why. `param` is not used.
#[unsafe(no_mangle)]
pub extern "C" fn allocert_place_cupy_free(_param: *mut c_void, pointer: *mut c_void, device: i32) {
    answer("cupy_free", (), || {
        memory::free_on_any_stream(device, pointer)
            .map_err(|error| format!("device {device}: {error}"))
    });
}
