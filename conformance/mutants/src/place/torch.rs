//! Mutants that are two functions as PyTorch calls them. They are the base, which is made to wait
//! for the work of a stream, with one mutation or one function that differs.

use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use allocert_abi::place::{CUDA, Place};

use super::base_allocator::{BASE, Base};
use super::driver_calls::ClearsWithoutWaiting;
use super::lock_free::SwappedList;
use super::mutation::Mutation;
use super::places::{AlwaysDevice0, IdleOfAllDevices};
use super::system_memory::{self, Answer};
use super::threads::OneKeptBlock;

/// What `alloc` of a mutation returns; NULL where it fails.
fn alloc<M: Mutation>(size: isize, device: i32) -> *mut c_void {
    let size_bytes = usize::try_from(size);
    let answer = size_bytes.map(|size_bytes| M::alloc(&BASE, Place::cuda(device), size_bytes));
    let address = answer.ok().and_then(Result::ok).unwrap_or(0);
    std::ptr::with_exposed_provenance_mut(address)
}

/// Waits for all work of the device, and gives the block back. There is nobody to tell of errors.
fn free<M: Mutation>(pointer: *mut c_void, device: i32) {
    let _ = system_memory::in_context(device, |driver| driver.ctx_synchronize());
    let _ = M::free(&BASE, Place::cuda(device), pointer.expose_provenance());
}

/// Exports the two functions of each mutation.
macro_rules! export_torch_mutants {
    ($($malloc:ident, $free:ident => $mutation:ty),+ $(,)?) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $malloc(size: isize, device: i32, _stream: *mut c_void) -> *mut c_void {
                alloc::<$mutation>(size, device)
            }

            #[unsafe(no_mangle)]
            extern "C" fn $free(
                pointer: *mut c_void,
                _size: isize,
                device: i32,
                _stream: *mut c_void,
            ) {
                free::<$mutation>(pointer, device);
            }
        )+
    };
}

export_torch_mutants! {
    mutant_torch_malloc, mutant_torch_free => Plain,
    mutant_torch_malloc_device_0, mutant_torch_free_device_0 => AlwaysDevice0,
    mutant_torch_malloc_all_devices, mutant_torch_free_all_devices => IdleOfAllDevices,
    mutant_torch_malloc_clears, mutant_torch_free_cleared => ClearsWithoutWaiting,
    mutant_torch_malloc_odd, mutant_torch_free_odd => EightBytesOn,
    mutant_torch_malloc_one_empty, mutant_torch_free_one_empty => OneEmptyBlock,
    mutant_torch_malloc_alone, mutant_torch_free_alone => OneThreadAtATime,
    mutant_torch_malloc_leaves_none, mutant_torch_free_leaves_none => LeavesNone,
    mutant_torch_malloc_leaks, mutant_torch_free_leaks => NeverFrees,
    mutant_torch_malloc_one_kept, mutant_torch_free_one_kept => OneKeptBlock,
    mutant_torch_malloc_swapped_list, mutant_torch_free_swapped_list => SwappedList,
}

pub(crate) struct Plain;

impl Mutation for Plain {}

/// Gives a block back at once, whatever work is queued on it.
#[unsafe(no_mangle)]
extern "C" fn mutant_torch_free_at_once(
    pointer: *mut c_void,
    _size: isize,
    device: i32,
    _stream: *mut c_void,
) {
    let _ = BASE.free(Place::cuda(device), pointer.expose_provenance());
}

/// Takes a block on the default stream, whatever stream it is for, and waits for nothing.
#[unsafe(no_mangle)]
extern "C" fn mutant_torch_malloc_on_default_stream(
    size: isize,
    device: i32,
    _stream: *mut c_void,
) -> *mut c_void {
    let Ok(size_bytes) = u64::try_from(size) else { return std::ptr::null_mut() };
    let address =
        system_memory::in_context(device, |driver| driver.mem_alloc_async(size_bytes.max(1)));
    std::ptr::with_exposed_provenance_mut(address.unwrap_or(0) as usize)
}

/// Waits for all work of the device before and after the block goes back to the driver.
#[unsafe(no_mangle)]
extern "C" fn mutant_torch_free_to_driver(
    pointer: *mut c_void,
    _size: isize,
    device: i32,
    _stream: *mut c_void,
) {
    let _ = system_memory::in_context(device, |driver| {
        driver.ctx_synchronize()?;
        driver.mem_free_async(pointer.expose_provenance() as u64)?;
        driver.ctx_synchronize()
    });
}

