//! Handlers that remember which thread took a block.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

/// What a thread that ends writes to its blocks.
const GONE: u8 = 0xdd;
/// So many bytes of a block it writes at most.
const GONE_BYTES: usize = 16;

struct Block {
    thread: libc::pid_t,
    size_bytes: usize,
}

/// The live blocks, by address.
static BLOCKS: LazyLock<Mutex<HashMap<usize, Block>>> = LazyLock::new(Mutex::default);

fn blocks() -> MutexGuard<'static, HashMap<usize, Block>> {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Marks the blocks of a thread as free when the thread ends.
struct EndOfThread;

thread_local! {
    static END: EndOfThread = const { EndOfThread };
}

fn this_thread() -> libc::pid_t {
    // SAFETY: it only asks for the number of the thread.
    unsafe { libc::gettid() }
}

impl Drop for EndOfThread {
    fn drop(&mut self) {
        let blocks = blocks();
        let own = blocks.iter().filter(|(_, block)| block.thread == this_thread());
        for (address, block) in own {
            let bytes = block.size_bytes.min(GONE_BYTES);
            // SAFETY: a live block of so many bytes, which nobody frees while the lock is held.
            unsafe { (*address as *mut u8).write_bytes(GONE, bytes) };
        }
    }
}

/// With a null context the block ends with its thread.
fn taken(ctx: *mut c_void, block: *mut c_void, size_bytes: usize) -> *mut c_void {
    if !block.is_null() {
        if ctx.is_null() {
            END.with(|_| ());
        }
        blocks().insert(block.addr(), Block { thread: this_thread(), size_bytes });
    }
    block
}

unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the same call.
    taken(ctx, unsafe { conforming::malloc(ctx, size) }, size)
}

unsafe extern "C" fn calloc(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    // SAFETY: the same call.
    let block = unsafe { conforming::calloc(ctx, nelem, elsize) };
    taken(ctx, block, nelem.saturating_mul(elsize))
}

unsafe extern "C" fn realloc(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    let before = blocks().remove(&block.addr());
    // SAFETY: the same call.
    let moved = unsafe { conforming::realloc(ctx, block, size) };
    if let Some(before) = before.filter(|_| moved.is_null()) {
        blocks().insert(block.addr(), before);
    }
    taken(ctx, moved, size)
}

unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void, size: usize) {
    blocks().remove(&block.addr());
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_blocks_end_with_thread: StaticHandler = mutant(OF_THREAD);

const OF_THREAD: Allocator = Allocator {
    malloc: Some(malloc),
    calloc: Some(calloc),
    realloc: Some(realloc),
    free: Some(free),
    ..CONFORMING
};

#[unsafe(no_mangle)]
static mutant_nep49_aborts_on_other_thread: StaticHandler = mutant(Allocator {
    ctx: ptr::without_provenance_mut(1),
    free: Some(free_on_own_thread),
    ..OF_THREAD
});

unsafe extern "C" fn free_on_own_thread(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if !is_own(block) {
        std::process::abort();
    }
    // SAFETY: the same call.
    unsafe { free(ctx, block, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_leaks_of_other_threads: StaticHandler = mutant(Allocator {
    ctx: ptr::without_provenance_mut(1),
    free: Some(free_of_own_thread),
    ..OF_THREAD
});

/// Keeps a block that another thread took.
unsafe extern "C" fn free_of_own_thread(ctx: *mut c_void, block: *mut c_void, size: usize) {
    if is_own(block) {
        // SAFETY: the same call.
        unsafe { free(ctx, block, size) }
    }
}

fn is_own(block: *mut c_void) -> bool {
    blocks().get(&block.addr()).is_none_or(|block| block.thread == this_thread())
}

#[unsafe(no_mangle)]
static mutant_nep49_serves_one_thread: StaticHandler =
    mutant(Allocator { malloc: Some(malloc_on_first_thread), ..CONFORMING });

unsafe extern "C" fn malloc_on_first_thread(ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: it only asks for the number of the process, which its first thread has too.
    if this_thread() != unsafe { libc::getpid() } {
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    unsafe { conforming::malloc(ctx, size) }
}
