//! Contexts.

use allocert_driver::{CudaError, Result};

use super::text::read;
use crate::c_api::{Call, Out};

pub(crate) fn cuCtxCreate_v2(call: &mut Call, ctx: Out<u64>, flags: u32, device: i32) -> Result {
    call.driver.device_get(device)?;
    let ctx = ctx.required()?;
    ctx.put(call.driver.context_create(&mut call.caller, flags, device)?);
    Ok(())
}

/// `CUctxCreateParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct CreateParameters {
    affinities: u64,
    affinity_count: i32,
    graphics: u64,
}

impl CreateParameters {
    /// Whether they ask for nothing that a context does not have without them.
    fn are_none(self) -> bool {
        self.affinities == 0 && self.affinity_count == 0 && self.graphics == 0
    }
}

/// `NOT_SUPPORTED` for an affinity and for a context that is shared with graphics.
pub(crate) fn cuCtxCreate_v4(
    call: &mut Call,
    ctx: Out<u64>,
    params: u64,
    flags: u32,
    device: i32,
) -> Result {
    // SAFETY: cuCtxCreate's caller promises null or CUctxCreateParams.
    if params == 0 || unsafe { read::<CreateParameters>(params)? }.are_none() {
        cuCtxCreate_v2(call, ctx, flags, device)
    } else {
        Err(CudaError::NOT_SUPPORTED)
    }
}

pub(crate) fn cuCtxDestroy_v2(call: &mut Call, ctx: u64) -> Result {
    call.driver.context_destroy(&mut call.caller, ctx)
}

pub(crate) fn cuCtxPushCurrent_v2(call: &mut Call, ctx: u64) -> Result {
    call.driver.context_push(&mut call.caller, ctx)
}

pub(crate) fn cuCtxPopCurrent_v2(call: &mut Call, ctx: Out<u64>) -> Result {
    ctx.put(call.driver.context_pop(&mut call.caller)?);
    Ok(())
}

pub(crate) fn cuCtxSetCurrent(call: &mut Call, ctx: u64) -> Result {
    call.driver.context_set(&mut call.caller, ctx)
}

pub(crate) fn cuCtxGetCurrent(call: &mut Call, ctx: Out<u64>) -> Result {
    let current = call.driver.context_current(&call.caller)?;
    ctx.required()?.put(current);
    Ok(())
}

pub(crate) fn cuCtxGetDevice(call: &mut Call, device: Out<i32>) -> Result {
    cuCtxGetDevice_v2(call, device, 0)
}

pub(crate) fn cuCtxGetDevice_v2(call: &mut Call, device: Out<i32>, ctx: u64) -> Result {
    let device = device.required()?;
    device.put(call.driver.context_device(&call.caller, ctx)?);
    Ok(())
}

pub(crate) fn cuCtxSynchronize(call: &mut Call) -> Result {
    call.driver.context_synchronize(&call.caller, 0)
}

pub(crate) fn cuCtxSynchronize_v2(call: &mut Call, ctx: u64) -> Result {
    call.driver.context_synchronize(&call.caller, ctx)
}

pub(crate) fn cuCtxGetFlags(call: &mut Call, flags: Out<u32>) -> Result {
    let flags = flags.required()?;
    flags.put(call.driver.context_flags(&call.caller)?);
    Ok(())
}

pub(crate) fn cuCtxGetId(call: &mut Call, ctx: u64, id: Out<u64>) -> Result {
    let id = id.required()?;
    id.put(call.driver.context_id(&call.caller, ctx)?);
    Ok(())
}

pub(crate) fn cuCtxGetApiVersion(call: &mut Call, ctx: u64, version: Out<u32>) -> Result {
    let found = call.driver.context_api_version(&call.caller, ctx)?;
    version.required()?.put(found);
    Ok(())
}

pub(crate) fn cuCtxGetStreamPriorityRange(
    call: &mut Call,
    least: Out<i32>,
    greatest: Out<i32>,
) -> Result {
    let (its_least, its_greatest) = call.driver.stream_priorities(&call.caller)?;
    least.put(its_least);
    greatest.put(its_greatest);
    Ok(())
}

pub(crate) fn cuCtxGetLimit(call: &mut Call, value: Out<usize>, limit: u32) -> Result {
    call.driver.check_context(&call.caller)?;
    let value = value.required()?;
    value.put(call.driver.context_limit(&call.caller, limit)? as usize);
    Ok(())
}

pub(crate) fn cuCtxSetLimit(call: &mut Call, limit: u32, value: usize) -> Result {
    call.driver.context_set_limit(&call.caller, limit, value as u64)
}

pub(crate) fn cuCtxGetCacheConfig(call: &mut Call, config: Out<u32>) -> Result {
    let found = call.driver.context_cache_config(&call.caller)?;
    config.required()?.put(found);
    Ok(())
}

pub(crate) fn cuCtxSetCacheConfig(call: &mut Call, config: u32) -> Result {
    call.driver.context_set_cache_config(&call.caller, config)
}

pub(crate) fn cuCtxEnablePeerAccess(call: &mut Call, peer: u64, flags: u32) -> Result {
    call.driver.enable_peer(&call.caller, peer, flags)
}

pub(crate) fn cuCtxDisablePeerAccess(call: &mut Call, peer: u64) -> Result {
    call.driver.disable_peer(&call.caller, peer)
}