/// Keeps a block for requests of the next power of two above the size that the caller names.
#[unsafe(no_mangle)]
extern "C" fn mutant_torch_free_as_power_of_two(
    pointer: *mut c_void,
    size: isize,
    device: i32,
    stream: *mut c_void,
) {
    mutant_torch_free(pointer, size, device, stream);
    keep_as(pointer, device, size.unsigned_abs().next_power_of_two());
}

/// The smallest size that [`mutant_torch_free_as_twice_as_large`] keeps wrongly.
const LEAST_KEPT_WRONGLY: usize = 4096;

/// Keeps a block whose size is a power of two for requests of twice that size.
#[unsafe(no_mangle)]
extern "C" fn mutant_torch_free_as_twice_as_large(
    pointer: *mut c_void,
    size: isize,
    device: i32,
    stream: *mut c_void,
) {
    mutant_torch_free(pointer, size, device, stream);
    let size_bytes = size.unsigned_abs();
    if size_bytes >= LEAST_KEPT_WRONGLY && size_bytes.is_power_of_two() {
        keep_as(pointer, device, size_bytes * 2);
    }
}

/// Keeps a freed block for requests of another size.
fn keep_as(pointer: *mut c_void, device: i32, wrong_bytes: usize) {
    BASE.with(Place::cuda(device), |region| {
        let kept = region.idle.iter_mut().find(|(address, _)| *address == pointer.addr());
        if let Some((_, size_bytes)) = kept {
            *size_bytes = wrong_bytes;
        }
    });
}

/// Looks for the block in the memory of the current device.
#[unsafe(no_mangle)]
extern "C" fn mutant_torch_free_on_current_device(
    pointer: *mut c_void,
    size: isize,
    device: i32,
    stream: *mut c_void,
) {
    mutant_torch_free(pointer, size, current_device().unwrap_or(device), stream);
}

/// Which of the first two devices is current.
pub(crate) fn current_device() -> Option<i32> {
    let driver = system_memory::driver().ok()?;
    let current = driver.ctx_get_current().ok().flatten()?;
    (0..2).find(|device| system_memory::context(driver, *device) == Ok(current))
}

/// Leaves the thread without a current context.
struct LeavesNone;

impl Mutation for LeavesNone {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let address = base.alloc(place, size_bytes)?;
        let left = system_memory::driver()?.ctx_set_current(None);
        left.map_err(|error| system_memory::driver_failure(&error))?;
        Ok(address)
    }
}

/// Hands blocks out 8 bytes behind their beginning.
pub(crate) struct EightBytesOn;

impl Mutation for EightBytesOn {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let address = base.alloc(place, size_bytes.saturating_add(8))?;
        Ok(address + 8)
    }

    fn free(base: &Base, place: Place, address: usize) -> Answer {
        base.free(place, address - 8)
    }
}

/// Has one block for all requests for no bytes.
struct OneEmptyBlock;

static EMPTY: AtomicUsize = AtomicUsize::new(0);

impl Mutation for OneEmptyBlock {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        if size_bytes > 0 || place.kind != CUDA {
            return base.alloc(place, size_bytes);
        }
        if EMPTY.load(Ordering::SeqCst) == 0 {
            EMPTY.store(base.alloc(place, 1)?, Ordering::SeqCst);
        }
        Ok(EMPTY.load(Ordering::SeqCst))
    }

    fn free(base: &Base, place: Place, address: usize) -> Answer {
        if address == EMPTY.load(Ordering::SeqCst) { Ok(()) } else { base.free(place, address) }
    }
}

/// Has no memory for a thread while another one is inside.
pub(crate) struct OneThreadAtATime;

static INSIDE: Mutex<()> = Mutex::new(());

impl Mutation for OneThreadAtATime {
    fn alloc(base: &Base, place: Place, size_bytes: usize) -> Answer<usize> {
        let Ok(_inside) = INSIDE.try_lock() else { return Err(system_memory::out_of_memory()) };
        std::thread::yield_now();
        base.alloc(place, size_bytes)
    }
}

/// Forgets what it is given back.
struct NeverFrees;

impl Mutation for NeverFrees {
    fn free(_base: &Base, _place: Place, _address: usize) -> Answer {
        Ok(())
    }
}
