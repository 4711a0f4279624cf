//! A handler whose realloc() writes over the block behind a smaller new one. Small blocks lie in a
//! region of their own, so that only blocks of the handler take the damage.

use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::nep49::{Allocator, StaticHandler};

use super::conforming::{self, CONFORMING, mutant};

#[unsafe(no_mangle)]
static mutant_nep49_realloc_copies_all: StaticHandler = mutant(Allocator {
    malloc: Some(malloc),
    realloc: Some(realloc),
    free: Some(free),
    ..CONFORMING
});

const SLOT_BYTES: usize = 1024;
const SLOTS: usize = 4096;
const REGION_BYTES: usize = SLOTS * SLOT_BYTES;
/// How much of an old block realloc() copies: more than a slot has room for.
const COPIED_BYTES: usize = SLOT_BYTES + 64;

struct Region {
    /// 0 before the first block.
    begin: usize,
    /// Slots that nobody has taken yet begin with this one.
    untouched: usize,
    freed: Vec<usize>,
}

static REGION: Mutex<Region> = Mutex::new(Region { begin: 0, untouched: 0, freed: Vec::new() });

fn region() -> MutexGuard<'static, Region> {
    REGION.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Region {
    /// The address of a slot: the one that was freed last, or a new one.
    fn take(&mut self) -> Option<usize> {
        if self.begin == 0 {
            self.map()?;
        }
        self.freed.pop().or_else(|| {
            // The last slot stays empty: what is written behind a block lies in the region.
            let slot = (self.untouched < SLOTS - 1).then_some(self.untouched)?;
            self.untouched += 1;
            Some(self.begin + slot * SLOT_BYTES)
        })
    }

    fn map(&mut self) -> Option<()> {
        let region = conforming::map(REGION_BYTES);
        if region.is_null() {
            return None;
        }
        self.begin = region.expose_provenance();
        Some(())
    }

    fn contains(&self, block: *mut c_void) -> bool {
        (self.begin..self.begin + REGION_BYTES).contains(&block.addr())
    }
}

unsafe extern "C" fn malloc(ctx: *mut c_void, size: usize) -> *mut c_void {
    let slot = if size <= SLOT_BYTES { region().take() } else { None };
    match slot {
        Some(address) => ptr::with_exposed_provenance_mut(address),
        // SAFETY: the same call.
        None => unsafe { conforming::malloc(ctx, size) },
    }
}

unsafe extern "C" fn realloc(ctx: *mut c_void, block: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: any size.
    let new = unsafe { malloc(ctx, size) };
    if new.is_null() || block.is_null() {
        return new;
    }
    let region = region();
    let (old_in_region, new_in_region) = (region.contains(block), region.contains(new));
    drop(region);
    let old = match old_in_region {
        true => SLOT_BYTES,
        // SAFETY: a live block of libc's.
        false => unsafe { libc::malloc_usable_size(block) },
    };
    // The defect: a slot has no room for so many bytes.
    let room = if new_in_region { COPIED_BYTES } else { size };
    // SAFETY: the old block has so many bytes, and the region has them behind each slot in use.
    unsafe { ptr::copy(block.cast::<u8>(), new.cast(), old.min(room)) };
    // SAFETY: a live block, freed once.
    unsafe { free(ctx, block, old) };
    new
}

unsafe extern "C" fn free(ctx: *mut c_void, block: *mut c_void, size: usize) {
    let mut region = region();
    if !region.contains(block) {
        // SAFETY: the same call.
        return unsafe { conforming::free(ctx, block, size) };
    }
    region.freed.push(block.addr());
}
