//! Streams.

use allocert_contract::StreamHandle;
use allocert_driver::{CudaError, Result};

use crate::{
    c_api::{Call, Out},
    host_functions,
};

/// The handle of no stream.
const NO_STREAM: u64 = u64::MAX;

pub(crate) fn cuStreamCreate(call: &mut Call, stream: Out<u64>, flags: u32) -> Result {
    cuStreamCreateWithPriority(call, stream, flags, 0)
}

pub(crate) fn cuStreamCreateWithPriority(
    call: &mut Call,
    stream: Out<u64>,
    flags: u32,
    priority: i32,
) -> Result {
    let stream = stream.required()?;
    let created = call.driver.stream_create(&call.caller, flags, priority);
    match created {
        Ok(created) => stream.put(created.0),
        Err(CudaError::INVALID_VALUE) => {}
        // As measured, what is left then is neither null nor a stream.
        Err(_) => stream.put(NO_STREAM),
    }
    created.map(|_| ())
}

pub(crate) fn cuStreamDestroy_v2(call: &mut Call, stream: u64) -> Result {
    if stream == 0 {
        return Err(CudaError::INVALID_HANDLE);
    }
    call.driver.stream_destroy(&call.caller, StreamHandle(stream))
}

pub(crate) fn cuStreamSynchronize(call: &mut Call, stream: u64) -> Result {
    call.driver.stream_synchronize(&call.caller, StreamHandle(stream))
}

pub(crate) fn cuStreamQuery(call: &mut Call, stream: u64) -> Result {
    call.driver.stream_query(&call.caller, StreamHandle(stream))
}

pub(crate) fn cuStreamWaitEvent(call: &mut Call, stream: u64, event: u64, flags: u32) -> Result {
    call.driver.stream_wait_event(&call.caller, StreamHandle(stream), event, flags)
}

pub(crate) fn cuStreamGetFlags(call: &mut Call, stream: u64, flags: Out<u32>) -> Result {
    let flags = flags.required()?;
    flags.put(call.driver.stream_flags(&call.caller, StreamHandle(stream))?);
    Ok(())
}

pub(crate) fn cuStreamGetPriority(call: &mut Call, stream: u64, priority: Out<i32>) -> Result {
    let priority = priority.required()?;
    priority.put(call.driver.stream_priority(&call.caller, StreamHandle(stream))?);
    Ok(())
}

pub(crate) fn cuStreamGetCtx(call: &mut Call, stream: u64, ctx: Out<u64>) -> Result {
    let ctx = ctx.required()?;
    ctx.put(call.driver.stream_context(&call.caller, StreamHandle(stream))?);
    Ok(())
}

pub(crate) fn cuStreamGetId(call: &mut Call, stream: u64, id: Out<u64>) -> Result {
    let id = id.required()?;
    id.put(call.driver.stream_id(&call.caller, StreamHandle(stream))?);
    Ok(())
}

pub(crate) fn cuStreamGetDevice(call: &mut Call, stream: u64, device: Out<i32>) -> Result {
    let device = device.required()?;
    device.put(call.driver.stream_device(&call.caller, StreamHandle(stream))?);
    Ok(())
}

/// Nothing is ever captured: graphs are not supported.
pub(crate) fn cuStreamIsCapturing(call: &mut Call, stream: u64, status: Out<u32>) -> Result {
    const CAPTURE_STATUS_NONE: u32 = 0;
    let status = status.required()?;
    call.driver.check_stream(&call.caller, StreamHandle(stream))?;
    status.put(CAPTURE_STATUS_NONE);
    Ok(())
}

pub(crate) fn cuStreamAddCallback(
    call: &mut Call,
    stream: u64,
    callback: u64,
    user_data: u64,
    flags: u32,
) -> Result {
    if flags != 0 || callback == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    call.driver.stream_call(&call.caller, StreamHandle(stream), callback, user_data, true)?;
    host_functions::watch();
    Ok(())
}

pub(crate) fn cuLaunchHostFunc(
    call: &mut Call,
    stream: u64,
    function: u64,
    user_data: u64,
) -> Result {
    if function == 0 {
        return Err(CudaError::INVALID_VALUE);
    }
    call.driver.stream_call(&call.caller, StreamHandle(stream), function, user_data, false)?;
    host_functions::watch();
    Ok(())
}

pub(crate) fn cuStreamAttachMemAsync(
    call: &mut Call,
    stream: u64,
    dptr: u64,
    length: usize,
    flags: u32,
) -> Result {
    let stream = StreamHandle(stream);
    call.driver.attach_managed(&call.caller, dptr, length as u64, flags, stream)
}
