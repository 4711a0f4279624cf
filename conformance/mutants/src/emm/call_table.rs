//! Call tables that break the header. A Rust plugin cannot make them, because `allocert_abi` builds
//! the table.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::offset_of;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use allocert_abi::emm::{Manager, Memory, MemoryInfo, Plugin, Status};
use allocert_abi::table;

use crate::emm::create_destroy::Conforming;
use crate::emm::mutation::Mutant;

static CONFORMING: Plugin = table::<Mutant<Conforming>>();

/// Exports the table of the conforming manager with some members replaced.
macro_rules! export_tables {
    ($($(#[$about:meta])* $symbol:ident { $($member:ident: $value:expr),+ })+) => {$(
        $(#[$about])*
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $symbol() -> *const Plugin {
            static TABLE: Plugin = Plugin { $($member: $value,)+ ..table::<Mutant<Conforming>>() };
            &raw const TABLE
        }
    )+};
}

export_tables! {
    /// Declares interface version 2.
    mutant_interface_version_2 { interface_version: 2 }
    /// Exports a table that ends before `reset`.
    mutant_table_too_short { size: offset_of!(Plugin, reset) }
    /// Exports a table whose `release` is NULL.
    mutant_table_lacks_release { release: None }
    /// Exports a table whose name is NULL.
    mutant_name_null { name: ptr::null() }
    /// Writes its version in Latin-1.
    mutant_version_not_utf_8 { version: c"\xfcbermorgen".as_ptr() }
    /// Returns statuses that the header does not define.
    mutant_unknown_status { memalloc: Some(unknown_status) }
    /// Clears the result structure before it fails.
    mutant_failure_clears_result { memalloc: Some(failure_clears_result) }
    /// Returns NULL as the text of a failure.
    mutant_last_error_null { last_error: Some(last_error_null) }
    /// Returns an empty text for a failure.
    mutant_last_error_empty { last_error: Some(last_error_empty) }
    /// Writes the text of a failure in Latin-1.
    mutant_last_error_not_utf_8 { last_error: Some(last_error_not_utf_8) }
    /// Has one text of the last failure for all threads.
    mutant_last_error_shared {
        release: Some(release_and_record), last_error: Some(last_error_shared)
    }
    /// Forgets the text of the last failure when a later request succeeds.
    mutant_success_clears_last_error {
        memalloc: Some(memalloc_and_forget), last_error: Some(last_error_unless_forgotten)
    }
    /// Writes 8 bytes behind the result structure.
    mutant_writes_beyond_structure { memalloc: Some(writes_beyond_structure) }
    /// Overwrites the size of the result structure.
    mutant_writes_structure_size { get_memory_info: Some(writes_structure_size) }
    /// Fills a result structure that is too small.
    mutant_accepts_smaller_structure { memalloc: Some(accepts_smaller_structure) }
    /// Refuses a result structure that is larger than its own.
    mutant_refuses_larger_structure { memalloc: Some(refuses_larger_structure) }
    /// Treats an unknown device as device 0.
    mutant_accepts_any_device { create: Some(accepts_any_device) }
    /// Resets the newest manager when it is asked to destroy NULL.
    mutant_destroy_null_resets_newest {
        create: Some(create_and_record), destroy: Some(reset_newest_for_null)
    }
}

unsafe extern "C" fn unknown_status(
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

unsafe extern "C" fn failure_clears_result(
    manager: *mut Manager,
    size_bytes: u64,
    out: *mut Memory,
) -> Status {
    // SAFETY: the host passes a structure of version 1 at least (header, memalloc).
    unsafe { (*out).device_pointer = 0 };
    // SAFETY: the host's own arguments.
    unsafe { memalloc(manager, size_bytes, out) }
}

unsafe extern "C" fn last_error_null(_: *mut Manager) -> *const c_char {
    ptr::null()
}

unsafe extern "C" fn last_error_empty(_: *mut Manager) -> *const c_char {
    c"".as_ptr()
}

unsafe extern "C" fn last_error_not_utf_8(_: *mut Manager) -> *const c_char {
    c"kein Speicher f\xfcr memalloc".as_ptr()
}

static LAST_ERROR: AtomicPtr<c_char> = AtomicPtr::new(c"".as_ptr().cast_mut());

unsafe extern "C" fn release_and_record(manager: *mut Manager, token: u64) -> Status {
    let function = CONFORMING.release.expect("the conforming table is complete");
    // SAFETY: the host's own arguments.
    let status = unsafe { function(manager, token) };
    if status != Status::OK {
        LAST_ERROR.store(c"release failed".as_ptr().cast_mut(), Ordering::Relaxed);
    }
    status
}

unsafe extern "C" fn last_error_shared(manager: *mut Manager) -> *const c_char {
    let text = LAST_ERROR.load(Ordering::Relaxed).cast_const();
    // SAFETY: one of the two literals that are stored there.
    if !unsafe { CStr::from_ptr(text) }.is_empty() {
        return text;
    }
    // SAFETY: the host's own argument.
    unsafe { last_error(manager) }
}

thread_local! {
    static FORGOTTEN: RefCell<CString> = RefCell::default();
}

unsafe extern "C" fn memalloc_and_forget(
    manager: *mut Manager,
    size_bytes: u64,
    out: *mut Memory,
) -> Status {
    // SAFETY: the host's own arguments.
    let status = unsafe { memalloc(manager, size_bytes, out) };
    if status == Status::OK {
        // SAFETY: the host's own argument.
        let text = unsafe { last_error(manager) };
        // SAFETY: never NULL, and valid until the next call on this thread (header, last_error).
        FORGOTTEN.set(unsafe { CStr::from_ptr(text) }.to_owned());
    }
    status
}

unsafe extern "C" fn last_error_unless_forgotten(manager: *mut Manager) -> *const c_char {
    // SAFETY: the host's own argument.
    let text = unsafe { last_error(manager) };
    // SAFETY: never NULL, and valid until the next call on this thread (header, last_error).
    let known = unsafe { CStr::from_ptr(text) };
    let forgotten = FORGOTTEN.with_borrow(|forgotten| forgotten.as_c_str() == known);
    if forgotten { c"".as_ptr() } else { text }
}

unsafe fn last_error(manager: *mut Manager) -> *const c_char {
    let function = CONFORMING.last_error.expect("the conforming table is complete");
    // SAFETY: as the caller promises.
    unsafe { function(manager) }
}

unsafe extern "C" fn writes_beyond_structure(
    manager: *mut Manager,
    size_bytes: u64,
    out: *mut Memory,
) -> Status {
    // SAFETY: the host's own arguments.
    let status = unsafe { memalloc(manager, size_bytes, out) };
    if status == Status::OK {
        // SAFETY: none by the header. The worker reserves memory there; the write is the mutation.
        unsafe { out.wrapping_add(1).cast::<u64>().write(size_bytes) };
    }
    status
}

unsafe extern "C" fn writes_structure_size(manager: *mut Manager, out: *mut MemoryInfo) -> Status {
    let function = CONFORMING.get_memory_info.expect("the conforming table is complete");
    // SAFETY: the host's own arguments.
    let status = unsafe { function(manager, out) };
    // SAFETY: every structure opens with its size (header, Structures).
    unsafe { (*out).size = 2 * size_of::<u64>() };
    status
}

unsafe extern "C" fn accepts_smaller_structure(
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
        // SAFETY: as many bytes as the host's structure has by its own size.
        unsafe { ptr::copy_nonoverlapping((&raw const own).cast::<u8>(), out.cast(), count) };
    }
    status
}

unsafe extern "C" fn refuses_larger_structure(
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
    let function = CONFORMING.memalloc.expect("the conforming table is complete");
    // SAFETY: as the caller promises.
    unsafe { function(manager, size_bytes, out) }
}

unsafe extern "C" fn accepts_any_device(
    context: *mut c_void,
    device: i32,
    out: *mut *mut Manager,
) -> Status {
    let device = if (0..8).contains(&device) { device } else { 0 };
    // SAFETY: the host's own arguments.
    unsafe { create(context, device, out) }
}

static NEWEST: AtomicPtr<Manager> = AtomicPtr::new(ptr::null_mut());

unsafe extern "C" fn create_and_record(
    context: *mut c_void,
    device: i32,
    out: *mut *mut Manager,
) -> Status {
    // SAFETY: the host's own arguments.
    let status = unsafe { create(context, device, out) };
    if status == Status::OK {
        // SAFETY: create() has just written it.
        NEWEST.store(unsafe { *out }, Ordering::Relaxed);
    }
    status
}

unsafe extern "C" fn reset_newest_for_null(manager: *mut Manager) {
    let newest = NEWEST.load(Ordering::Relaxed);
    if manager.is_null() && !newest.is_null() {
        let reset = CONFORMING.reset.expect("the conforming table is complete");
        // SAFETY: the newest manager that was created, and not destroyed yet.
        unsafe { reset(newest) };
        return;
    }
    NEWEST.store(ptr::null_mut(), Ordering::Relaxed);
    let destroy = CONFORMING.destroy.expect("the conforming table is complete");
    // SAFETY: the host's own argument.
    unsafe { destroy(manager) }
}

unsafe fn create(context: *mut c_void, device: i32, out: *mut *mut Manager) -> Status {
    let function = CONFORMING.create.expect("the conforming table is complete");
    // SAFETY: as the caller promises.
    unsafe { function(context, device, out) }
}

/// Returns a new table at every query.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn mutant_table_changes_address() -> *const Plugin {
    Box::leak(Box::new(table::<Mutant<Conforming>>()))
}

/// Removes all capabilities from its table at the second query.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn mutant_table_changes_capabilities() -> *const Plugin {
    static ASKED: AtomicBool = AtomicBool::new(false);
    static TABLE: AtomicPtr<Plugin> = AtomicPtr::new(ptr::null_mut());
    if !ASKED.swap(true, Ordering::Relaxed) {
        TABLE.store(Box::leak(Box::new(table::<Mutant<Conforming>>())), Ordering::Relaxed);
        return TABLE.load(Ordering::Relaxed);
    }
    let known = TABLE.load(Ordering::Relaxed);
    // SAFETY: leaked above, never freed. A host may read it at the same time: that is the mutation.
    unsafe { (*known).capabilities = 0 };
    known
}
