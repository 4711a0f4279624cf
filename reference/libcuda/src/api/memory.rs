//! Device and managed memory, and what pointers are.

use allocert_contract::{DevicePtr, StreamHandle};
use allocert_driver::{AttributeValue, CudaError, Result};

use super::text::{read, write};
use crate::c_api::{Call, Location, Out};

/// `CU_MEM_ADVISE_SET_PREFERRED_LOCATION`
const PREFERRED_LOCATION: u32 = 3;

pub(crate) fn cuMemGetInfo_v2(call: &mut Call, free: Out<usize>, total: Out<usize>) -> Result {
    let found = call.driver.memory_info(&call.caller);
    free.put_or_zero(found.map(|(bytes, _)| bytes as usize)).ok();
    total.put_or_zero(found.map(|(_, bytes)| bytes as usize))
}

#[inline]
pub(crate) fn cuMemAlloc_v2(call: &mut Call, dptr: Out<u64>, bytesize: usize) -> Result {
    let dptr = dptr.required_in_context(call)?;
    dptr.put_or_zero(call.driver.alloc(&call.caller, bytesize as u64).map(|address| address.0))
}

pub(crate) fn cuMemAllocPitch_v2(
    call: &mut Call,
    dptr: Out<u64>,
    pitch: Out<usize>,
    width: usize,
    height: usize,
    element_bytes: u32,
) -> Result {
    if dptr.required().and(pitch.required()).is_err() {
        dptr.put(0);
        pitch.put(0);
        call.driver.check_context(&call.caller)?;
        return Err(CudaError::INVALID_VALUE);
    }
    let found = call.driver.alloc_pitch(&call.caller, width as u64, height as u64, element_bytes);
    dptr.put_or_zero(found.map(|(address, _)| address.0)).ok();
    pitch.put_or_zero(found.map(|(_, bytes)| bytes as usize))
}

#[inline]
pub(crate) fn cuMemFree_v2(call: &mut Call, dptr: u64) -> Result {
    call.driver.free(&call.caller, DevicePtr(dptr))
}

pub(crate) fn cuMemGetAddressRange_v2(
    call: &mut Call,
    base: Out<u64>,
    size: Out<usize>,
    dptr: u64,
) -> Result {
    if base.required().is_err() && size.required().is_err() {
        return Ok(());
    }
    let found = call.driver.address_range(&call.caller, DevicePtr(dptr));
    base.put_or_zero(found.map(|(start, _)| start.0)).ok();
    size.put_or_zero(found.map(|(_, bytes)| bytes as usize))
}

pub(crate) fn cuMemAllocManaged(
    call: &mut Call,
    dptr: Out<u64>,
    bytesize: usize,
    flags: u32,
) -> Result {
    let dptr = dptr.required()?;
    dptr.put_or_zero(call.driver.alloc_managed(&call.caller, bytesize as u64, flags))
}

/// The device; `None` for `CU_DEVICE_CPU`.
fn unless_host(device: i32) -> Option<i32> {
    const HOST: i32 = -1;
    (device != HOST).then_some(device)
}

pub(crate) fn cuMemAdvise(
    call: &mut Call,
    dptr: u64,
    count: usize,
    advice: u32,
    device: i32,
) -> Result {
    // As measured, this version looks at the context first, and cuMemAdvise_v2 at its arguments.
    call.driver.check_context(&call.caller)?;
    let device = unless_host(device);
    // CU_MEM_ADVISE_SET_PREFERRED_LOCATION, _SET_ACCESSED_BY and _UNSET_ACCESSED_BY
    if let (3 | 5 | 6, 1.., 1.., Some(device)) = (advice, dptr, count, device) {
        call.driver.device_get(device)?;
    }
    call.driver.advise_managed(&call.caller, dptr, count as u64, advice, device)
}

pub(crate) fn cuMemAdvise_v2(
    call: &mut Call,
    dptr: u64,
    count: usize,
    advice: u32,
    location: Location,
) -> Result {
    // As measured, of a node of the host's memory only the advice is looked at, and
    // CU_MEM_ADVISE_SET_ACCESSED_BY and _UNSET_ACCESSED_BY take none.
    if matches!(location.kind, Location::HOST_NUMA | Location::HOST_NUMA_CURRENT) {
        let fits = matches!(advice, 1..=4) && (advice != PREFERRED_LOCATION || location.exists());
        return if fits { Ok(()) } else { Err(CudaError::INVALID_VALUE) };
    }
    call.driver.advise_managed(&call.caller, dptr, count as u64, advice, location.device()?)
}

