//! Mutants that are two functions as CuPy calls them, or `malloc` and `free`. They are the base
//! with one mutation.

use std::ffi::c_void;

use allocert_abi::place::{CPU, Place};

use super::base_allocator::{BASE, Base};
use super::free::Forgets;
use super::mutation::Mutation;
use super::places::AlwaysDevice0;
use super::system_memory::{self, Answer};
use super::torch::{EightBytesOn, OneThreadAtATime, Plain, current_device};

/// What `alloc` of a mutation returns; NULL where it fails.
fn alloc<M: Mutation>(place: Place, size_bytes: usize) -> *mut c_void {
    let address = M::alloc(&BASE, place, size_bytes).unwrap_or(0);
    std::ptr::with_exposed_provenance_mut(address)
}

/// There is nobody to tell of errors.
fn free<M: Mutation>(place: Place, pointer: *mut c_void) {
    let _ = M::free(&BASE, place, pointer.expose_provenance());
}

/// Exports the functions of each mutation for CuPy.
macro_rules! export_cupy_mutants {
    ($($malloc:ident, $free:ident => $mutation:ty),+ $(,)?) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $malloc(_param: *mut c_void, size: usize, device: i32) -> *mut c_void {
                alloc::<$mutation>(Place::cuda(device), size)
            }

            #[unsafe(no_mangle)]
            extern "C" fn $free(_param: *mut c_void, pointer: *mut c_void, device: i32) {
                // The base keeps the block, and does not wait for work on it as the driver would.
                let _ = system_memory::in_context(device, |driver| driver.ctx_synchronize());
                free::<$mutation>(Place::cuda(device), pointer);
            }
        )+
    };
}

export_cupy_mutants! {
    mutant_cupy_malloc, mutant_cupy_free => Plain,
    mutant_cupy_malloc_device_0, mutant_cupy_free_device_0 => AlwaysDevice0,
}

/// Looks for the block in the memory of the current device.
#[unsafe(no_mangle)]
extern "C" fn mutant_cupy_free_on_current_device(
    param: *mut c_void,
    pointer: *mut c_void,
    device: i32,
) {
    mutant_cupy_free(param, pointer, current_device().unwrap_or(device));
}

/// Serves no request that is not given the address of this.
#[unsafe(no_mangle)]
static MUTANT_CUPY_PARAM: u64 = 7;

#[unsafe(no_mangle)]
extern "C" fn mutant_cupy_malloc_with_param(
    param: *mut c_void,
    size: usize,
    device: i32,
) -> *mut c_void {
    if param.addr() == (&raw const MUTANT_CUPY_PARAM).addr() {
        mutant_cupy_malloc(param, size, device)
    } else {
        std::ptr::null_mut()
    }
}

/// Exports `malloc` and `free` of each mutation.
macro_rules! export_malloc_mutants {
    ($($malloc:ident, $free:ident => $mutation:ty),+ $(,)?) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $malloc(size: usize) -> *mut c_void {
                alloc::<$mutation>(Place::CPU, size)
            }

            #[unsafe(no_mangle)]
            extern "C" fn $free(pointer: *mut c_void) {
                free::<$mutation>(Place::CPU, pointer);
            }
        )+
    };
}

export_malloc_mutants! {
    mutant_malloc, mutant_free => Plain,
    mutant_malloc_odd, mutant_free_odd => EightBytesOn,
    mutant_malloc_alone, mutant_free_alone => OneThreadAtATime,
    mutant_malloc_forgets, mutant_free_forgets => Forgets,
    mutant_malloc_null_is_first, mutant_free_null_is_first => NullIsFirst,
}

/// Takes NULL for the oldest live block.
struct NullIsFirst;

impl Mutation for NullIsFirst {
    fn free(base: &Base, place: Place, address: usize) -> Answer {
        let first = || base.with(place, |region| region.live.keys().next().copied());
        match address {
            0 if place.kind == CPU => first().map_or(Ok(()), |first| base.free(place, first)),
            address => base.free(place, address),
        }
    }
}
