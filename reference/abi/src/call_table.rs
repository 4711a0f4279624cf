//! From the C table to a Rust type: every function of the table, for any [`EmmPlugin`].
//!
//! Each entry does the same three things: checks the pointers, calls the method inside [`guard`],
//! writes the result. What the pointers mean is the header's promise, so SAFETY comments cite it.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use crate::emm::{
    CAP_HOST_MEMORY, CAP_IPC, CAP_MEMORY_INFO, IpcHandle, Manager, Memory, MemoryInfo, Plugin,
    Status, VERSION,
};
use crate::plugin::{CudaContext, EmmPlugin, Failure};

/// The table of one plugin type. Use [`crate::export_emm_plugin!`] to export it.
#[must_use]
pub const fn table<P: EmmPlugin>() -> Plugin {
    let host_memory = P::CAPABILITIES & CAP_HOST_MEMORY != 0;
    Plugin {
        size: size_of::<Plugin>(),
        interface_version: VERSION,
        capabilities: P::CAPABILITIES,
        name: P::NAME.as_ptr(),
        version: P::VERSION.as_ptr(),
        create: Some(create::<P>),
        destroy: Some(destroy::<P>),
        initialize: Some(initialize::<P>),
        memalloc: Some(memalloc::<P>),
        memhostalloc: if host_memory { Some(memhostalloc::<P>) } else { None },
        mempin: if host_memory { Some(mempin::<P>) } else { None },
        release: Some(release::<P>),
        get_memory_info: if P::CAPABILITIES & CAP_MEMORY_INFO != 0 {
            Some(get_memory_info::<P>)
        } else {
            None
        },
        get_ipc_handle: if P::CAPABILITIES & CAP_IPC != 0 {
            Some(get_ipc_handle::<P>)
        } else {
            None
        },
        reset: Some(reset::<P>),
        defer_begin: Some(defer_begin::<P>),
        defer_end: Some(defer_end::<P>),
        last_error: Some(last_error),
    }
}

unsafe extern "C" fn create<P: EmmPlugin>(
    context: *mut c_void,
    device: i32,
    out: *mut *mut Manager,
) -> Status {
    guard("create", || {
        let context =
            NonNull::new(context).ok_or_else(|| invalid("create: cuda_context is NULL"))?;
        let out = NonNull::new(out).ok_or_else(|| invalid("create: out is NULL"))?;
        let manager = Box::into_raw(Box::new(P::create(CudaContext(context), device)?));
        // SAFETY: the host passes a pointer that it may write a manager to (header, create).
        unsafe { out.write(manager.cast()) };
        Ok(())
    })
}

unsafe extern "C" fn destroy<P: EmmPlugin>(manager: *mut Manager) {
    if manager.is_null() {
        return;
    }
    // There is no status to answer with; the text is kept for last_error().
    let _ = guard("destroy", || {
        // SAFETY: it came from create::<P>, and destroy is the last call on it (header, Threads).
        drop(unsafe { Box::from_raw(manager.cast::<P>()) });
        Ok(())
    });
}

unsafe extern "C" fn initialize<P: EmmPlugin>(manager: *mut Manager) -> Status {
    // SAFETY: a live manager of this table, by the header.
    unsafe { with(manager, "initialize", P::initialize) }
}

unsafe extern "C" fn memalloc<P: EmmPlugin>(
    manager: *mut Manager,
    size_bytes: u64,
    out: *mut Memory,
) -> Status {
    // SAFETY: a live manager of this table and an out pointer, by the header.
    unsafe { answer(manager, "memalloc", out, |plugin: &P| plugin.memalloc(size_bytes)) }
}

unsafe extern "C" fn memhostalloc<P: EmmPlugin>(
    manager: *mut Manager,
    size_bytes: u64,
    flags: u32,
    out: *mut Memory,
) -> Status {
    // SAFETY: a live manager of this table, and `out` a sized structure or NULL (header,
    // memhostalloc).
    unsafe {
        answer(manager, "memhostalloc", out, |plugin: &P| plugin.memhostalloc(size_bytes, flags))
    }
}

unsafe extern "C" fn mempin<P: EmmPlugin>(
    manager: *mut Manager,
    pointer: *mut c_void,
    size_bytes: u64,
    flags: u32,
    out: *mut Memory,
) -> Status {
    let pin = |plugin: &P| {
        let pointer = NonNull::new(pointer).ok_or_else(|| invalid("mempin: pointer is NULL"))?;
        plugin.mempin(pointer, size_bytes, flags)
    };
    // SAFETY: a live manager of this table, and `out` a sized structure or NULL; `pin` only passes
    // the address on (header, mempin).
    unsafe { answer(manager, "mempin", out, pin) }
}

