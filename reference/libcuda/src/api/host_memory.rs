//! Page-locked host memory.

use allocert_driver::Result;

use crate::c_api::{Call, Out};

pub(crate) fn cuMemAllocHost_v2(call: &mut Call, host: Out<u64>, bytesize: usize) -> Result {
    cuMemHostAlloc(call, host, bytesize, 0)
}

pub(crate) fn cuMemHostAlloc(
    call: &mut Call,
    host: Out<u64>,
    bytesize: usize,
    flags: u32,
) -> Result {
    let host = host.required_in_context(call)?;
    host.put_or_zero(call.driver.host_alloc(&call.caller, bytesize as u64, flags))
}

pub(crate) fn cuMemFreeHost(call: &mut Call, host: u64) -> Result {
    call.driver.host_free(&call.caller, host)
}

pub(crate) fn cuMemHostRegister_v2(
    call: &mut Call,
    host: u64,
    bytesize: usize,
    flags: u32,
) -> Result {
    call.driver.host_register(&call.caller, host, bytesize as u64, flags)
}

pub(crate) fn cuMemHostUnregister(call: &mut Call, host: u64) -> Result {
    call.driver.host_unregister(&call.caller, host)
}

pub(crate) fn cuMemHostGetDevicePointer_v2(
    call: &mut Call,
    dptr: Out<u64>,
    host: u64,
    flags: u32,
) -> Result {
    let dptr = dptr.required_in_context(call)?;
    dptr.put_or_zero(call.driver.host_device_pointer(&call.caller, host, flags))
}

pub(crate) fn cuMemHostGetFlags(call: &mut Call, flags: Out<u32>, host: u64) -> Result {
    let flags = flags.required()?;
    flags.put(call.driver.host_flags(&call.caller, host)?);
    Ok(())
}