pub(crate) fn cuMemPrefetchAsync(
    call: &mut Call,
    dptr: u64,
    count: usize,
    device: i32,
    stream: u64,
) -> Result {
    let (device, stream) = (unless_host(device), StreamHandle(stream));
    call.driver.prefetch_managed(&call.caller, dptr, count as u64, device, stream)
}

pub(crate) fn cuMemPrefetchAsync_v2(
    call: &mut Call,
    dptr: u64,
    count: usize,
    location: Location,
    flags: u32,
    stream: u64,
) -> Result {
    let (device, stream) = (location.device()?, StreamHandle(stream));
    if flags != 0 || !location.exists() {
        return Err(CudaError::INVALID_VALUE);
    }
    call.driver.prefetch_managed(&call.caller, dptr, count as u64, device, stream)
}

pub(crate) fn cuPointerGetAttribute(
    call: &mut Call,
    data: u64,
    attribute: u32,
    dptr: u64,
) -> Result {
    let (result, value) = call.driver.pointer_attribute(&call.caller, attribute, dptr);
    if let Some(value) = value {
        // SAFETY: cuPointerGetAttribute's caller promises room for this attribute's type.
        unsafe { write_attribute(data, value)? };
    }
    result
}

pub(crate) fn cuPointerGetAttributes(
    call: &mut Call,
    count: u32,
    attributes: u64,
    data: u64,
    dptr: u64,
) -> Result {
    call.driver.initialized()?;
    if count == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    for index in 0..u64::from(count) {
        // SAFETY: cuPointerGetAttributes's caller promises an array of `count` attributes.
        let attribute: u32 = unsafe { read(element(attributes, index, 4))? };
        // SAFETY: cuPointerGetAttributes's caller promises an array of `count` pointers.
        let into: u64 = unsafe { read(element(data, index, 8))? };
        let value = call.driver.pointer_attribute_of_many(&call.caller, attribute, dptr)?;
        if let Some(value) = value {
            // SAFETY: cuPointerGetAttributes's caller promises room for each attribute's type.
            unsafe { write_attribute(into, value)? };
        }
    }
    Ok(())
}

/// The address of an array's element; 0 if there is no array.
fn element(array: u64, index: u64, bytes: u64) -> u64 {
    if array == 0 { 0 } else { array + index * bytes }
}

/// `CUDA_POINTER_ATTRIBUTE_P2P_TOKENS`
#[repr(C)]
struct Tokens(u64, u32);

/// # Safety
/// `address` is 0 or has room for the value.
unsafe fn write_attribute(address: u64, value: AttributeValue) -> Result {
    match value {
        // SAFETY: 0, or room for this attribute's 4 bytes by the caller's promise.
        AttributeValue::Narrow(value) => unsafe { write(address, value) },
        // SAFETY: 0, or room for this attribute's 8 bytes by the caller's promise.
        AttributeValue::Wide(value) => unsafe { write(address, value) },
        // SAFETY: 0, or room for this attribute's two tokens by the caller's promise.
        AttributeValue::Tokens(peer, space) => unsafe { write(address, Tokens(peer, space)) },
    }
}

pub(crate) fn cuPointerSetAttribute(
    call: &mut Call,
    value: u64,
    attribute: u32,
    dptr: u64,
) -> Result {
    call.driver.initialized()?;
    // SAFETY: cuPointerSetAttribute's caller promises a value of the attribute's type, and an int
    // is the smallest.
    let value: u32 = unsafe { read(value)? };
    call.driver.set_pointer_attribute(&call.caller, attribute, dptr, value != 0)
}

/// Of the virtual memory functions only this one is here: cuda.core asks it for the size of a page.
pub(crate) fn cuMemGetAllocationGranularity(
    call: &mut Call,
    granularity: Out<usize>,
    properties: u64,
    option: u32,
) -> Result {
    const PAGE_BYTES: usize = 2 << 20;
    call.driver.initialized()?;
    // CU_MEM_ALLOC_GRANULARITY_MINIMUM, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED
    if properties == 0 || option > 1 {
        return Err(CudaError::INVALID_VALUE);
    }
    granularity.required()?.put(PAGE_BYTES);
    Ok(())
}
