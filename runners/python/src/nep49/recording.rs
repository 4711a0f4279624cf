//! A handler that records each call and passes it on.
//!
//! NumPy calls it on any thread, with or without the GIL, and while the interpreter shuts down. So
//! its functions touch no Python object, take no lock, and find everything behind their context,
//! which lives as long as the process.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use allocert_abi::nep49::{Allocator, Handler, StaticHandler};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::api::new_capsule;
use super::trace::{Function, Trace};

/// A handler that records each call in the trace and passes it on: `RecordingHandler(handler,
/// keep)`, where `handler` is the address of a `PyDataMem_Handler`, or 0 for the functions of libc.
/// `keep` stays alive as long as the process, and so do the recording handler and its capsule.
#[pyclass(frozen, module = "allocert._allocert")]
#[derive(Debug)]
pub(crate) struct RecordingHandler(&'static Recording);

#[pymethods]
impl RecordingHandler {
    #[new]
    #[pyo3(signature = (handler=0, keep=None))]
    fn new(handler: usize, keep: Option<Py<PyAny>>) -> PyResult<Self> {
        let target = match handler {
            0 => ptr::from_ref(&LIBC.0),
            address => ptr::with_exposed_provenance(address),
        };
        if !target.is_aligned() {
            let message = format!("no handler at {handler:#x}: the address is not aligned");
            return Err(PyValueError::new_err(message));
        }
        // SAFETY: the caller passes the address of a handler, as the class documents; it is
        // aligned.
        let allocator = unsafe { (*target).allocator };
        if let Some(function) = null_function(&allocator) {
            let message = format!("the handler's {function} is null, so NumPy cannot call it");
            return Err(PyValueError::new_err(message));
        }
        // The handler may use it until the process ends.
        std::mem::forget(keep);
        Ok(Self(Recording::new(target)))
    }

    /// The address of the `PyDataMem_Handler`.
    #[getter]
    fn address(&self) -> usize {
        ptr::from_ref(&self.0.handler).expose_provenance()
    }

    /// A new capsule that holds the handler.
    fn capsule(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        new_capsule(py, &self.0.handler)
    }

    /// Makes the `nth` next and `count - 1` following calls of `malloc`, `calloc` or `realloc`
    /// answer null, without the handler behind.
    #[pyo3(signature = (function, nth=1, count=1))]
    fn fail(&self, function: &str, nth: u64, count: u64) -> PyResult<()> {
        let known = [Function::Malloc, Function::Calloc, Function::Realloc];
        let found = known.into_iter().find(|known| known.name() == function).ok_or_else(|| {
            PyValueError::new_err(format!("no function `{function}`: malloc, calloc or realloc"))
        })?;
        if nth == 0 {
            return Err(PyValueError::new_err("the next call is number 1"));
        }
        self.0.faults[found as usize].set(nth, count);
        Ok(())
    }

    /// No later call fails because of `fail`.
    fn clear_faults(&self) {
        for fault in &self.0.faults {
            fault.set(0, 0);
        }
    }

    /// How often NumPy called a function: `malloc`, `calloc`, `realloc` or `free`.
    fn calls(&self, function: &str) -> PyResult<u64> {
        let found = Function::ALL.into_iter().find(|known| known.name() == function);
        let found = found.ok_or_else(|| {
            PyValueError::new_err(format!(
                "no function `{function}`: malloc, calloc, realloc, free"
            ))
        })?;
        Ok(self.0.calls[found as usize].load(Ordering::Relaxed))
    }
}

/// What the context of the handler points to.
#[derive(Debug)]
struct Recording {
    handler: Handler,
    target: *const Handler,
    trace: Option<Trace>,
    faults: [Fault; 3],
    calls: [AtomicU64; 4],
}

// SAFETY: `handler` and `trace` are only read after `new`, and the rest is atomic. That every
// thread may call the functions behind `target` is the contract of a handler (NEP 49,
// "PyDataMem_Handler thread safety and lifetime").
unsafe impl Sync for Recording {}

impl Recording {
    /// `target` is a handler that lives as long as the process.
    fn new(target: *const Handler) -> &'static Self {
        let allocator = Allocator {
            ctx: ptr::null_mut(),
            malloc: Some(malloc),
            calloc: Some(calloc),
            realloc: Some(realloc),
            free: Some(free),
        };
        let recording = Box::into_raw(Box::new(Self {
            handler: Handler::new("allocert_recording", allocator),
            target,
            trace: Trace::find(),
            faults: Default::default(),
            calls: Default::default(),
        }));
        // SAFETY: the box was just made, and nobody else knows of it yet.
        unsafe { (*recording).handler.allocator.ctx = recording.cast() };
        // SAFETY: nobody frees the box, and from here on only its atomics change.
        unsafe { &*recording }
    }

    /// The functions behind, read at each call as NumPy reads them.
    fn target(&self) -> Allocator {
        // SAFETY: `new` got a handler that lives as long as the process.
        unsafe { (*self.target).allocator }
    }

    /// Records a call that returns a block.
    fn taking(
        &self,
        function: Function,
        inputs: [u64; 3],
        call: impl FnOnce() -> *mut c_void,
    ) -> *mut c_void {
        self.calls[function as usize].fetch_add(1, Ordering::Relaxed);
        let count = if function == Function::Malloc { 2 } else { 3 };
        let begun = self.trace.as_ref().map(|trace| trace.begin(function, &inputs[..count]));
        let open = self.trace.as_ref().zip(begun);
        if self.faults[function as usize].strikes() {
            if let Some((trace, begun)) = open {
                trace.end_injected(begun);
            }
            return ptr::null_mut();
        }
        let block = call();
        if let Some((trace, begun)) = open {
            trace.end(begun, &[block.expose_provenance() as u64]);
        }
        block
    }
}

