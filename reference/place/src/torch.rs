//! The two functions that PyTorch's `CUDAPluggableAllocator` calls, for the places of CUDA.
//!
//! ```text
//! allocator = torch.cuda.memory.CUDAPluggableAllocator(
//!     "allocert/bin/liballocert_place.so",
//!     "allocert_place_torch_malloc",
//!     "allocert_place_torch_free",
//! )
//! torch.cuda.memory.change_current_allocator(allocator)
//! ```
//!
//! # What is promised
//! * A block that was freed on a stream is given out on the same stream at once. Work that is
//!   queued there later runs after the work that used the block before.
//! * For another stream, and for `alloc` of the table, the block is idle memory only after
//!   `cuCtxSynchronize` of the device's primary context. That is called when memory runs short and
//!   by `release` of the table, never while there is other memory.
//! * A block that was freed on the default stream of a thread (`CU_STREAM_PER_THREAD`) always waits
//!   for that.
//! * Streams belong to the primary context, as those of PyTorch do. While a stream is captured into
//!   a graph, the driver may refuse to synchronise; then such blocks stay with their stream.
//! * Blocks of both functions and of the table are of one kind: `free` of the table says that no
//!   work uses the block any more.

use std::ffi::c_void;
use std::ptr;

use crate::memory;
use crate::stderr::answer;

/// A block of `size` bytes of the device for work on `stream`. Null for size 0, and if there is no
/// memory; then stderr says why.
#[unsafe(no_mangle)]
pub extern "C" fn allocert_place_torch_malloc(
    size: isize,
    device: i32,
    stream: *mut c_void,
) -> *mut c_void {
    answer("torch_malloc", ptr::null_mut(), || {
        let size_bytes = usize::try_from(size)
            .map_err(|_| format!("the caller asks PyTorch's allocator for {size} bytes"))?;
        let stream = stream.expose_provenance() as u64;
        memory::alloc_on_stream(device, stream, size_bytes)
            .map_err(|error| format!("{size} bytes of device {device}: {error}"))
    })
}

/// Takes a block of the device back that work queued on `stream` may still use. What is no block
/// stays as it is; then stderr says why. `size` is not used.
#[unsafe(no_mangle)]
pub extern "C" fn allocert_place_torch_free(
    pointer: *mut c_void,
    _size: isize,
    device: i32,
    stream: *mut c_void,
) {
    answer("torch_free", (), || {
        let stream = stream.expose_provenance() as u64;
        memory::free_on_stream(device, stream, pointer)
            .map_err(|error| format!("device {device}: {error}"))
    });
}
