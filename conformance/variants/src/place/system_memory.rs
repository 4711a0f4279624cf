//! Memory of the system: pages of the kernel, memory of a device, and pages that the driver locks.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use allocert_abi::place::{CPU, CUDA, CUDA_PINNED, Place, Status};
use allocert_cuda::{Context, Driver, DriverError};

/// What a call returned, or its status with the text of `last_error()`, which ends with a NUL.
pub(crate) type Answer<T = ()> = Result<T, (Status, &'static str)>;

pub(crate) const OUT_OF_MEMORY: (Status, &str) =
    (Status::OUT_OF_MEMORY, "alloc: there is not enough memory\0");
pub(crate) const NO_PLACE: (Status, &str) =
    (Status::NO_PLACE, "this library does not serve the place\0");
pub(crate) const UNKNOWN_ADDRESS: (Status, &str) =
    (Status::INVALID_VALUE, "free: no live block of the place begins there\0");

const PAGE_BYTES: usize = 4096;

/// The primary contexts that this library holds, by device.
static CONTEXTS: Mutex<BTreeMap<i32, Context>> = Mutex::new(BTreeMap::new());

fn failed(error: DriverError) -> (Status, &'static str) {
    if error.is_out_of_memory() {
        OUT_OF_MEMORY
    } else {
        (Status::DRIVER_ERROR, "a call of the CUDA driver failed\0")
    }
}

fn driver() -> Answer<Driver> {
    let driver = Driver::load().map_err(failed)?;
    driver.init().map_err(failed)?;
    Ok(driver)
}

/// Does something in the primary context of a device.
fn on_device<T>(device: i32, work: impl FnOnce(Driver) -> Result<T, DriverError>) -> Answer<T> {
    let driver = driver()?;
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let context = match contexts.get(&device) {
        Some(context) => *context,
        None => driver.primary_ctx_retain(device).map_err(failed)?,
    };
    contexts.insert(device, context);
    drop(contexts);
    driver.ctx_push_current(context).map_err(failed)?;
    let result = work(driver);
    driver.ctx_pop_current().map_err(failed)?;
    result.map_err(failed)
}

/// Refuses a place that does not exist.
pub(crate) fn check(place: Place) -> Answer {
    let Place { kind, device } = place;
    let exists = match kind {
        CPU | CUDA_PINNED => device == 0,
        CUDA => device >= 0 && device < driver()?.device_get_count().map_err(failed)?,
        _ => false,
    };
    if exists { Ok(()) } else { Err(NO_PLACE) }
}

pub(crate) fn take(place: Place, size_bytes: usize) -> Answer<usize> {
    match place.kind {
        CPU => map(size_bytes),
        CUDA => on_device(place.device, |driver| driver.mem_alloc(size_bytes as u64))
            .map(|address| address as usize),
        _ => {
            let address = map(size_bytes)?;
            let length = size_bytes as u64;
            on_device(0, |driver| driver.mem_host_register(address, length, false))
                .inspect_err(|_| unmap(address, size_bytes))?;
            Ok(address)
        }
    }
}

pub(crate) fn give(place: Place, address: usize, size_bytes: usize) -> Answer {
    match place.kind {
        CPU => unmap(address, size_bytes),
        CUDA => on_device(place.device, |driver| driver.mem_free(address as u64))?,
        _ => {
            on_device(0, |driver| driver.mem_host_unregister(address))?;
            unmap(address, size_bytes);
        }
    }
    Ok(())
}

/// Pages of their own for so many bytes.
fn map(size_bytes: usize) -> Answer<usize> {
    let length = size_bytes.checked_next_multiple_of(PAGE_BYTES).ok_or(OUT_OF_MEMORY)?;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping wherever the kernel likes.
    let pages = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, -1, 0) };
    if pages == libc::MAP_FAILED { Err(OUT_OF_MEMORY) } else { Ok(pages.expose_provenance()) }
}

fn unmap(address: usize, size_bytes: usize) {
    let pages = std::ptr::with_exposed_provenance_mut(address);
    // SAFETY: the pages that map() gave for this size, in which no block is live.
    unsafe { libc::munmap(pages, size_bytes.next_multiple_of(PAGE_BYTES)) };
}
