//! Allocates, reads and writes host memory, and calls host functions, for the driver.

use std::{ffi::c_void, ptr};

use allocert_driver::HostSpace;

#[derive(Debug)]
pub(crate) struct HostMemory;

const PAGE_BYTES: u64 = 4096;

fn pages(bytes: u64) -> Option<usize> {
    bytes.checked_next_multiple_of(PAGE_BYTES)?.try_into().ok()
}

impl HostSpace for HostMemory {
    fn allocate(&mut self, bytes: u64) -> Option<u64> {
        let bytes = pages(bytes)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new anonymous mapping wherever there is room.
        let mapped = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                access,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        (mapped != libc::MAP_FAILED).then(|| mapped.expose_provenance() as u64)
    }

    fn release(&mut self, address: u64, bytes: u64) {
        if let Some(bytes) = pages(bytes) {
            // SAFETY: the driver gives back exactly what `allocate` mapped, once; the program has
            // given up its pointers to it.
            unsafe { libc::munmap(ptr::with_exposed_provenance_mut(address as usize), bytes) };
        }
    }

    fn read(&self, address: u64, into: &mut [u8]) {
        let from = ptr::with_exposed_provenance::<u8>(address as usize);
        // SAFETY: the program passed this host range as the source of a copy and promised it
        // readable until the copy ran.
        unsafe { ptr::copy(from, into.as_mut_ptr(), into.len()) };
    }

    fn write(&mut self, address: u64, from: &[u8]) {
        let to = ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: the program passed this host range as the target of a copy or fill and promised
        // it writable until that ran.
        unsafe { ptr::copy(from.as_ptr(), to, from.len()) };
    }

    fn call(&mut self, function: u64, stream: Option<u64>, data: u64) {
        let function = ptr::with_exposed_provenance::<c_void>(function as usize);
        let data = ptr::with_exposed_provenance_mut::<c_void>(data as usize);
        match stream {
            None => {
                // SAFETY: the program gave it to cuLaunchHostFunc, whose parameter is a CUhostFn.
                let function: unsafe extern "C" fn(*mut c_void) =
                    unsafe { std::mem::transmute(function) };
                // SAFETY: the program's own function with the program's own argument.
                unsafe { function(data) };
            }
            Some(stream) => {
                // SAFETY: the program gave it to cuStreamAddCallback, whose parameter is a
                // CUstreamCallback.
                let function: unsafe extern "C" fn(u64, i32, *mut c_void) =
                    unsafe { std::mem::transmute(function) };
                // SAFETY: the program's own function with the program's own argument.
                unsafe { function(stream, 0, data) };
            }
        }
    }
}
