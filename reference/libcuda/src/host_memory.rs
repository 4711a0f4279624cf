//! Allocates, reads and writes host memory, and calls host functions, for the driver.

use std::{fs, ptr};

use allocert_driver::HostSpace;

use crate::callback;

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

    fn is_mapped(&self, address: u64, bytes: u64) -> bool {
        const PAGE_BYTES: u64 = 4096;
        let start = address - address % PAGE_BYTES;
        let end = address.saturating_add(bytes);
        let Ok(length) = usize::try_from(end - start) else { return false };
        let start = ptr::with_exposed_provenance_mut(start as usize);
        // SAFETY: it reads and writes no memory; it fails if some of these pages are not mapped.
        unsafe { libc::msync(start, length, libc::MS_ASYNC) == 0 }
    }

    fn is_writable(&self, address: u64, bytes: u64) -> bool {
        // Without the list of mappings, a write tells.
        let Ok(mappings) = fs::read_to_string("/proc/self/maps") else { return true };
        let end = address.saturating_add(bytes);
        let is_read_only = |line: &str| {
            let (range, rest) = line.split_once(' ')?;
            let (start, stop) = range.split_once('-')?;
            let (start, stop) = (u64::from_str_radix(start, 16), u64::from_str_radix(stop, 16));
            Some(start.ok()? < end && stop.ok()? > address && rest.as_bytes().get(1) != Some(&b'w'))
        };
        !mappings.lines().any(|line| is_read_only(line).unwrap_or(false))
    }

    fn call(&mut self, function: u64, stream: Option<u64>, data: u64) {
        callback::run_with_lock(function, stream, data);
    }
}
