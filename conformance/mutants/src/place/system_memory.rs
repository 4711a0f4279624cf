//! Where the memory of a place comes from: libc's heap, or the CUDA driver.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use allocert_abi::place::{CPU, CUDA, CUDA_PINNED, Place, Status};
use allocert_cuda::{Context, Driver, DriverError, HostAllocFlags};

/// What sizes are rounded up to, and what memory of the heap is aligned to.
pub(crate) const GRANULE_BYTES: usize = 256;

/// What a function of the table answers.
pub(crate) type Answer<T = ()> = Result<T, Failure>;

/// A failed call: its status, and the text of `last_error()`, which ends with a NUL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) text: &'static str,
}

pub(crate) const fn fail(status: Status, text: &'static str) -> Failure {
    Failure { status, text }
}

pub(crate) fn out_of_memory() -> Failure {
    fail(Status::OUT_OF_MEMORY, "alloc: not enough memory at the place\0")
}

pub(crate) fn no_place() -> Failure {
    fail(Status::NO_PLACE, "there is no such place\0")
}

pub(crate) fn driver_failure(error: &DriverError) -> Failure {
    if error.is_out_of_memory() {
        out_of_memory()
    } else {
        fail(Status::DRIVER_ERROR, "the CUDA driver failed\0")
    }
}

/// Contexts that were retained, by device. They stay for the life of the process.
static CONTEXTS: Mutex<BTreeMap<i32, Context>> = Mutex::new(BTreeMap::new());

pub(crate) fn driver() -> Answer<Driver> {
    let driver = Driver::load().map_err(|error| driver_failure(&error))?;
    driver.init().map_err(|error| driver_failure(&error))?;
    Ok(driver)
}

/// The primary context of a device.
pub(crate) fn context(driver: Driver, device: i32) -> Answer<Context> {
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = contexts.get(&device) {
        return Ok(*context);
    }
    let context = driver.primary_ctx_retain(device).map_err(|error| driver_failure(&error))?;
    contexts.insert(device, context);
    Ok(context)
}

/// Does something in the primary context of a device, and leaves the context current that was.
pub(crate) fn in_context<T>(
    device: i32,
    work: impl FnOnce(Driver) -> Result<T, DriverError>,
) -> Answer<T> {
    let driver = driver()?;
    let context = context(driver, device)?;
    let failed = |error: DriverError| driver_failure(&error);
    driver.ctx_push_current(context).map_err(failed)?;
    let result = work(driver).map_err(failed);
    driver.ctx_pop_current().map_err(failed)?;
    result
}

/// Refuses a place that does not exist.
pub(crate) fn check(place: Place) -> Answer {
    let exists = match place.kind {
        CPU | CUDA_PINNED => place.device == 0,
        CUDA => {
            let count = driver()?.device_get_count().map_err(|error| driver_failure(&error))?;
            (0..count).contains(&place.device)
        }
        _ => false,
    };
    if exists { Ok(()) } else { Err(no_place()) }
}

fn layout(size_bytes: usize) -> Answer<Layout> {
    Layout::from_size_align(size_bytes, GRANULE_BYTES).map_err(|_| out_of_memory())
}

/// Takes memory from the system.
pub(crate) fn take(place: Place, size_bytes: usize) -> Answer<usize> {
    match place.kind {
        CPU => {
            let layout = layout(size_bytes)?;
            // SAFETY: the base asks for a granule or more.
            let pointer = unsafe { alloc(layout) };
            if pointer.is_null() { Err(out_of_memory()) } else { Ok(pointer.expose_provenance()) }
        }
        CUDA => in_context(place.device, |driver| driver.mem_alloc(size_bytes as u64))
            .map(|address| address as usize),
        _ => in_context(0, |driver| {
            let flags = HostAllocFlags { portable: true, ..HostAllocFlags::default() };
            driver.mem_host_alloc(size_bytes as u64, flags)
        }),
    }
}

/// Gives memory that [`take`] gave back to the system.
pub(crate) fn give(place: Place, address: usize, size_bytes: usize) -> Answer {
    match place.kind {
        CPU => {
            let pointer = std::ptr::with_exposed_provenance_mut(address);
            // SAFETY: take() gave the address with this layout, and the base gives it back once.
            unsafe { dealloc(pointer, layout(size_bytes)?) };
            Ok(())
        }
        CUDA => in_context(place.device, |driver| driver.mem_free(address as u64)),
        _ => in_context(0, |driver| driver.mem_free_host(address)),
    }
}
