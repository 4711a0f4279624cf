//! The reference handler of NumPy's data allocation (NEP 49): blocks of libc's heap, aligned to 64
//! bytes, with a header that finds memory which the handler did not give. A thread keeps some
//! blocks for its next requests: seven of each small size, and of larger ones at most 2 MiB in all.
//!
//! The library `liballocert_nep49.so` exports [`HANDLER`] as the symbol `allocert_nep49_handler`,
//! and [`allocert_nep49_statistics`].

#![expect(unsafe_code, reason = "hands out raw memory and exports C symbols")]

mod block;
mod counters;
mod header;
mod kept;
mod thread;

use std::ffi::c_void;
use std::ptr;

use allocert_abi::nep49::{Allocator, Handler, StaticHandler};

pub use counters::{Statistics, allocert_nep49_statistics, statistics};

/// The handler. It needs no context.
#[unsafe(export_name = "allocert_nep49_handler")]
pub static HANDLER: StaticHandler = StaticHandler(Handler::new(
    "allocert_64_byte_aligned",
    Allocator {
        ctx: ptr::null_mut(),
        malloc: Some(malloc),
        calloc: Some(calloc),
        realloc: Some(realloc),
        free: Some(free),
    },
));

/// # Safety
/// None; it has the type that the structure demands.
unsafe extern "C" fn malloc(_ctx: *mut c_void, size: usize) -> *mut c_void {
    block::take(size)
}

/// # Safety
/// None, as for [`malloc`].
unsafe extern "C" fn calloc(_ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    nelem.checked_mul(elsize).map_or_else(block::failed, block::take_zeroed)
}

/// # Safety
/// `block` is null, or an address that this handler gave.
unsafe extern "C" fn realloc(
    _ctx: *mut c_void,
    block: *mut c_void,
    new_size: usize,
) -> *mut c_void {
    if block.is_null() {
        return block::take(new_size);
    }
    // SAFETY: the caller's promise.
    unsafe { block::resize(block, new_size) }
}

/// The size is a guess of NumPy's, and the header has the true one.
///
/// # Safety
/// `block` is null, or an address that this handler gave.
unsafe extern "C" fn free(_ctx: *mut c_void, block: *mut c_void, _size: usize) {
    if !block.is_null() {
        // SAFETY: the caller's promise.
        unsafe { block::give(block) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::slice;

    /// Calls as NumPy makes them, with blocks of this handler.
    fn malloc(size: usize) -> *mut c_void {
        let function = HANDLER.0.allocator.malloc.expect("a function");
        // SAFETY: the handler's own function, which takes any size.
        unsafe { function(ptr::null_mut(), size) }
    }

    fn calloc(nelem: usize, elsize: usize) -> *mut c_void {
        let function = HANDLER.0.allocator.calloc.expect("a function");
        // SAFETY: as in malloc.
        unsafe { function(ptr::null_mut(), nelem, elsize) }
    }

    fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
        let function = HANDLER.0.allocator.realloc.expect("a function");
        // SAFETY: the tests pass null or a live block.
        unsafe { function(ptr::null_mut(), block, size) }
    }

    fn free(block: *mut c_void, size: usize) {
        let function = HANDLER.0.allocator.free.expect("a function");
        // SAFETY: as in realloc.
        unsafe { function(ptr::null_mut(), block, size) }
    }

    fn bytes<'a>(block: *mut c_void, size: usize) -> &'a mut [u8] {
        // SAFETY: the tests pass a live block of at least so many bytes, all of them written, and
        // keep one slice of it at a time.
        unsafe { slice::from_raw_parts_mut(block.cast::<u8>(), size) }
    }

    #[test]
    fn blocks_are_aligned_and_keep_their_bytes_when_they_grow_and_shrink() {
        for size in [0, 1, 63, 64, 65, 1000, 1 << 20] {
            let block = calloc(size, 1);
            assert!(block.addr().is_multiple_of(64) && !block.is_null());
            bytes(block, size).fill(7);
            let block = realloc(block, size * 3 + 1);
            assert!(block.addr().is_multiple_of(64));
            assert_eq!(bytes(block, size), vec![7; size]);
            let block = realloc(block, size / 2);
            assert!(block.addr().is_multiple_of(64));
            assert_eq!(bytes(block, size / 2), vec![7; size / 2]);
            free(block, 1);
        }
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused_and_the_old_block_stays() {
        for size in [usize::MAX, usize::MAX - 64, isize::MAX as usize] {
            assert!(malloc(size).is_null());
        }
        assert!(calloc(usize::MAX / 2, 3).is_null());
        let block = calloc(3, 8);
        assert_eq!(bytes(block, 24), [0; 24]);
        assert!(realloc(block, usize::MAX - 8).is_null());
        assert_eq!(bytes(block, 24), [0; 24]);
        free(block, 24);
        free(ptr::null_mut(), 24);
    }

    #[test]
    fn a_thread_gives_small_blocks_out_again_cleared_and_apart() {
        let given: Vec<_> = (0..20).map(|_| malloc(200)).collect();
        for block in &given {
            bytes(*block, 200).fill(9);
            free(*block, 200);
            free(*block, 200);
        }
        let again: Vec<_> = (0..20).map(|_| calloc(20, 10)).collect();
        assert!(again.iter().any(|block| given.contains(block)));
        assert!(again.iter().all(|block| *bytes(*block, 200) == [0; 200]));
        let apart: std::collections::HashSet<_> = again.iter().copied().collect();
        assert_eq!(apart.len(), again.len());
        for block in again {
            std::thread::scope(|scope| {
                let address = block.expose_provenance();
                scope.spawn(move || free(ptr::with_exposed_provenance_mut(address), 200));
            });
        }
    }

    #[test]
    fn a_thread_gives_a_large_block_out_again_to_a_request_that_needs_most_of_it() {
        let first = malloc(100_000);
        bytes(first, 100_000).fill(9);
        free(first, 100_000);
        let (small, large) = (malloc(70_000), malloc(100_001));
        assert!(small != first && large != first);
        let again = calloc(95_000, 1);
        assert_eq!(again, first);
        assert_eq!(bytes(again, 95_000), vec![0; 95_000]);
        let grown = realloc(again, 100_000);
        assert_eq!(bytes(grown, 95_000), vec![0; 95_000]);
        for block in [small, large, grown] {
            free(block, 0);
        }
    }

    #[test]
    fn memory_that_the_handler_did_not_give_stays_as_it_is() {
        let before = statistics();
        let block = calloc(256, 1);
        free(block.wrapping_byte_add(64), 192);
        free(block.wrapping_byte_add(8), 248);
        assert!(realloc(block.wrapping_byte_add(128), 10).is_null());
        assert!(statistics().refused_calls >= before.refused_calls + 3);
        assert_eq!(bytes(block, 256), [0; 256]);
        free(block, 256);
    }
}
