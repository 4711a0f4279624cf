//! Handlers that count the bytes of their live blocks, and give out no more than a limit.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, mutant};

/// A context that says how many bytes the handler serves.
const fn at_most(bytes: usize) -> *mut c_void {
    ptr::without_provenance_mut(bytes)
}

#[derive(Default)]
struct Count {
    live_bytes: usize,
    /// The sizes of the live blocks, by address.
    blocks: HashMap<usize, usize>,
}

static COUNT: LazyLock<Mutex<Count>> = LazyLock::new(Mutex::default);

fn count() -> MutexGuard<'static, Count> {
    COUNT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Count {
    fn has_room_for(&self, size_bytes: usize, ctx: *mut c_void) -> bool {
        self.live_bytes.checked_add(size_bytes).is_some_and(|bytes| bytes <= ctx.addr())
    }

    fn enter(&mut self, block: *mut c_void, size_bytes: usize) -> *mut c_void {
        if !block.is_null() {
            self.live_bytes = self.live_bytes.wrapping_add(size_bytes);
            self.blocks.insert(block.addr(), size_bytes);
        }
        block
    }

    fn remove(&mut self, block: *mut c_void) -> usize {
        self.blocks.remove(&block.addr()).unwrap_or(0)
    }
}

const COUNTED: Allocator = Allocator {
    malloc: Some(malloc),
    calloc: Some(calloc),
    realloc: Some(realloc),
    free: Some(free),
    ctx: at_most(512 << 20),
};

const COUNTED_4_GIB: Allocator = Allocator { ctx: at_most(4 << 30), ..COUNTED };

unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    let mut count = count();
    if !count.has_room_for(size, ctx) {
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    count.enter(unsafe { conforming::malloc(ctx, size) }, size)
}

unsafe extern "C" fn calloc(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    let mut count = count();
    let Some(size) = nelem.checked_mul(elsize).filter(|size| count.has_room_for(*size, ctx)) else {
        return ptr::null_mut();
    };
    // SAFETY: the same call.
    count.enter(unsafe { conforming::calloc(ctx, nelem, elsize) }, size)
}

unsafe extern "C" fn realloc(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    let mut count = count();
    let old_bytes = count.blocks.get(&block.addr()).copied().unwrap_or(0);
    if size > old_bytes && !count.has_room_for(size - old_bytes, ctx) {
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    let new = unsafe { conforming::realloc(ctx, block, size) };
    if !new.is_null() {
        let old_bytes = count.remove(block);
        count.live_bytes = count.live_bytes.saturating_sub(old_bytes);
    }
    count.enter(new, size)
}

unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void, size: usize) {
    let mut count = count();
    let old_bytes = count.remove(block);
    count.live_bytes = count.live_bytes.saturating_sub(old_bytes);
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_counts_resized_twice: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_counting_both), ..COUNTED });

#[unsafe(no_mangle)]
static mutant_nep49_counts_4_gib_resized_twice: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_counting_both), ..COUNTED_4_GIB });

unsafe extern "C" fn realloc_counting_both(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    let mut count = count();
    if !count.has_room_for(size, ctx) {
        return ptr::null_mut();
    }
    // SAFETY: the same call.
    let new = unsafe { conforming::realloc(ctx, block, size) };
    if !new.is_null() {
        // The defect: the bytes of the old block stay in the count.
        count.remove(block);
    }
    count.enter(new, size)
}

#[unsafe(no_mangle)]
static mutant_nep49_counts_failed_realloc: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_counting_first), ..COUNTED });

unsafe extern "C" fn realloc_counting_first(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: the same call.
    let new = unsafe { realloc(ctx, block, size) };
    if new.is_null() {
        // The defect: nobody takes these bytes off again.
        let mut count = count();
        count.live_bytes = count.live_bytes.saturating_add(size);
    }
    new
}

#[unsafe(no_mangle)]
static mutant_nep49_counts_guessed_size: StaticHandler =
    mutant(Allocator { free: Some(free_taking_guess_off), ..COUNTED });

unsafe extern "C" fn free_taking_guess_off(ctx: *mut c_void, block: *mut c_void, size: usize) {
    let mut count = count();
    if count.remove(block) > 0 {
        // The defect: the size is a guess.
        count.live_bytes = count.live_bytes.wrapping_sub(size);
    }
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_counts_4_gib_as_before_shrink: StaticHandler =
    mutant(Allocator { realloc: Some(realloc_keeping_rest), ..COUNTED_4_GIB });

unsafe extern "C" fn realloc_keeping_rest(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    let old_bytes = count().blocks.get(&block.addr()).copied().unwrap_or(0);
    // SAFETY: the same call.
    let new = unsafe { realloc(ctx, block, size) };
    if !new.is_null() {
        // The defect: the bytes that the block lost stay in the count.
        count().live_bytes += old_bytes.saturating_sub(size);
    }
    new
}

#[unsafe(no_mangle)]
static mutant_nep49_counts_4_gib_less_guess: StaticHandler =
    mutant(Allocator { free: Some(free_taking_at_most_guess_off), ..COUNTED_4_GIB });

unsafe extern "C" fn free_taking_at_most_guess_off(
    ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) {
    let mut count = count();
    let old_bytes = count.remove(block);
    // The defect: the size is a guess.
    count.live_bytes = count.live_bytes.saturating_sub(old_bytes.min(size));
    // SAFETY: the same call.
    unsafe { conforming::free(ctx, block, size) }
}
