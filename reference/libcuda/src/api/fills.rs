//! Fills.

use allocert_contract::StreamHandle;
use allocert_driver::{Fill, Plane, Result};

use crate::c_api::Call;

/// A fill of one row.
fn row(address: u64, value: u32, element_bytes: u64, count: usize) -> Fill {
    Fill { to: Plane::row(address), value, element_bytes, count: count as u64, rows: 1 }
}

/// A fill of rows.
fn rows(
    address: u64,
    pitch: usize,
    value: u32,
    element_bytes: u64,
    (width, height): (usize, usize),
) -> Fill {
    let to = Plane { pitch: pitch as u64, ..Plane::row(address) };
    Fill { to, value, element_bytes, count: width as u64, rows: height as u64 }
}

pub(crate) fn cuMemsetD8_v2(call: &mut Call, address: u64, value: u8, count: usize) -> Result {
    call.driver.memset(&call.caller, row(address, value.into(), 1, count))
}

pub(crate) fn cuMemsetD16_v2(call: &mut Call, address: u64, value: u16, count: usize) -> Result {
    call.driver.memset(&call.caller, row(address, value.into(), 2, count))
}

pub(crate) fn cuMemsetD32_v2(call: &mut Call, address: u64, value: u32, count: usize) -> Result {
    call.driver.memset(&call.caller, row(address, value, 4, count))
}

pub(crate) fn cuMemsetD8Async(
    call: &mut Call,
    address: u64,
    value: u8,
    count: usize,
    stream: u64,
) -> Result {
    let fill = row(address, value.into(), 1, count);
    call.driver.memset_async(&call.caller, fill, StreamHandle(stream))
}

pub(crate) fn cuMemsetD16Async(
    call: &mut Call,
    address: u64,
    value: u16,
    count: usize,
    stream: u64,
) -> Result {
    let fill = row(address, value.into(), 2, count);
    call.driver.memset_async(&call.caller, fill, StreamHandle(stream))
}

pub(crate) fn cuMemsetD32Async(
    call: &mut Call,
    address: u64,
    value: u32,
    count: usize,
    stream: u64,
) -> Result {
    let fill = row(address, value, 4, count);
    call.driver.memset_async(&call.caller, fill, StreamHandle(stream))
}

pub(crate) fn cuMemsetD2D8_v2(
    call: &mut Call,
    address: u64,
    pitch: usize,
    value: u8,
    width: usize,
    height: usize,
) -> Result {
    call.driver.memset(&call.caller, rows(address, pitch, value.into(), 1, (width, height)))
}

pub(crate) fn cuMemsetD2D16_v2(
    call: &mut Call,
    address: u64,
    pitch: usize,
    value: u16,
    width: usize,
    height: usize,
) -> Result {
    call.driver.memset(&call.caller, rows(address, pitch, value.into(), 2, (width, height)))
}

pub(crate) fn cuMemsetD2D32_v2(
    call: &mut Call,
    address: u64,
    pitch: usize,
    value: u32,
    width: usize,
    height: usize,
) -> Result {
    call.driver.memset(&call.caller, rows(address, pitch, value, 4, (width, height)))
}

pub(crate) fn cuMemsetD2D8Async(
    call: &mut Call,
    address: u64,
    pitch: usize,
    value: u8,
    width: usize,
    height: usize,
    stream: u64,
) -> Result {
    let fill = rows(address, pitch, value.into(), 1, (width, height));
    call.driver.memset_async(&call.caller, fill, StreamHandle(stream))
}

pub(crate) fn cuMemsetD2D16Async(
    call: &mut Call,
    address: u64,
    pitch: usize,
    value: u16,
    width: usize,
    height: usize,
    stream: u64,
) -> Result {
    let fill = rows(address, pitch, value.into(), 2, (width, height));
    call.driver.memset_async(&call.caller, fill, StreamHandle(stream))
}

pub(crate) fn cuMemsetD2D32Async(
    call: &mut Call,
    address: u64,
    pitch: usize,
    value: u32,
    width: usize,
    height: usize,
    stream: u64,
) -> Result {
    let fill = rows(address, pitch, value, 4, (width, height));
    call.driver.memset_async(&call.caller, fill, StreamHandle(stream))
}