/// Which of the next calls of a function fail.
#[derive(Debug, Default)]
struct Fault {
    /// Calls until the first one that fails, this one included; 0 when none is left.
    nth: AtomicU64,
    /// How many fail from there on.
    count: AtomicU64,
}

impl Fault {
    fn set(&self, nth: u64, count: u64) {
        self.count.store(count, Ordering::Relaxed);
        self.nth.store(if count == 0 { 0 } else { nth }, Ordering::Release);
    }

    /// Counts a call. Whether it fails.
    fn strikes(&self) -> bool {
        let before = self.nth.fetch_update(Ordering::AcqRel, Ordering::Acquire, |nth| match nth {
            0 | 1 => None,
            _ => Some(nth - 1),
        });
        match before {
            Ok(_) | Err(0) => false,
            Err(_) => self.use_up(),
        }
    }

    /// Takes one of the failing calls. `false` if another thread took the last one.
    fn use_up(&self) -> bool {
        let left = self
            .count
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| count.checked_sub(1));
        if left == Ok(1) {
            self.nth.store(0, Ordering::Release);
        }
        left.is_ok()
    }
}

fn null_function(allocator: &Allocator) -> Option<&'static str> {
    let functions = [
        ("malloc", allocator.malloc.is_none()),
        ("calloc", allocator.calloc.is_none()),
        ("realloc", allocator.realloc.is_none()),
        ("free", allocator.free.is_none()),
    ];
    functions.into_iter().find(|(_, null)| *null).map(|(name, _)| name)
}

/// # Safety
/// `ctx` is the context of a recording handler.
unsafe fn recording(ctx: *mut c_void) -> &'static Recording {
    // SAFETY: the caller's promise; a recording is never freed.
    unsafe { &*ctx.cast::<Recording>() }
}

/// # Safety
/// `ctx` is the context of a recording handler.
unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    let recording = unsafe { recording(ctx) };
    let target = recording.target();
    let Some(function) = target.malloc else { return ptr::null_mut() };
    let inputs = [target.ctx.addr() as u64, size as u64, 0];
    recording.taking(Function::Malloc, inputs, || {
        // SAFETY: the handler's own function with its own context.
        unsafe { function(target.ctx, size) }
    })
}

/// # Safety
/// As for [`malloc`].
unsafe extern "C" fn calloc(ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    let recording = unsafe { recording(ctx) };
    let target = recording.target();
    let Some(function) = target.calloc else { return ptr::null_mut() };
    let inputs = [target.ctx.addr() as u64, nelem as u64, elsize as u64];
    recording.taking(Function::Calloc, inputs, || {
        // SAFETY: as in malloc.
        unsafe { function(target.ctx, nelem, elsize) }
    })
}

/// # Safety
/// As for [`malloc`]; `block` is null, or a block that the handler behind gave.
unsafe extern "C" fn realloc(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's promise.
    let recording = unsafe { recording(ctx) };
    let target = recording.target();
    let Some(function) = target.realloc else { return ptr::null_mut() };
    let inputs = [target.ctx.addr() as u64, block.addr() as u64, size as u64];
    recording.taking(Function::Realloc, inputs, || {
        // SAFETY: as in malloc; the caller promises for the block.
        unsafe { function(target.ctx, block, size) }
    })
}

/// # Safety
/// As for [`realloc`].
unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void, size: usize) {
    // SAFETY: the caller's promise.
    let recording = unsafe { recording(ctx) };
    let target = recording.target();
    let Some(function) = target.free else { return };
    recording.calls[Function::Free as usize].fetch_add(1, Ordering::Relaxed);
    let inputs = [target.ctx.addr() as u64, block.addr() as u64, size as u64];
    let begun = recording.trace.as_ref().map(|trace| trace.begin(Function::Free, &inputs));
    // SAFETY: as in realloc.
    unsafe { function(target.ctx, block, size) };
    if let (Some(trace), Some(begun)) = (&recording.trace, begun) {
        trace.end(begun, &[]);
    }
}

/// The functions of libc, which NumPy's own handler calls.
static LIBC: StaticHandler = StaticHandler(Handler::new(
    "allocert_libc",
    Allocator {
        ctx: ptr::null_mut(),
        malloc: Some(libc_malloc),
        calloc: Some(libc_calloc),
        realloc: Some(libc_realloc),
        free: Some(libc_free),
    },
));

/// # Safety
/// None; it has the type that the structure demands.
unsafe extern "C" fn libc_malloc(_ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: libc takes any size.
    unsafe { libc::malloc(size) }
}

/// # Safety
/// None, as for [`libc_malloc`].
unsafe extern "C" fn libc_calloc(_ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    // SAFETY: libc takes any sizes.
    unsafe { libc::calloc(nelem, elsize) }
}

/// # Safety
/// `block` is null, or a live block of libc's heap.
unsafe extern "C" fn libc_realloc(
    _ctx: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { libc::realloc(block, size) }
}

/// # Safety
/// As for [`libc_realloc`].
unsafe extern "C" fn libc_free(_ctx: *mut c_void, block: *mut c_void, _size: usize) {
    // SAFETY: the caller's promise.
    unsafe { libc::free(block) }
}
