//! Variants of allocators of memory by place (`allocert_place.h`). Each is a table under a symbol,
//! which conforms in its own way.

mod allocator;
mod chunks;
mod counted_list;
mod system_memory;

use std::ffi::c_void;

use allocert_abi::place::{Allocator, CPU, CUDA, Place, StaticAllocator, Status, VERSION};

use allocator::Style;

/// The table of a style.
const fn table<S: Style>() -> Allocator {
    Allocator {
        size: size_of::<Allocator>(),
        interface_version: VERSION,
        reserved: 0,
        name: c"variant".as_ptr(),
        version: c"1".as_ptr(),
        alloc: Some(alloc::<S>),
        free: Some(free::<S>),
        used: Some(used::<S>),
        release: Some(release::<S>),
        last_error: Some(allocator::last_error),
    }
}

unsafe extern "C" fn alloc<S: Style>(
    place: Place,
    size_bytes: usize,
    out: *mut *mut c_void,
) -> Status {
    allocator::answer(allocator::alloc::<S>(place, size_bytes), |address| {
        // SAFETY: the host passes a place for the result (header, alloc).
        unsafe { out.write(std::ptr::with_exposed_provenance_mut(address)) }
    })
}

unsafe extern "C" fn free<S: Style>(place: Place, pointer: *mut c_void) -> Status {
    allocator::answer(allocator::free::<S>(place, pointer.addr()), |()| ())
}

unsafe extern "C" fn used<S: Style>(place: Place, out_bytes: *mut usize) -> Status {
    allocator::answer(allocator::used::<S>(place), |bytes| {
        // SAFETY: the host passes a place for the result (header, used).
        unsafe { out_bytes.write(bytes) }
    })
}

unsafe extern "C" fn release<S: Style>(place: Place, out_bytes: *mut usize) -> Status {
    allocator::answer(allocator::release::<S>(place), |bytes| {
        // SAFETY: the host passes a place for the result (header, release).
        unsafe { out_bytes.write(bytes) }
    })
}

/// Exports the table of each style under a symbol.
macro_rules! export {
    ($($symbol:ident => $table:expr),+ $(,)?) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $symbol() -> *const Allocator {
                static TABLE: StaticAllocator = StaticAllocator($table);
                &raw const TABLE.0
            }
        )+
    };
}

export! {
    variant_place_plain => Allocator { release: None, last_error: None, ..table::<Plain>() },
    variant_place_pages => table::<Pages>(),
    variant_place_cpu_only => table::<CpuOnly>(),
    variant_place_cuda_only => table::<CudaOnly>(),
    variant_place_chunks => table::<Chunks>(),
    variant_place_exact_sizes => table::<ExactSizes>(),
    variant_place_no_release => Allocator { release: None, ..table::<ExactSizes>() },
    variant_place_counted_list => counted_list::table(table::<Plain>()),
}

/// One piece of memory of the system for each block, which goes back at once.
struct Plain;

impl Style for Plain {}

/// Whole pages, with a header that counts, also for no bytes. Freed pages are kept.
struct Pages;

impl Style for Pages {
    const GRANULE_BYTES: usize = 4096;
    const HEADER_BYTES: usize = 64;
    const SHIFT_BYTES: usize = 4096;
    const ZERO_IS_BLOCK: bool = true;
    const KEEPS: bool = true;
}

/// Freed pieces of memory are kept for requests of exactly the same size.
struct ExactSizes;

impl Style for ExactSizes {
    const GRANULE_BYTES: usize = 1;
    const KEEPS: bool = true;
}

/// Memory of the host alone, which is filled before it goes out.
struct CpuOnly;

impl Style for CpuOnly {
    const CONTENT: Option<u8> = Some(0xef);

    fn serves(kind: i32) -> bool {
        kind == CPU
    }
}

/// Memory of devices alone.
struct CudaOnly;

impl Style for CudaOnly {
    const ZERO_IS_BLOCK: bool = true;

    fn serves(kind: i32) -> bool {
        kind == CUDA
    }
}

/// Blocks cut out of pieces of 64 MiB, at odd multiples of 32 bytes.
struct Chunks;

impl Style for Chunks {
    const SHIFT_BYTES: usize = 32;

    fn take(place: Place, size_bytes: usize) -> allocator::Answer<usize> {
        chunks::take(place, size_bytes)
    }

    fn give(place: Place, address: usize, size_bytes: usize) -> allocator::Answer {
        chunks::give(place, address, size_bytes);
        Ok(())
    }

    fn trim(place: Place) -> allocator::Answer<usize> {
        chunks::trim(place)
    }
}
