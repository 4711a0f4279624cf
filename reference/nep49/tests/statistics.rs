//! The statistics are those of a whole process, so this is the only test of its program.

#![expect(unsafe_code, reason = "calls the functions of the handler")]

use std::ptr;
use std::thread;

use allocert_nep49::{HANDLER, statistics};

/// More threads than count for themselves at a time.
const THREADS: u64 = 300;

#[test]
fn counts_of_threads_that_ended_remain() {
    let threads: Vec<_> = (0..THREADS).map(|_| thread::spawn(take_two_and_give_one)).collect();
    for thread in threads {
        thread.join().expect("a thread that takes and gives");
    }
    let after = statistics();
    assert_eq!((after.malloc_calls, after.calloc_calls), (2 * THREADS, 0));
    assert_eq!((after.realloc_calls, after.free_calls), (THREADS, THREADS));
    assert_eq!((after.live_blocks, after.live_bytes), (THREADS, 7 * THREADS));
    assert_eq!((after.failed_calls, after.refused_calls), (0, 0));
    a_large_block_is_in_the_peak();
}

fn take_two_and_give_one() {
    let functions = HANDLER.0.allocator;
    let malloc = functions.malloc.expect("a function");
    let realloc = functions.realloc.expect("a function");
    let free = functions.free.expect("a function");
    // SAFETY: any size.
    let block = unsafe { malloc(ptr::null_mut(), 100) };
    // SAFETY: any size.
    let kept = unsafe { malloc(ptr::null_mut(), 7) };
    assert!(!kept.is_null());
    // SAFETY: a live block.
    let block = unsafe { realloc(ptr::null_mut(), block, 5000) };
    // SAFETY: the block that took its place.
    unsafe { free(ptr::null_mut(), block, 5000) };
}

fn a_large_block_is_in_the_peak() {
    const BYTES: usize = 9 << 20;
    let functions = HANDLER.0.allocator;
    let calloc = functions.calloc.expect("a function");
    let free = functions.free.expect("a function");
    let before = statistics();
    // SAFETY: any sizes.
    let block = unsafe { calloc(ptr::null_mut(), BYTES, 1) };
    // SAFETY: a live block.
    unsafe { free(ptr::null_mut(), block, BYTES) };
    // SAFETY: any sizes.
    assert!(unsafe { calloc(ptr::null_mut(), usize::MAX, 2) }.is_null());
    let after = statistics();
    assert!(after.peak_bytes >= before.live_bytes + BYTES as u64 - (1 << 20));
    assert!(after.peak_bytes <= before.live_bytes + BYTES as u64 + (1 << 20));
    assert_eq!((after.live_bytes, after.failed_calls), (before.live_bytes, 1));
}