unsafe extern "C" fn release<P: EmmPlugin>(manager: *mut Manager, token: u64) -> Status {
    // SAFETY: a live manager of this table, by the header.
    unsafe { with(manager, "release", |plugin: &P| plugin.release(token)) }
}

unsafe extern "C" fn get_memory_info<P: EmmPlugin>(
    manager: *mut Manager,
    out: *mut MemoryInfo,
) -> Status {
    // SAFETY: a live manager of this table, and `out` a sized structure or NULL (header,
    // get_memory_info).
    unsafe { answer(manager, "get_memory_info", out, P::get_memory_info) }
}

unsafe extern "C" fn get_ipc_handle<P: EmmPlugin>(
    manager: *mut Manager,
    token: u64,
    offset_bytes: u64,
    out: *mut IpcHandle,
) -> Status {
    // SAFETY: a live manager of this table, and `out` a sized structure or NULL (header,
    // get_ipc_handle).
    unsafe {
        answer(manager, "get_ipc_handle", out, |plugin: &P| {
            plugin.get_ipc_handle(token, offset_bytes)
        })
    }
}

unsafe extern "C" fn reset<P: EmmPlugin>(manager: *mut Manager) -> Status {
    // SAFETY: a live manager of this table, by the header.
    unsafe { with(manager, "reset", P::reset) }
}

unsafe extern "C" fn defer_begin<P: EmmPlugin>(manager: *mut Manager) -> Status {
    // SAFETY: a live manager of this table, by the header.
    unsafe { with(manager, "defer_begin", P::defer_begin) }
}

unsafe extern "C" fn defer_end<P: EmmPlugin>(manager: *mut Manager) -> Status {
    // SAFETY: a live manager of this table, by the header.
    unsafe { with(manager, "defer_end", P::defer_end) }
}

/// Calls a method that answers with a status alone.
///
/// # Safety
/// `manager` is NULL or a live manager from `create::<P>`.
unsafe fn with<P: EmmPlugin>(
    manager: *mut Manager,
    call: &'static str,
    method: impl FnOnce(&P) -> Result<(), Failure>,
) -> Status {
    guard(call, || {
        // SAFETY: NULL, or alive until destroy(), which the caller calls last.
        let plugin = unsafe { manager.cast::<P>().as_ref() };
        method(plugin.ok_or_else(|| invalid(&format!("{call}: manager is NULL")))?)
    })
}

/// Calls a method that answers with a structure, and writes it once all went well.
///
/// # Safety
/// As [`with`], and `out` is NULL or points to a structure whose `size` member the caller has set.
unsafe fn answer<P: EmmPlugin, T: Opens>(
    manager: *mut Manager,
    call: &'static str,
    out: *mut T,
    method: impl FnOnce(&P) -> Result<T, Failure>,
) -> Status {
    let fill = |plugin: &P| {
        let out = NonNull::new(out).ok_or_else(|| invalid(&format!("{call}: out is NULL")))?;
        // SAFETY: every such structure begins with its size, which the caller has set.
        let size = unsafe { out.cast::<usize>().read() };
        if size < size_of::<T>() {
            return Err(invalid(&format!(
                "{call}: out->size is {size}, version 1 has {}",
                size_of::<T>()
            )));
        }
        let mut value = method(plugin)?;
        *value.size_mut() = size;
        // SAFETY: the caller's structure has at least this many bytes, as its size says.
        unsafe { out.write(value) };
        Ok(())
    };
    // SAFETY: the caller promises a live manager made by `create::<P>`.
    unsafe { with(manager, call, fill) }
}

/// Structures that open with their size.
trait Opens {
    fn size_mut(&mut self) -> &mut usize;
}

impl Opens for Memory {
    fn size_mut(&mut self) -> &mut usize {
        &mut self.size
    }
}

impl Opens for MemoryInfo {
    fn size_mut(&mut self) -> &mut usize {
        &mut self.size
    }
}

impl Opens for IpcHandle {
    fn size_mut(&mut self) -> &mut usize {
        &mut self.size
    }
}

fn invalid(message: &str) -> Failure {
    Failure::new(Status::INVALID_VALUE, message)
}

/// The one place where unwinding stops and where a failure becomes a status and a text.
fn guard(call: &'static str, body: impl FnOnce() -> Result<(), Failure>) -> Status {
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return Status::OK,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            Failure::new(Status::INTERNAL, format!("{call} panicked: {}", panic_text(&*panic)))
        }
    };
    remember(&failure.message);
    failure.status
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "no message",
    }
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

fn remember(message: &str) {
    let text = CString::new(message.replace('\0', "?")).unwrap_or_default();
    // A thread that is ending has no thread-local storage, and cannot ask for the text later.
    let _ = LAST_ERROR.try_with(|last| last.replace(text));
}

unsafe extern "C" fn last_error(_manager: *mut Manager) -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}
