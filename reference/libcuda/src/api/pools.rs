//! Stream-ordered memory and its pools.

use allocert_contract::{DevicePtr, StreamHandle};
use allocert_driver::{CudaError, PoolAttribute, Result};

use super::text::{read, write};
use crate::c_api::{Call, Location, Out};

/// `CU_MEM_ALLOCATION_TYPE_PINNED`
const PINNED: u32 = 1;
/// `CU_MEM_ALLOCATION_TYPE_MANAGED`, whose pools are not part of the software driver.
const MANAGED: u32 = 2;
/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`
const FILE_DESCRIPTOR: u32 = 1;
/// `CU_MEM_HANDLE_TYPE_FABRIC`
const FABRIC: u32 = 8;

pub(crate) fn cuMemAllocAsync(
    call: &mut Call,
    dptr: Out<u64>,
    bytesize: usize,
    stream: u64,
) -> Result {
    alloc(call, dptr, bytesize, None, stream)
}

pub(crate) fn cuMemAllocFromPoolAsync(
    call: &mut Call,
    dptr: Out<u64>,
    bytesize: usize,
    pool: u64,
    stream: u64,
) -> Result {
    alloc(call, dptr, bytesize, Some(pool), stream)
}

fn alloc(
    call: &mut Call,
    dptr: Out<u64>,
    bytesize: usize,
    pool: Option<u64>,
    stream: u64,
) -> Result {
    let stream = StreamHandle(stream);
    if dptr.required().is_err() {
        call.driver.check_stream(&call.caller, stream)?;
    }
    let dptr = dptr.required()?;
    let found = call.driver.alloc_async(&call.caller, bytesize as u64, pool, stream);
    dptr.put_or_zero(found.map(|address| address.0))
}

pub(crate) fn cuMemFreeAsync(call: &mut Call, dptr: u64, stream: u64) -> Result {
    call.driver.free_async(&call.caller, DevicePtr(dptr), StreamHandle(stream))
}

/// `CUmemPoolProps`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct PoolProperties {
    allocation_type: u32,
    handle_types: u32,
    location: Location,
    security_attributes: u64,
    most_bytes: u64,
    usage: u16,
    reserved: [u8; 54],
}

/// Pools of device memory only. One whose memory could be exported is made, but no function
/// exports it.
pub(crate) fn cuMemPoolCreate(call: &mut Call, pool: Out<u64>, properties: u64) -> Result {
    let pool = pool.required_after_init(call)?;
    call.driver.initialized()?;
    // SAFETY: cuMemPoolCreate's caller promises a CUmemPoolProps.
    let properties: PoolProperties = unsafe { read(properties)? };
    if properties.reserved != [0; 54] {
        return Err(CudaError::INVALID_VALUE);
    }
    let PoolProperties { allocation_type, handle_types, location, most_bytes, .. } = properties;
    let is_allowed = match (allocation_type, location.kind) {
        (PINNED, Location::HOST) => handle_types == 0,
        (PINNED, _) => matches!(handle_types, 0 | FILE_DESCRIPTOR | FABRIC),
        _ => handle_types == 0 && most_bytes == 0,
    };
    if !is_allowed {
        return Err(CudaError::INVALID_VALUE);
    }
    let device = device_of_pools(call, allocation_type, location)?;
    let made = call.driver.pool_create(device, handle_types.into(), most_bytes);
    pool.put(with_invalid_value(made)?);
    Ok(())
}

pub(crate) fn cuMemPoolDestroy(call: &mut Call, pool: u64) -> Result {
    call.driver.pool_destroy(pool)
}

pub(crate) fn cuMemPoolTrimTo(call: &mut Call, pool: u64, keep_bytes: usize) -> Result {
    call.driver.pool_trim(pool, keep_bytes as u64)
}

pub(crate) fn cuMemPoolGetAttribute(
    call: &mut Call,
    pool: u64,
    attribute: u32,
    value: u64,
) -> Result {
    call.driver.initialized()?;
    let attribute = PoolAttribute::from_number(attribute)?;
    let found = call.driver.pool_attribute(pool, attribute)?;
    match attribute {
        // SAFETY: cuMemPoolGetAttribute's caller promises an int for a policy.
        PoolAttribute::Policy(_) => unsafe { write(value, found as i32) },
        // SAFETY: cuMemPoolGetAttribute's caller promises 64 bits for all others.
        _ => unsafe { write(value, found) },
    }
}

pub(crate) fn cuMemPoolSetAttribute(
    call: &mut Call,
    pool: u64,
    attribute: u32,
    value: u64,
) -> Result {
    call.driver.initialized()?;
    let attribute = PoolAttribute::from_number(attribute)?;
    let wanted = match attribute {
        // SAFETY: cuMemPoolSetAttribute's caller promises an int for a policy.
        PoolAttribute::Policy(_) => unsafe { read::<u32>(value)? }.into(),
        // SAFETY: cuMemPoolSetAttribute's caller promises 64 bits for all others.
        _ => unsafe { read::<u64>(value)? },
    };
    call.driver.pool_set_attribute(pool, attribute, wanted)
}

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Access {
    location: Location,
    flags: u32,
}

pub(crate) fn cuMemPoolSetAccess(call: &mut Call, pool: u64, map: u64, count: usize) -> Result {
    call.driver.initialized()?;
    if map == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let description = |index: usize| {
        // SAFETY: cuMemPoolSetAccess's caller promises `count` CUmemAccessDesc.
        let access: Access = unsafe { read(map + (index * size_of::<Access>()) as u64)? };
        let is_device = access.location.kind == Location::DEVICE;
        Ok((is_device.then_some(access.location.id), access.flags))
    };
    let wanted = (0..count).map(description).collect::<Result<Vec<_>>>()?;
    call.driver.pool_set_access(pool, &wanted)
}

pub(crate) fn cuMemPoolGetAccess(
    call: &mut Call,
    flags: Out<u32>,
    pool: u64,
    location: u64,
) -> Result {
    call.driver.initialized()?;
    // SAFETY: cuMemPoolGetAccess's caller promises a CUmemLocation.
    let at: Location = unsafe { read(location)? };
    let device = match at.kind {
        Location::HOST | Location::HOST_NUMA => None,
        _ => Some(device_at(call, location, PINNED)?),
    };
    let access = with_invalid_value(call.driver.pool_access(pool, device))?;
    flags.required()?.put(access.number());
    Ok(())
}

pub(crate) fn cuMemGetDefaultMemPool(
    call: &mut Call,
    pool: Out<u64>,
    location: u64,
    kind: u32,
) -> Result {
    let device = device_at(call, location, kind)?;
    let found = with_invalid_value(call.driver.default_pool(device))?;
    pool.required()?.put(found);
    Ok(())
}

pub(crate) fn cuMemGetMemPool(call: &mut Call, pool: Out<u64>, location: u64, kind: u32) -> Result {
    let device = device_at(call, location, kind)?;
    let found = with_invalid_value(call.driver.current_pool(device))?;
    pool.required()?.put(found);
    Ok(())
}

pub(crate) fn cuMemSetMemPool(call: &mut Call, location: u64, kind: u32, pool: u64) -> Result {
    let device = device_at(call, location, kind)?;
    with_invalid_value(call.driver.set_current_pool(device, pool))
}

/// The result of a function for which a device that does not exist is an invalid value.
pub(super) fn with_invalid_value<T>(result: Result<T>) -> Result<T> {
    result.map_err(|error| match error {
        CudaError::INVALID_DEVICE => CudaError::INVALID_VALUE,
        error => error,
    })
}

/// The device of a `CUmemLocation` of the caller, for memory of this `CUmemAllocationType`.
fn device_at(call: &mut Call, location: u64, kind: u32) -> Result<i32> {
    call.driver.initialized()?;
    // SAFETY: the caller of a function with a location promises a CUmemLocation.
    let location: Location = unsafe { read(location)? };
    if location.kind > Location::HOST_NUMA {
        return Err(CudaError::NOT_SUPPORTED);
    }
    device_of_pools(call, kind, location)
}

/// The device of the pools of a kind of memory at a place. `NOT_SUPPORTED` for pools of the host's
/// and of managed memory, which a GPU has and the software driver has not; `INVALID_VALUE` for
/// places where no such pools are, as measured.
fn device_of_pools(call: &Call, kind: u32, at: Location) -> Result<i32> {
    let is_there = match (kind, at.kind) {
        (PINNED, Location::DEVICE) => return Ok(at.id),
        (PINNED, Location::HOST) => true,
        (PINNED | MANAGED, Location::HOST_NUMA) => at.exists(),
        (MANAGED, Location::DEVICE) => call.driver.has_device(at.id),
        (MANAGED, _) => true,
        _ => false,
    };
    Err(if is_there { CudaError::NOT_SUPPORTED } else { CudaError::INVALID_VALUE })
}
