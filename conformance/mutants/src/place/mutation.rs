//! How a table is made of the base and one mutation.

use std::cell::Cell;
use std::ffi::{c_char, c_void};

use allocert_abi::place::{Allocator, Place, Status, VERSION};

use super::base_allocator::{BASE, Base};
use super::system_memory::{Answer, Failure};

/// What is wrong with a mutant: the functions that differ from those of the base. Addresses are
/// numbers, 0 is NULL.
pub(crate) trait Mutation {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        base.alloc(place, size_bytes)
    }

    fn free(base: &Base, place: Place, address: usize) -> Answer {
        base.free(place, address)
    }

    fn used(base: &Base, place: Place) -> Answer<usize> {
        base.used(place)
    }

    fn release(base: &Base, place: Place) -> Answer<usize> {
        base.release(place)
    }
}

/// The table of a mutation.
pub(crate) const fn table<M: Mutation>() -> Allocator {
    Allocator {
        size: size_of::<Allocator>(),
        interface_version: VERSION,
        reserved: 0,
        name: c"mutant".as_ptr(),
        version: c"1".as_ptr(),
        alloc: Some(alloc::<M>),
        free: Some(free::<M>),
        used: Some(used::<M>),
        release: Some(release::<M>),
        last_error: Some(last_error),
    }
}

/// Exports the table of each mutation under a symbol.
macro_rules! export_place_mutants {
    ($($symbol:ident => $mutation:ty),+ $(,)?) => {
        $crate::place::mutation::export_place_tables! {
            $($symbol => $crate::place::mutation::table::<$mutation>(),)+
        }
    };
}

/// Exports tables under symbols.
macro_rules! export_place_tables {
    ($($symbol:ident => $table:expr),+ $(,)?) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $symbol() -> *const ::allocert_abi::place::Allocator {
                static TABLE: ::allocert_abi::place::StaticAllocator =
                    ::allocert_abi::place::StaticAllocator($table);
                &raw const TABLE.0
            }
        )+
    };
}

pub(crate) use {export_place_mutants, export_place_tables};

thread_local! {
    static LAST_ERROR: Cell<&'static str> = const { Cell::new("\0") };
}

fn status(answer: Answer) -> Status {
    match answer {
        Ok(()) => Status::OK,
        Err(Failure { status, text }) => {
            LAST_ERROR.set(text);
            status
        }
    }
}

/// As [`status`], and writes the result of a call that returned one.
///
/// # Safety
/// `out` is valid for a write.
unsafe fn written<T, U>(answer: Answer<T>, out: *mut U, convert: impl FnOnce(T) -> U) -> Status {
    status(answer.map(|value| {
        // SAFETY: the caller's promise.
        unsafe { out.write(convert(value)) }
    }))
}

pub(crate) unsafe extern "C" fn alloc<M: Mutation>(
    place: Place,
    size_bytes: usize,
    out: *mut *mut c_void,
) -> Status {
    let answer = M::alloc(&BASE, place, size_bytes);
    // SAFETY: the host passes a place for the result (header, alloc).
    unsafe { written(answer, out, std::ptr::with_exposed_provenance_mut) }
}

pub(crate) unsafe extern "C" fn free<M: Mutation>(place: Place, pointer: *mut c_void) -> Status {
    status(M::free(&BASE, place, pointer.expose_provenance()))
}

pub(crate) unsafe extern "C" fn used<M: Mutation>(place: Place, out_bytes: *mut usize) -> Status {
    let answer = M::used(&BASE, place);
    // SAFETY: the host passes a place for the result (header, used).
    unsafe { written(answer, out_bytes, |bytes| bytes) }
}

pub(crate) unsafe extern "C" fn release<M: Mutation>(
    place: Place,
    out_bytes: *mut usize,
) -> Status {
    let answer = M::release(&BASE, place);
    // SAFETY: the host passes a place for the result (header, release).
    unsafe { written(answer, out_bytes, |bytes| bytes) }
}

pub(crate) unsafe extern "C" fn last_error() -> *const c_char {
    LAST_ERROR.get().as_ptr().cast()
}
