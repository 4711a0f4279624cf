//! A handler that cuts blocks of 2^k bytes from one region, with a header before each.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_header_in_last_bytes: StaticHandler = mutant(Allocator {
    malloc: Some(malloc),
    realloc: Some(realloc),
    free: Some(free),
    ..CONFORMING
});

const SMALLEST_BYTES: usize = 4096;
const LARGEST_BYTES: usize = 1 << 20;
const REGION_BYTES: usize = 1 << 28;

/// Before each block.
#[repr(C)]
struct Header {
    size_bytes: usize,
    magic: usize,
}

const HEADER_BYTES: usize = size_of::<Header>();
const MAGIC: usize = 0xb10c_b10c;

struct Region {
    /// 0 before the first block.
    begin: usize,
    end: usize,
    next: usize,
    /// Blocks that were freed.
    free: Vec<(usize, usize)>,
}

static REGION: Mutex<Region> = Mutex::new(Region { begin: 0, end: 0, next: 0, free: Vec::new() });

fn region() -> MutexGuard<'static, Region> {
    REGION.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Region {
    /// The address of a block of so many bytes.
    fn take(&mut self, size: usize) -> Option<usize> {
        if let Some(index) = self.free.iter().position(|(_, kept)| *kept == size) {
            return Some(self.free.swap_remove(index).0);
        }
        if self.begin == 0 {
            self.map()?;
        }
        // The defect: the next block begins after `size` bytes, and its header lies before it.
        let block = self.next;
        self.next = block + size;
        (self.next < self.end).then_some(block)
    }

    fn map(&mut self) -> Option<()> {
        let region = conforming::map(REGION_BYTES);
        if region.is_null() {
            return None;
        }
        self.begin = region.expose_provenance();
        self.end = self.begin + REGION_BYTES;
        self.next = self.begin + HEADER_BYTES;
        Some(())
    }

    fn contains(&self, block: *mut c_void) -> bool {
        (self.begin..self.end).contains(&block.addr())
    }
}

fn header_of(block: *mut c_void) -> *mut Header {
    block.wrapping_byte_sub(HEADER_BYTES).cast()
}

/// The size of a block of the region, unless its header is damaged.
fn size_of_block(block: *mut c_void) -> Option<usize> {
    // SAFETY: the bytes before a block of the region.
    let Header { size_bytes, magic } = unsafe { header_of(block).read() };
    (magic == MAGIC).then_some(size_bytes)
}

unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    if !size.is_power_of_two() || !(SMALLEST_BYTES..=LARGEST_BYTES).contains(&size) {
        // SAFETY: the same call.
        return unsafe { conforming::malloc(ctx, size) };
    }
    let Some(address) = region().take(size) else { return ptr::null_mut() };
    let block = ptr::with_exposed_provenance_mut::<c_void>(address);
    // SAFETY: the bytes before a block of the region.
    unsafe { header_of(block).write(Header { size_bytes: size, magic: MAGIC }) };
    block
}

unsafe extern "C" fn realloc(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    if !region().contains(block) {
        // SAFETY: the same call.
        return unsafe { conforming::realloc(ctx, block, size) };
    }
    // SAFETY: the same call.
    let new = unsafe { malloc(ctx, size) };
    if !new.is_null() {
        let old = size_of_block(block).unwrap_or(0);
        // SAFETY: both blocks have so many bytes.
        unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), old.min(size)) };
        // SAFETY: the caller gives the block up.
        unsafe { free(ctx, block, old) };
    }
    new
}

/// A block with a damaged header is lost.
unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void, size: usize) {
    let mut region = region();
    if !region.contains(block) {
        // SAFETY: the same call.
        return unsafe { conforming::free(ctx, block, size) };
    }
    if let Some(size) = size_of_block(block) {
        region.free.push((block.addr(), size));
    }
}
