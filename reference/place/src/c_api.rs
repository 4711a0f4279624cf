//! The table of `allocert_place.h`.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use allocert_abi::place::{
    self, Allocator, CPU, CUDA, CUDA_PINNED, StaticAllocator, Status, VERSION,
};

use crate::{Error, Place, memory};

/// The table of the reference allocator.
pub static ALLOCATOR: StaticAllocator = StaticAllocator(Allocator {
    size: size_of::<Allocator>(),
    interface_version: VERSION,
    reserved: 0,
    name: c"allocert reference allocator by place".as_ptr(),
    version: VERSION_TEXT.as_ptr(),
    alloc: Some(alloc),
    free: Some(free),
    used: Some(used),
    release: Some(release),
    last_error: Some(last_error),
});

const VERSION_TEXT: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

/// The table. Makes no driver call.
#[unsafe(no_mangle)]
pub extern "C" fn allocert_place_allocator_v1() -> *const Allocator {
    &raw const ALLOCATOR.0
}

/// # Safety
/// `out` is null or can be written to.
unsafe extern "C" fn alloc(
    place: place::Place,
    size_bytes: usize,
    out: *mut *mut c_void,
) -> Status {
    answer("alloc", place, out, |place| memory::alloc(place, size_bytes))
}

/// # Safety
/// None; it has the type that the table demands.
unsafe extern "C" fn free(place: place::Place, pointer: *mut c_void) -> Status {
    let mut nothing = ();
    answer("free", place, &raw mut nothing, |place| memory::free(place, pointer))
}

/// # Safety
/// `out_bytes` is null or can be written to.
unsafe extern "C" fn used(place: place::Place, out_bytes: *mut usize) -> Status {
    answer("used", place, out_bytes, memory::used)
}

/// # Safety
/// As for [`used`].
unsafe extern "C" fn release(place: place::Place, out_bytes: *mut usize) -> Status {
    answer("release", place, out_bytes, memory::release)
}

/// Calls, and writes what comes back to `out`.
#[inline]
fn answer<T>(
    function: &'static str,
    place: place::Place,
    out: *mut T,
    call: impl FnOnce(Place) -> Result<T, Error>,
) -> Status {
    let Some(out) = NonNull::new(out) else {
        return failed(Status::INVALID_VALUE, &format!("{function}: the caller passes no `out`"));
    };
    let Some(known) = known(place) else {
        let place::Place { kind, device } = place;
        let text = format!("{function}: there is no place of kind {kind} with device {device}");
        return failed(Status::NO_PLACE, &text);
    };
    match catch_unwind(AssertUnwindSafe(|| call(known))) {
        Ok(Ok(value)) => {
            // SAFETY: the header demands a pointer that can be written to.
            unsafe { out.write(value) };
            Status::OK
        }
        Ok(Err(error)) => failed(status(error), &format!("{function} at {known}: {error}")),
        Err(_) => {
            failed(Status::INTERNAL, &format!("{function} at {known}: a defect of the allocator"))
        }
    }
}

#[inline]
fn known(place: place::Place) -> Option<Place> {
    match (place.kind, place.device) {
        (CPU, 0) => Some(Place::Cpu),
        (CUDA, 0..) => Some(Place::Cuda(place.device)),
        (CUDA_PINNED, 0) => Some(Place::CudaPinned),
        _ => None,
    }
}

fn status(error: Error) -> Status {
    match error {
        Error::OutOfMemory => Status::OUT_OF_MEMORY,
        Error::FreedBefore(_) | Error::NoBlock(_) => Status::INVALID_VALUE,
        Error::Corrupted { .. } => Status::CORRUPTED,
        Error::NoPlace(_) => Status::NO_PLACE,
        Error::Driver(_) | Error::Forked => Status::DRIVER_ERROR,
    }
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

#[cold]
fn failed(status: Status, text: &str) -> Status {
    let text = CString::new(text).unwrap_or_default();
    // A thread that ends has no text.
    let _ = LAST_ERROR.try_with(|last| last.replace(text));
    status
}

unsafe extern "C" fn last_error() -> *const c_char {
    LAST_ERROR.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}
