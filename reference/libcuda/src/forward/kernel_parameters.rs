//! The layout of kernel parameters under a genuine driver.
//!
//! Which function tells the layout depends on the kind of handle, and that is known from the call
//! that returned it. A handle that came another way has no layout.

use std::{collections::BTreeMap, mem};

use allocert_contract::trace::cuda::{Function, Launch};
use allocert_driver::{Layout, Parameter};
use allocert_recorder::{Origin, Range, Ring};

use super::genuine::Genuine;
use crate::{
    kernel_arguments,
    lock::{Guard, Lock},
};

type ParameterInfo = unsafe extern "C" fn(u64, usize, *mut usize, *mut usize) -> i32;
type PointerAttributes = unsafe extern "C" fn(u32, *const u32, *const *mut u64, u64) -> i32;
type IsCapturing = unsafe extern "C" fn(u64, *mut u32) -> i32;

/// `CU_POINTER_ATTRIBUTE_RANGE_START_ADDR` and `CU_POINTER_ATTRIBUTE_RANGE_SIZE`.
const RANGE: [u32; 2] = [11, 12];
/// Addresses that memory may have; other words are numbers, and the driver is not asked about them.
const ADDRESSES: std::ops::Range<u64> = 1 << 20..1 << 48;
const MAX_PARAMETERS: usize = 1 << 14;

/// What is known of a handle.
#[derive(Debug)]
struct Kernel {
    /// The function that tells its parameters.
    query: Function,
    /// Once asked.
    layout: Option<Layout>,
}

static KERNELS: Lock<BTreeMap<u64, Kernel>> = Lock::new(BTreeMap::new());

/// Notes the handle of a kernel, or records the arguments of a launch, after a call that succeeded.
#[inline]
pub(super) fn follow(
    genuine: &Genuine,
    ring: &Ring,
    function: Function,
    origin: Origin,
    seq: u64,
    args: [u64; 8],
    out: [u64; 3],
) {
    let query = match function {
        Function::cuModuleGetFunction | Function::cuKernelGetFunction => {
            Function::cuFuncGetParamInfo
        }
        Function::cuLibraryGetKernel => Function::cuKernelGetParamInfo,
        function if function.is_launch() => {
            return write_arguments(genuine, ring, origin, seq, &Launch::read(args));
        }
        _ => return,
    };
    KERNELS.lock().insert(out[0], Kernel { query, layout: None });
}

#[cold]
fn write_arguments(genuine: &Genuine, ring: &Ring, origin: Origin, seq: u64, launch: &Launch) {
    if !is_capturing(genuine, launch.stream, origin.per_thread) {
        let layout = || layout(genuine, launch.function);
        kernel_arguments::write(ring, origin, seq, launch, layout, |address| {
            range(genuine, address)
        });
    }
}

/// A captured launch is a plan, and its arguments may be others when it runs.
fn is_capturing(genuine: &Genuine, stream: u64, per_thread: bool) -> bool {
    let target = genuine.export(Function::cuStreamIsCapturing, per_thread);
    if target.is_null() {
        return false;
    }
    // SAFETY: the driver's function of this name has this prototype.
    let target: IsCapturing = unsafe { mem::transmute(target) };
    let mut status = 0;
    // SAFETY: a stream that the driver just took a launch on, and a live variable.
    let result = unsafe { target(stream, &mut status) };
    result != 0 || status != 0
}

fn layout(genuine: &Genuine, handle: u64) -> Layout {
    let query = match KERNELS.lock().get(&handle)? {
        Kernel { layout: Some(known), .. } => return known.clone(),
        Kernel { query, .. } => *query,
    };
    let layout = ask(genuine, query, handle);
    if let Some(kernel) = KERNELS.lock().get_mut(&handle) {
        kernel.layout = Some(layout.clone());
    }
    layout
}

/// `None` before CUDA 12.4.
fn ask(genuine: &Genuine, query: Function, handle: u64) -> Layout {
    let target = genuine.export(query, false);
    if target.is_null() {
        return None;
    }
    // SAFETY: the driver's functions of these names have this prototype.
    let target: ParameterInfo = unsafe { mem::transmute(target) };
    let mut found = Vec::new();
    while found.len() < MAX_PARAMETERS {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: a handle that the driver gave out as what `query` takes and just launched, and
        // live variables.
        if unsafe { target(handle, found.len(), &mut offset, &mut size) } != 0 {
            break;
        }
        found.push(Parameter {
            offset: u32::try_from(offset).ok()?,
            size: u32::try_from(size).ok()?,
        });
    }
    Some(found.into())
}

/// The allocation around an address. A driver answers 0 for what it does not know.
fn range(genuine: &Genuine, address: u64) -> Option<Range> {
    let target = genuine.export(Function::cuPointerGetAttributes, false);
    if target.is_null() || !ADDRESSES.contains(&address) {
        return None;
    }
    // SAFETY: the driver's function of this name has this prototype.
    let target: PointerAttributes = unsafe { mem::transmute(target) };
    let (mut base, mut size) = (0, 0);
    let data = [&raw mut base, &raw mut size];
    // SAFETY: two attributes, each with a live variable of its width; any address may be asked
    // about.
    let result = unsafe { target(RANGE.len() as u32, RANGE.as_ptr(), data.as_ptr(), address) };
    (result == 0 && size != 0).then_some((base, size))
}

/// Before `fork`: no other thread changes what is known. Held until `release_after_fork`.
pub(super) fn hold_for_fork() {
    mem::forget::<Guard<'_, _>>(KERNELS.lock());
}

/// # Safety
/// Follows `hold_for_fork` on the same thread, or on the thread that continues it in the child.
pub(super) unsafe fn release_after_fork() {
    // SAFETY: passed on to the caller.
    unsafe { KERNELS.release() };
}
