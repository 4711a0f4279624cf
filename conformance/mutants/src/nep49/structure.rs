//! Broken structures.

use std::cell::UnsafeCell;
use std::ffi::{c_char, c_void};

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize, Ordering};

use allocert_abi::nep49::{Allocator, Handler, NAME_BYTES, StaticHandler, VERSION};

use super::conforming::{self, CONFORMING};

#[unsafe(no_mangle)]
static mutant_nep49_endless_name: StaticHandler = StaticHandler(Handler {
    name: [b'x' as c_char; NAME_BYTES],
    version: VERSION,
    allocator: CONFORMING,
});

#[unsafe(no_mangle)]
static mutant_nep49_latin_1_name: StaticHandler = StaticHandler({
    let mut handler = Handler::new("caf", CONFORMING);
    handler.name[3] = 0xe9_u8 as c_char;
    handler
});

#[unsafe(no_mangle)]
static mutant_nep49_version_2: StaticHandler =
    StaticHandler(Handler { version: 2, ..Handler::new("mutant", CONFORMING) });

#[unsafe(no_mangle)]
static mutant_nep49_no_realloc: StaticHandler =
    StaticHandler(Handler::new("mutant", Allocator { realloc: None, ..CONFORMING }));

/// A handler that its own functions write to.
#[repr(transparent)]
struct WrittenHandler(UnsafeCell<Handler>);

// SAFETY: the functions of the handler write each field with one atomic store, and no function but
// null.
unsafe impl Sync for WrittenHandler {}

#[unsafe(no_mangle)]
static mutant_nep49_forgets_realloc: WrittenHandler = WrittenHandler(UnsafeCell::new(
    Handler::new("mutant", Allocator { malloc: Some(malloc_and_forget), ..CONFORMING }),
));

unsafe extern "C" fn malloc_and_forget(ctx: *mut c_void, size: usize) -> *mut c_void {
    let handler = mutant_nep49_forgets_realloc.0.get();
    // SAFETY: the address of a field of a static, without a reference to it.
    let realloc = unsafe { &raw mut (*handler).allocator.realloc };
    // SAFETY: a field of a static that is never borrowed; it is as large as a pointer, and null is
    // its value without a function.
    let realloc = unsafe { AtomicPtr::<c_void>::from_ptr(realloc.cast()) };
    realloc.store(ptr::null_mut(), Ordering::SeqCst);
    // SAFETY: the same call.
    unsafe { conforming::malloc(ctx, size) }
}

#[unsafe(no_mangle)]
static mutant_nep49_version_2_later: WrittenHandler = WrittenHandler(UnsafeCell::new(
    Handler::new("mutant", Allocator { malloc: Some(malloc_and_change), ..CONFORMING }),
));

static CALLS: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn malloc_and_change(ctx: *mut c_void, size: usize) -> *mut c_void {
    if CALLS.fetch_add(1, Ordering::SeqCst) == 100 {
        let handler = mutant_nep49_version_2_later.0.get();
        // SAFETY: the address of a field of a static, without a reference to it.
        let version = unsafe { &raw mut (*handler).version };
        // SAFETY: a field of a static that is never borrowed; it is one byte.
        unsafe { AtomicU8::from_ptr(version) }.store(2, Ordering::SeqCst);
    }
    // SAFETY: the same call.
    unsafe { conforming::malloc(ctx, size) }
}

// What is no handler, and is refused.

#[unsafe(no_mangle)]
static not_a_handler_but_a_pointer: &StaticHandler = &mutant_nep49_version_2;

#[unsafe(no_mangle)]
extern "C" fn not_a_handler_but_a_function() -> &'static StaticHandler {
    &mutant_nep49_version_2
}

/// The four functions and their context.
#[unsafe(no_mangle)]
static not_a_handler_but_a_table: [usize; 5] = [1; 5];
