//! Wrong tables: what no manager in Rust could do wrong, because the border of `allocert_abi` does
//! it right.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use allocert_abi::emm::{Manager, Memory, MemoryInfo, Plugin, Status};
use allocert_abi::table;

use crate::mutant::Mutant;
use crate::version::Faithful;

static FAITHFUL: Plugin = table::<Mutant<Faithful>>();

/// Exports the faithful table with some members replaced.
macro_rules! tables {
    ($($(#[$about:meta])* $symbol:ident { $($member:ident: $value:expr),+ })+) => {$(
        $(#[$about])*
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $symbol() -> *const Plugin {
            static TABLE: Plugin = Plugin { $($member: $value,)+ ..table::<Mutant<Faithful>>() };
            &raw const TABLE
        }
    )+};
}

tables! {
    /// Speaks version 2.
    mutant_version_two { interface_version: 2 }
    /// Ends before `reset`.
    mutant_truncated_table { size: offset_of!(Plugin, reset) }
    /// Left `release` out.
    mutant_null_member { release: None }
    /// Has no name.
    mutant_nameless { name: ptr::null() }
    /// Writes its version in Latin-1.
    mutant_latin_version { version: c"\xfcbermorgen".as_ptr() }
    /// Has statuses of its own.
    mutant_own_status { memalloc: Some(own_status) }
    /// Clears its result first and tries then.
    mutant_clears_result { memalloc: Some(clears_result) }
    /// Has nothing to say of a failure.
    mutant_error_null { last_error: Some(error_null) }
    /// Says nothing of a failure.
    mutant_error_empty { last_error: Some(error_empty) }
    /// Speaks of failures in Latin-1.
    mutant_error_latin { last_error: Some(error_latin) }
    /// Was compiled with a later structure, and fills all of it.
    mutant_writes_beyond { memalloc: Some(writes_beyond) }
    /// Says in the structure how much of it is written.
    mutant_size_written { get_memory_info: Some(size_written) }
    /// Fills as much of a structure as there is.
    mutant_fills_smaller { memalloc: Some(fills_smaller) }
    /// Takes structures of its own size alone.
    mutant_refuses_larger { memalloc: Some(refuses_larger) }
    /// Takes any device that it does not know for the first one.
    mutant_any_device { create: Some(any_device) }
    /// Ends the youngest manager where none is named.
    mutant_ends_youngest { create: Some(remembers), destroy: Some(ends_youngest) }
}

unsafe extern "C" fn own_status(
    manager: *mut Manager,
    size_bytes: u64,
    out: *mut Memory,
) -> Status {
    // SAFETY: the host's own arguments.
    match unsafe { memalloc(manager, size_bytes, out) } {
        Status::OK => Status::OK,
        Status(other) => Status(other + 100),
    }
}

unsafe extern "C" fn clears_result(
    manager: *mut Manager,
    size_bytes: u64,
    out: *mut Memory,
) -> Status {
    // SAFETY: the host passes a structure of version 1 at least (header, memalloc).
    unsafe { (*out).device_pointer = 0 };
    // SAFETY: the host's own arguments.
    unsafe { memalloc(manager, size_bytes, out) }
}

unsafe extern "C" fn error_null(_: *mut Manager) -> *const c_char {
    ptr::null()
}

unsafe extern "C" fn error_empty(_: *mut Manager) -> *const c_char {
    c"".as_ptr()
}

unsafe extern "C" fn error_latin(_: *mut Manager) -> *const c_char {
    c"kein Speicher f\xfcr memalloc".as_ptr()
}

unsafe extern "C" fn writes_beyond(
    manager: *mut Manager,
    size_bytes: u64,
    out: *mut Memory,
) -> Status {
    // SAFETY: the host's own arguments.
    let status = unsafe { memalloc(manager, size_bytes, out) };
    if status == Status::OK {
        // SAFETY: it is not; a worker has room there, and this is what the mutant is about.
        unsafe { out.wrapping_add(1).cast::<u64>().write(size_bytes) };
    }
    status
}

unsafe extern "C" fn size_written(manager: *mut Manager, out: *mut MemoryInfo) -> Status {
    let function = FAITHFUL.get_memory_info.expect("the faithful table is complete");
    // SAFETY: the host's own arguments.
    let status = unsafe { function(manager, out) };
    // SAFETY: every structure opens with its size (header, Structures).
    unsafe { (*out).size = 2 * size_of::<u64>() };
    status
}

unsafe extern "C" fn fills_smaller(
    manager: *mut Manager,
    size_bytes: u64,
    out: *mut Memory,
) -> Status {
    let mut own = Memory::empty();
    // SAFETY: the host's own arguments, and a structure of ours.
    let status = unsafe { memalloc(manager, size_bytes, &raw mut own) };
    if status == Status::OK {
        // SAFETY: every structure opens with its size (header, Structures).
        own.size = unsafe { (*out).size };
        let count = own.size.min(size_of::<Memory>());
        // SAFETY: as many bytes as the host says that there are.
        unsafe { ptr::copy_nonoverlapping((&raw const own).cast::<u8>(), out.cast(), count) };
    }
    status
}

unsafe extern "C" fn refuses_larger(
    manager: *mut Manager,
    size_bytes: u64,
    out: *mut Memory,
) -> Status {
    // SAFETY: every structure opens with its size (header, Structures).
    let larger = unsafe { (*out).size } > size_of::<Memory>();
    // SAFETY: the host's own arguments; NULL is INVALID_VALUE and leaves a text.
    unsafe { memalloc(manager, size_bytes, if larger { ptr::null_mut() } else { out }) }
}

unsafe fn memalloc(manager: *mut Manager, size_bytes: u64, out: *mut Memory) -> Status {
    let function = FAITHFUL.memalloc.expect("the faithful table is complete");
    // SAFETY: as the caller promises.
    unsafe { function(manager, size_bytes, out) }
}

unsafe extern "C" fn any_device(
    context: *mut c_void,
    device: i32,
    out: *mut *mut Manager,
) -> Status {
    let device = if (0..8).contains(&device) { device } else { 0 };
    // SAFETY: the host's own arguments.
    unsafe { create(context, device, out) }
}

static YOUNGEST: AtomicPtr<Manager> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" fn remembers(
    context: *mut c_void,
    device: i32,
    out: *mut *mut Manager,
) -> Status {
    // SAFETY: the host's own arguments.
    let status = unsafe { create(context, device, out) };
    if status == Status::OK {
        // SAFETY: create() has just written it.
        YOUNGEST.store(unsafe { *out }, Ordering::Relaxed);
    }
    status
}

unsafe extern "C" fn ends_youngest(manager: *mut Manager) {
    let youngest = YOUNGEST.load(Ordering::Relaxed);
    if manager.is_null() && !youngest.is_null() {
        let reset = FAITHFUL.reset.expect("the faithful table is complete");
        // SAFETY: not destroyed yet, as far as this mutant cares.
        unsafe { reset(youngest) };
        return;
    }
    YOUNGEST.store(ptr::null_mut(), Ordering::Relaxed);
    let destroy = FAITHFUL.destroy.expect("the faithful table is complete");
    // SAFETY: the host's own argument.
    unsafe { destroy(manager) }
}

unsafe fn create(context: *mut c_void, device: i32, out: *mut *mut Manager) -> Status {
    let function = FAITHFUL.create.expect("the faithful table is complete");
    // SAFETY: as the caller promises.
    unsafe { function(context, device, out) }
}

/// Makes a table for whoever asks.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn mutant_second_table() -> *const Plugin {
    Box::leak(Box::new(table::<Mutant<Faithful>>()))
}

/// Drops a capability from its table once somebody has asked twice.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn mutant_changed_table() -> *const Plugin {
    static ASKED: AtomicBool = AtomicBool::new(false);
    static TABLE: AtomicPtr<Plugin> = AtomicPtr::new(ptr::null_mut());
    if !ASKED.swap(true, Ordering::Relaxed) {
        TABLE.store(Box::leak(Box::new(table::<Mutant<Faithful>>())), Ordering::Relaxed);
        return TABLE.load(Ordering::Relaxed);
    }
    let known = TABLE.load(Ordering::Relaxed);
    // SAFETY: leaked above; a host that reads it now is what the mutant is about.
    unsafe { (*known).capabilities = 0 };
    known
}
