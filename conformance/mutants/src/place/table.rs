//! Broken tables, and answers that no function may give.

use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use allocert_abi::place::{Allocator, Place, StaticAllocator, Status};

use super::base_allocator::Base;
use super::mutation::{
    Mutation, alloc, export_place_mutants, export_place_tables, last_error, table,
};
use super::system_memory::{Answer, Failure};

struct Plain;

impl Mutation for Plain {}

const PLAIN: Allocator = table::<Plain>();

export_place_tables! {
    mutant_place_version_2 => Allocator { interface_version: 2, ..PLAIN },
    mutant_place_no_used => Allocator { used: None, ..PLAIN },
    mutant_place_reserved_set => Allocator { reserved: 7, ..PLAIN },
    mutant_place_no_name => Allocator { name: std::ptr::null(), ..PLAIN },
    mutant_place_latin_1_version => Allocator { version: c"caf\xe9".as_ptr(), ..PLAIN },
    mutant_place_writes_on_failure => Allocator { alloc: Some(alloc_that_writes), ..PLAIN },
    mutant_place_no_error_text => Allocator { last_error: Some(no_text), ..PLAIN },
    mutant_place_error_text_at_first => Allocator { last_error: Some(text_at_first), ..PLAIN },
}

export_place_mutants! {
    mutant_place_unknown_status => UnknownStatus,
}

static TABLES: [StaticAllocator; 2] = [StaticAllocator(PLAIN), StaticAllocator(PLAIN)];
static ANSWERED: AtomicUsize = AtomicUsize::new(0);

/// Answers another table each time.
#[unsafe(no_mangle)]
extern "C" fn mutant_place_another_table() -> *const Allocator {
    let number = ANSWERED.fetch_add(1, Ordering::SeqCst);
    &raw const TABLES[number % TABLES.len()].0
}

/// Writes NULL where it fails.
unsafe extern "C" fn alloc_that_writes(
    place: Place,
    size_bytes: usize,
    out: *mut *mut c_void,
) -> Status {
    // SAFETY: the same call.
    let status = unsafe { alloc::<Plain>(place, size_bytes, out) };
    if status != Status::OK {
        // SAFETY: the host passes a place for the result (header, alloc).
        unsafe { out.write(std::ptr::null_mut()) };
    }
    status
}

unsafe extern "C" fn no_text() -> *const c_char {
    c"".as_ptr()
}

/// Answers with a text although no call failed.
unsafe extern "C" fn text_at_first() -> *const c_char {
    // SAFETY: a function without arguments.
    let text = unsafe { last_error() };
    // SAFETY: the text of last_error() has a NUL.
    if unsafe { text.read() } == 0 { c"no error".as_ptr() } else { text }
}

/// Answers a failed free() with a status of its own.
struct UnknownStatus;

impl Mutation for UnknownStatus {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        base.free(place, address).map_err(|failure| Failure { status: Status(-5), ..failure })
    }
}
