//! Initialization, version, error names, symbol look-up.

use allocert_driver::{CudaError, Result};

use super::text::text;
use crate::{
    c_api::{Call, Out},
    symbol_lookup::{self, Found},
};

pub(crate) fn cuInit(call: &mut Call, flags: u32) -> Result {
    if call.refused { Err(CudaError::INVALID_VALUE) } else { call.driver.init(flags) }
}

pub(crate) fn cuDriverGetVersion(call: &mut Call, version: Out<i32>) -> Result {
    version.required()?.put(call.driver.settings().driver_version);
    Ok(())
}

pub(crate) fn cuGetErrorName(call: &mut Call, error: u32, name: Out<u64>) -> Result {
    describe(call, error, name, c"CUDA_SUCCESS", CudaError::name)
}

pub(crate) fn cuGetErrorString(call: &mut Call, error: u32, description: Out<u64>) -> Result {
    describe(call, error, description, c"no error", CudaError::description)
}

fn describe(
    call: &Call,
    error: u32,
    out: Out<u64>,
    success: &'static std::ffi::CStr,
    of: impl Fn(CudaError) -> &'static std::ffi::CStr,
) -> Result {
    let out = out.required()?;
    let driver_version = call.driver.settings().driver_version;
    let found = CudaError::from_code(error as i32);
    let found = found.filter(|error| error.is_known_to(driver_version));
    let known = if error == 0 { Some(success) } else { found.map(of) };
    out.put(known.map_or(0, |text| text.as_ptr().expose_provenance() as u64));
    known.map(|_| ()).ok_or(CudaError::INVALID_VALUE)
}

pub(crate) fn cuGetProcAddress(
    call: &mut Call,
    symbol: u64,
    function: Out<u64>,
    version: i32,
    flags: u64,
) -> Result {
    let Found::Symbol(entry) = look_up(call, symbol, version, flags)? else {
        return Err(CudaError::NOT_FOUND);
    };
    function.required()?.put(entry.address.expose_provenance() as u64);
    Ok(())
}

pub(crate) fn cuGetProcAddress_v2(
    call: &mut Call,
    symbol: u64,
    function: Out<u64>,
    version: i32,
    flags: u64,
    status: Out<u32>,
) -> Result {
    let (address, found) = match look_up(call, symbol, version, flags)? {
        Found::Symbol(entry) => (entry.address.expose_provenance() as u64, 0),
        Found::Unknown => (0, 1),
        Found::TooNew => (0, 2),
    };
    function.required()?.put(address);
    status.put(found);
    Ok(())
}

/// `CU_GET_PROC_ADDRESS_LEGACY_STREAM` and `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`.
const LEGACY: u64 = 1;
const PER_THREAD: u64 = 2;

fn look_up(call: &Call, symbol: u64, version: i32, flags: u64) -> Result<Found> {
    // SAFETY: cuGetProcAddress's caller promises a string.
    let name = unsafe { text(symbol)? };
    let driver_version = call.driver.settings().driver_version;
    if flags & !(LEGACY | PER_THREAD) != 0 || version > driver_version {
        return Err(CudaError::INVALID_VALUE);
    }
    // As measured, no version is older than one below zero.
    let version = if version < 0 { driver_version } else { version };
    Ok(symbol_lookup::find(&name, version, driver_version, flags & PER_THREAD != 0))
}
