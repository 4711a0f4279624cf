//! Devices and their primary contexts.

use allocert_driver::{CudaError, DEVICE_NAME, Result};

use super::{pools::with_invalid_value, text::write_text};
use crate::c_api::{Call, Out, Uuid};

pub(crate) fn cuDeviceGet(call: &mut Call, device: Out<i32>, ordinal: i32) -> Result {
    let device = device.required_after_init(call)?;
    device.put(call.driver.device_get(ordinal)?);
    Ok(())
}

pub(crate) fn cuDeviceGetCount(call: &mut Call, count: Out<i32>) -> Result {
    let found = call.driver.device_count()?;
    count.required()?.put(found);
    Ok(())
}

pub(crate) fn cuDeviceGetName(call: &mut Call, name: u64, len: i32, device: i32) -> Result {
    call.driver.initialized()?;
    if name == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    call.driver.device_get(device)?;
    // SAFETY: cuDeviceGetName's caller promises `len` writable bytes.
    unsafe { write_text(name, len, DEVICE_NAME) }
}

pub(crate) fn cuDeviceGetUuid(call: &mut Call, uuid: Out<Uuid>, device: i32) -> Result {
    let uuid = uuid.required_after_init(call)?;
    uuid.put(Uuid(call.driver.device_uuid(device)?));
    Ok(())
}

pub(crate) fn cuDeviceGetUuid_v2(call: &mut Call, uuid: Out<Uuid>, device: i32) -> Result {
    cuDeviceGetUuid(call, uuid, device)
}

pub(crate) fn cuDeviceTotalMem_v2(call: &mut Call, bytes: Out<usize>, device: i32) -> Result {
    let found = call.driver.device_total(device);
    bytes.required_after_init(call)?.put_or_zero(found.map(|total| total as usize))
}

pub(crate) fn cuDeviceGetAttribute(
    call: &mut Call,
    value: Out<i32>,
    attribute: u32,
    device: i32,
) -> Result {
    let value = value.required()?;
    value.put(call.driver.device_attribute(attribute, device)?);
    Ok(())
}

const CAPABILITY_MAJOR: u32 = 75;
const CAPABILITY_MINOR: u32 = 76;

pub(crate) fn cuDeviceComputeCapability(
    call: &mut Call,
    major: Out<i32>,
    minor: Out<i32>,
    device: i32,
) -> Result {
    let major = major.required_after_init(call)?;
    minor.required_after_init(call)?;
    cuDeviceGetAttribute(call, major, CAPABILITY_MAJOR, device)?;
    cuDeviceGetAttribute(call, minor, CAPABILITY_MINOR, device)
}

pub(crate) fn cuDeviceCanAccessPeer(
    call: &mut Call,
    can_access_peer: Out<i32>,
    device: i32,
    peer: i32,
) -> Result {
    let can_access_peer = can_access_peer.required_after_init(call)?;
    can_access_peer.put(call.driver.can_access_peer(device, peer)?.into());
    Ok(())
}

pub(crate) fn cuDeviceGetPCIBusId(
    call: &mut Call,
    pci_bus_id: u64,
    len: i32,
    device: i32,
) -> Result {
    call.driver.initialized()?;
    if pci_bus_id == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    let text = call.driver.device_bus_id(device)?;
    // As measured, what has no room for the whole id gets its beginning, and an error.
    let whole = text.len() as i32 + 1;
    let fits = len >= whole;
    // A negative length counts as a large one, as in `write_text`.
    let capacity = if fits { whole } else { (len as u32).min(whole as u32 - 1) as i32 };
    // SAFETY: cuDeviceGetPCIBusId's caller promises `len` writable bytes, and enough of them if the
    // length is negative.
    unsafe { write_text(pci_bus_id, capacity, &text)? };
    if fits { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
}

pub(crate) fn cuDeviceGetDefaultMemPool(call: &mut Call, pool: Out<u64>, device: i32) -> Result {
    let found = call.driver.default_pool(device)?;
    pool.required()?.put(found);
    Ok(())
}

pub(crate) fn cuDeviceGetMemPool(call: &mut Call, pool: Out<u64>, device: i32) -> Result {
    let found = with_invalid_value(call.driver.current_pool(device))?;
    pool.required()?.put(found);
    Ok(())
}

pub(crate) fn cuDeviceSetMemPool(call: &mut Call, device: i32, pool: u64) -> Result {
    with_invalid_value(call.driver.set_current_pool(device, pool))
}

pub(crate) fn cuDevicePrimaryCtxRetain(call: &mut Call, ctx: Out<u64>, device: i32) -> Result {
    call.driver.device_get(device)?;
    let ctx = ctx.required()?;
    let (result, handle) = call.driver.primary_retain(device);
    if handle != 0 {
        ctx.put(handle);
    }
    result
}

pub(crate) fn cuDevicePrimaryCtxRelease(call: &mut Call, device: i32) -> Result {
    call.driver.primary_release(device)
}

pub(crate) fn cuDevicePrimaryCtxRelease_v2(call: &mut Call, device: i32) -> Result {
    call.driver.primary_release(device)
}

pub(crate) fn cuDevicePrimaryCtxReset(call: &mut Call, device: i32) -> Result {
    call.driver.primary_reset(device)
}

pub(crate) fn cuDevicePrimaryCtxReset_v2(call: &mut Call, device: i32) -> Result {
    call.driver.primary_reset(device)
}

pub(crate) fn cuDevicePrimaryCtxGetState(
    call: &mut Call,
    device: i32,
    flags: Out<u32>,
    active: Out<i32>,
) -> Result {
    let (flags, active) = (flags.required()?, active.required()?);
    let (its_flags, is_active) = call.driver.primary_state(device)?;
    flags.put(its_flags);
    active.put(is_active.into());
    Ok(())
}

pub(crate) fn cuDevicePrimaryCtxSetFlags(call: &mut Call, device: i32, flags: u32) -> Result {
    call.driver.primary_set_flags(device, flags)
}

pub(crate) fn cuDevicePrimaryCtxSetFlags_v2(call: &mut Call, device: i32, flags: u32) -> Result {
    call.driver.primary_set_flags(device, flags)
}
