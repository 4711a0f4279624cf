//! Calls of Python's memory allocators by a thread that does not hold the GIL.
//!
//! Python has two allocators that only a thread with the GIL may call: that of memory and that of
//! objects. Functions in front of both see each call. Such a thread takes the GIL for the call, so
//! that its heap stays as it should.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The allocators that need the GIL: `PYMEM_DOMAIN_MEM` and `PYMEM_DOMAIN_OBJ`.
const DOMAINS: [c_int; 2] = [1, 2];

/// Calls without the GIL since somebody last asked.
static CALLS: AtomicU64 = AtomicU64::new(0);
static WATCHED: OnceLock<[Watched; 2]> = OnceLock::new();

type GilCheck = unsafe extern "C" fn() -> c_int;
type GetAllocator = unsafe extern "C" fn(domain: c_int, allocator: *mut Allocator);
type SetAllocator = unsafe extern "C" fn(domain: c_int, allocator: *const Allocator);

/// `PyMemAllocatorEx`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Allocator {
    ctx: *mut c_void,
    malloc: unsafe extern "C" fn(ctx: *mut c_void, size: usize) -> *mut c_void,
    calloc: unsafe extern "C" fn(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void,
    realloc: unsafe extern "C" fn(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void,
    free: unsafe extern "C" fn(ctx: *mut c_void, block: *mut c_void),
}

/// What the context of the functions in front points to.
#[derive(Debug)]
struct Watched {
    behind: Allocator,
    is_gil_held: GilCheck,
}

// SAFETY: nothing changes after it was made, and Python calls its allocators on any thread.
unsafe impl Send for Watched {}
// SAFETY: as above.
unsafe impl Sync for Watched {}

/// Begins to count the calls, until the process ends. Does so once, however often it is called.
/// Raises RuntimeError where the interpreter lacks the functions.
#[pyfunction]
pub(crate) fn watch_python_allocators(_py: Python<'_>) -> PyResult<()> {
    if WATCHED.get().is_some() {
        return Ok(());
    }
    let check = symbol(c"PyGILState_Check")?;
    let (get, set) = (symbol(c"PyMem_GetAllocator")?, symbol(c"PyMem_SetAllocator")?);
    // SAFETY: the function of that name has this type.
    let is_gil_held = unsafe { std::mem::transmute::<*mut c_void, GilCheck>(check) };
    // SAFETY: as above.
    let get = unsafe { std::mem::transmute::<*mut c_void, GetAllocator>(get) };
    // SAFETY: as above.
    let set = unsafe { std::mem::transmute::<*mut c_void, SetAllocator>(set) };
    let watched = WATCHED.get_or_init(|| {
        DOMAINS.map(|domain| Watched { behind: current(get, domain), is_gil_held })
    });
    for (domain, watched) in DOMAINS.into_iter().zip(watched) {
        let ctx = std::ptr::from_ref(watched).cast_mut().cast();
        let front = Allocator { ctx, malloc, calloc, realloc, free };
        // SAFETY: the interpreter is attached. Python copies the structure, and its context lives
        // as long as the process. The functions pass each call on to the allocator before.
        unsafe { set(domain, &raw const front) };
    }
    Ok(())
}

/// How many calls there were without the GIL since this function was called last.
#[pyfunction]
pub(crate) fn take_calls_without_gil() -> u64 {
    CALLS.swap(0, Ordering::Relaxed)
}

fn symbol(name: &CStr) -> PyResult<*mut c_void> {
    // SAFETY: the name ends with a NUL.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if address.is_null() {
        let message = format!("this interpreter has no function {}", name.to_string_lossy());
        return Err(PyRuntimeError::new_err(message));
    }
    Ok(address)
}

/// The allocator that Python uses in a domain.
fn current(get: GetAllocator, domain: c_int) -> Allocator {
    let mut allocator = std::mem::MaybeUninit::<Allocator>::uninit();
    // SAFETY: Python writes the structure of a domain to the address.
    unsafe { get(domain, allocator.as_mut_ptr()) };
    // SAFETY: Python has the domain, so it wrote the whole structure.
    unsafe { allocator.assume_init() }
}

impl Watched {
    /// Passes a call on, with the GIL.
    fn call<R>(&self, call: impl FnOnce(&Allocator) -> R) -> R {
        // SAFETY: any thread may ask.
        if unsafe { (self.is_gil_held)() } != 0 {
            return call(&self.behind);
        }
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the thread does not hold the GIL, and gives it back below.
        let state = unsafe { ffi::PyGILState_Ensure() };
        let result = call(&self.behind);
        // SAFETY: the state is that of the call above, on the same thread.
        unsafe { ffi::PyGILState_Release(state) };
        result
    }
}

/// # Safety
/// `ctx` is the context that `watch_python_allocators` gave.
unsafe fn watched(ctx: *mut c_void) -> &'static Watched {
    // SAFETY: the caller's promise; the static lives as long as the process.
    unsafe { &*ctx.cast::<Watched>() }
}

/// # Safety
/// As for [`watched`].
unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    let watched = unsafe { watched(ctx) };
    // SAFETY: the allocator's own function with its own context.
    watched.call(|behind| unsafe { (behind.malloc)(behind.ctx, size) })
}

/// # Safety
/// As for [`watched`].
unsafe extern "C" fn calloc(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    let watched = unsafe { watched(ctx) };
    // SAFETY: as in malloc.
    watched.call(|behind| unsafe { (behind.calloc)(behind.ctx, nelem, elsize) })
}

/// # Safety
/// As for [`watched`]; `block` is null, or a block of this allocator.
unsafe extern "C" fn realloc(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    let watched = unsafe { watched(ctx) };
    // SAFETY: as in malloc; the caller promises for the block.
    watched.call(|behind| unsafe { (behind.realloc)(behind.ctx, block, size) })
}

/// # Safety
/// As for [`realloc`].
unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void) {
    // SAFETY: the caller's promise.
    let watched = unsafe { watched(ctx) };
    // SAFETY: as in realloc.
    watched.call(|behind| unsafe { (behind.free)(behind.ctx, block) });
}
