//! The functions that take and free a block and release idle memory, called without a record.

use std::ffi::c_void;
use std::ptr;

use allocert_abi::place::{CPU, CUDA, Place, Status};
use allocert_suite::observation::Facts;

use crate::churn_and_stress::Block;
use crate::interface::place::block_source::{DEFAULT_STREAM, PlaceBlocks};
use crate::interface::place::exported::Exported;
use crate::interface::place::memory::WhenCurrent;
use crate::interleave::{CallNames, InterleavedCalls, interleave};
use crate::step_result::NoResult;

type ReleaseFunction = unsafe extern "C" fn(Place, *mut usize) -> Status;

/// Stops a thread inside the functions, while another one takes and frees blocks of that size.
pub(crate) fn interleaved(
    blocks: PlaceBlocks<'_>,
    size_bytes: u64,
    instructions: u64,
) -> Result<Facts, NoResult> {
    let calls = UnrecordedBlocks { blocks };
    let result = blocks.memory.with_device_current(blocks.place, WhenCurrent::Always, || {
        interleave(calls, size_bytes, instructions)
    })?;
    result.0
}

/// The blocks of one place.
#[derive(Clone, Copy)]
struct UnrecordedBlocks<'a> {
    blocks: PlaceBlocks<'a>,
}

impl UnrecordedBlocks<'_> {
    fn place(self) -> Place {
        self.blocks.place
    }

    fn table_release(self) -> Option<ReleaseFunction> {
        match self.blocks.calls.exported() {
            Exported::Table(table) => table.allocator().release,
            Exported::Functions(_) => None,
        }
    }
}

impl InterleavedCalls for UnrecordedBlocks<'_> {
    const NAMES: CallNames = CallNames { take: "alloc", give: "free", resize: "realloc" };

    fn begin_thread(self) {
        if self.place().kind == CUDA {
            // Where it fails, the functions fail on this thread.
            let _ = self.blocks.memory.set_current(u32::try_from(self.place().device).ok());
        }
    }

    fn take(self, size_bytes: usize) -> usize {
        match self.blocks.calls.exported() {
            Exported::Table(table) => {
                let Some(alloc) = table.allocator().alloc else { return 0 };
                let mut out = ptr::null_mut::<c_void>();
                // SAFETY: the library's own function; `out` is valid for a write of a pointer.
                let status = unsafe { alloc(self.place(), size_bytes, &raw mut out) };
                if status == Status::OK { out.expose_provenance() } else { 0 }
            }
            Exported::Functions(functions) => functions
                .alloc(self.place(), size_bytes as u64, DEFAULT_STREAM)
                .map_or(0, |address| address as usize),
        }
    }

    fn give(self, block: usize, size_bytes: usize) {
        match self.blocks.calls.exported() {
            Exported::Table(table) => {
                let Some(free) = table.allocator().free else { return };
                let block = ptr::with_exposed_provenance_mut::<c_void>(block);
                // SAFETY: the library's own function, with null or a live block of its own.
                unsafe { free(self.place(), block) };
            }
            // A caller of functions frees no null.
            Exported::Functions(_) if block == 0 => {}
            Exported::Functions(functions) => {
                let (place, size_bytes) = (self.place(), size_bytes as u64);
                let _ = functions.free(place, block as u64, size_bytes, DEFAULT_STREAM);
            }
        }
    }

    fn release(self) {
        if let Some(release) = self.table_release() {
            let mut bytes = 0;
            // SAFETY: the library's own function; `bytes` is valid for a write.
            unsafe { release(self.place(), &raw mut bytes) };
        }
    }

    /// Memory of the driver is not released: the record would not take so many calls.
    fn can_release(self) -> bool {
        self.place().kind == CPU && self.table_release().is_some()
    }

    /// The library of functions has no function for it.
    fn used(self) -> Option<u64> {
        let Exported::Table(table) = self.blocks.calls.exported() else { return None };
        let (used, mut bytes) = (table.allocator().used?, 0_usize);
        // SAFETY: the library's own function; `bytes` is valid for a write.
        let status = unsafe { used(self.place(), &raw mut bytes) };
        (status == Status::OK).then_some(bytes as u64)
    }

    /// Memory of devices stays as it is: the record would not take so many calls of the driver.
    fn fill(self, block: usize, size_bytes: usize, byte: u8) {
        if self.place().kind != CUDA {
            let block = Block { address: block as u64, size_bytes: size_bytes as u64 };
            let _ = self.blocks.memory.fill(self.place(), block, byte);
        }
    }

    fn is_filled(self, block: usize, size_bytes: usize, byte: u8) -> bool {
        let block = Block { address: block as u64, size_bytes: size_bytes as u64 };
        self.place().kind == CUDA || self.blocks.memory.is_filled(self.place(), block, byte)
    }
}
