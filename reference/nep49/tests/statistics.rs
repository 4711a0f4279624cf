//! The statistics are those of a whole process, so this is the only test of its program.

#![expect(unsafe_code, reason = "calls the functions of the handler")]

use std::ptr;
use std::thread;

use allocert_nep49::{HANDLER, statistics};

/// More threads than count for themselves at a time.
const THREADS: u64 = 100;

#[test]
fn counts_of_threads_that_ended_remain() {
    let threads: Vec<_> = (0..THREADS).map(|_| thread::spawn(take_two_and_give_one)).collect();
    for thread in threads {
        thread.join().expect("a thread that takes and gives");
    }
    let after = statistics();
    assert_eq!((after.taken_blocks, after.given_blocks), (2 * THREADS, THREADS));
    assert_eq!((after.live_blocks(), after.live_bytes()), (THREADS, 7 * THREADS));
    assert_eq!(after.refused_calls, 0);
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
