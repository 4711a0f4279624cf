//! Events.

use allocert_contract::StreamHandle;
use allocert_driver::{CudaError, Result};

use crate::c_api::{Call, Out};

pub(crate) fn cuEventCreate(call: &mut Call, event: Out<u64>, flags: u32) -> Result {
    let created = call.driver.event_create(&call.caller, flags)?;
    event.required()?.put(created);
    Ok(())
}

pub(crate) fn cuEventRecord(call: &mut Call, event: u64, stream: u64) -> Result {
    call.driver.event_record(&call.caller, event, StreamHandle(stream))
}

pub(crate) fn cuEventRecordWithFlags(
    call: &mut Call,
    event: u64,
    stream: u64,
    flags: u32,
) -> Result {
    call.driver.event_record_with_flags(&call.caller, event, StreamHandle(stream), flags)
}

pub(crate) fn cuEventQuery(call: &mut Call, event: u64) -> Result {
    call.driver.event_query(event)
}

pub(crate) fn cuEventSynchronize(call: &mut Call, event: u64) -> Result {
    call.driver.event_synchronize(event)
}

pub(crate) fn cuEventDestroy_v2(call: &mut Call, event: u64) -> Result {
    call.driver.event_destroy(event)
}

pub(crate) fn cuEventElapsedTime(
    call: &mut Call,
    milliseconds: Out<f32>,
    start: u64,
    end: u64,
) -> Result {
    let elapsed = call.driver.event_elapsed(start, end)?;
    // As measured, this is what it answers if there is no place for it.
    milliseconds.required().map_err(|_| CudaError::INVALID_HANDLE)?.put(elapsed);
    Ok(())
}

pub(crate) fn cuEventElapsedTime_v2(
    call: &mut Call,
    milliseconds: Out<f32>,
    start: u64,
    end: u64,
) -> Result {
    cuEventElapsedTime(call, milliseconds, start, end)
}
