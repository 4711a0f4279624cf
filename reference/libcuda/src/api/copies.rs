//! Copies and fills.

use allocert_contract::{
    StreamHandle,
    trace::cuda::{RowCopy, Rows},
};
use allocert_driver::{CudaError, Fill, Plane, Result};

use super::text::read;
use crate::c_api::Call;

pub(crate) fn cuMemcpy(call: &mut Call, to: u64, from: u64, bytes: usize) -> Result {
    call.driver.copy(&call.caller, Plane::row(to), Plane::row(from), bytes as u64, 1)
}

pub(crate) fn cuMemcpyHtoD_v2(call: &mut Call, to: u64, from: u64, bytes: usize) -> Result {
    call.driver.known(&call.caller, to, bytes as u64)?;
    cuMemcpy(call, to, from, bytes)
}

pub(crate) fn cuMemcpyDtoH_v2(call: &mut Call, to: u64, from: u64, bytes: usize) -> Result {
    call.driver.known(&call.caller, from, bytes as u64)?;
    cuMemcpy(call, to, from, bytes)
}

pub(crate) fn cuMemcpyDtoD_v2(call: &mut Call, to: u64, from: u64, bytes: usize) -> Result {
    call.driver.known(&call.caller, to, bytes as u64)?;
    call.driver.known(&call.caller, from, bytes as u64)?;
    cuMemcpy(call, to, from, bytes)
}

pub(crate) fn cuMemcpyPeer(
    call: &mut Call,
    to: u64,
    _: u64,
    from: u64,
    _: u64,
    bytes: usize,
) -> Result {
    cuMemcpyDtoD_v2(call, to, from, bytes)
}

pub(crate) fn cuMemcpyAsync(
    call: &mut Call,
    to: u64,
    from: u64,
    bytes: usize,
    stream: u64,
) -> Result {
    call.driver.copy_async(
        &call.caller,
        Plane::row(to),
        Plane::row(from),
        bytes as u64,
        1,
        StreamHandle(stream),
    )
}

pub(crate) fn cuMemcpyHtoDAsync_v2(
    call: &mut Call,
    to: u64,
    from: u64,
    bytes: usize,
    stream: u64,
) -> Result {
    call.driver.known(&call.caller, to, bytes as u64)?;
    cuMemcpyAsync(call, to, from, bytes, stream)
}

pub(crate) fn cuMemcpyDtoHAsync_v2(
    call: &mut Call,
    to: u64,
    from: u64,
    bytes: usize,
    stream: u64,
) -> Result {
    call.driver.known(&call.caller, from, bytes as u64)?;
    cuMemcpyAsync(call, to, from, bytes, stream)
}

pub(crate) fn cuMemcpyDtoDAsync_v2(
    call: &mut Call,
    to: u64,
    from: u64,
    bytes: usize,
    stream: u64,
) -> Result {
    call.driver.known(&call.caller, to, bytes as u64)?;
    call.driver.known(&call.caller, from, bytes as u64)?;
    cuMemcpyAsync(call, to, from, bytes, stream)
}

pub(crate) fn cuMemcpyPeerAsync(
    call: &mut Call,
    to: u64,
    _: u64,
    from: u64,
    _: u64,
    bytes: usize,
    stream: u64,
) -> Result {
    cuMemcpyDtoDAsync_v2(call, to, from, bytes, stream)
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Copy2D {
    from: Side,
    to: Side,
    width: usize,
    height: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Side {
    x_bytes: usize,
    y: usize,
    memory_type: u32,
    host: u64,
    device: u64,
    array: u64,
    pitch: usize,
}

impl Side {
    fn plane(&self, width: usize) -> Result<Plane> {
        const HOST: u32 = 1;
        const DEVICE: u32 = 2;
        const UNIFIED: u32 = 4;
        let base = match self.memory_type {
            HOST => self.host,
            DEVICE | UNIFIED => self.device,
            _ => return Err(CudaError::NOT_SUPPORTED),
        };
        let pitch = if self.pitch == 0 { width } else { self.pitch };
        let start = pitch.checked_mul(self.y).and_then(|start| start.checked_add(self.x_bytes));
        match start {
            Some(start) if pitch >= width => {
                Ok(Plane { address: base.wrapping_add(start as u64), pitch: pitch as u64 })
            }
            _ => Err(CudaError::INVALID_VALUE),
        }
    }
}

/// The two sides of a 2D copy, its width in bytes and its height.
fn copy_2d(address: u64) -> Result<(Plane, Plane, u64, u64)> {
    // SAFETY: the caller of a 2D copy promises a CUDA_MEMCPY2D.
    let copy: Copy2D = unsafe { read(address)? };
    Ok((
        copy.to.plane(copy.width)?,
        copy.from.plane(copy.width)?,
        copy.width as u64,
        copy.height as u64,
    ))
}

/// What the record of a 2D copy has; zeros if there is no `CUDA_MEMCPY2D`.
pub(crate) fn recorded_rows(copy: u64, stream: u64) -> RowCopy {
    let nothing = RowCopy {
        to: Rows::default(),
        from: Rows::default(),
        width_bytes: 0,
        height: 0,
        depth: 0,
        stream,
    };
    // SAFETY: the caller of a 2D copy promises a CUDA_MEMCPY2D.
    let Ok(Copy2D { from, to, width, height }) = (unsafe { read(copy) }) else { return nothing };
    let rows = |side: Side| match side.plane(width) {
        Ok(Plane { address, pitch, .. }) => Rows {
            start: address,
            pitch: narrow(pitch),
            slice_rows: narrow(height as u64),
            memory_type: side.memory_type,
        },
        Err(_) => Rows { memory_type: side.memory_type, ..Rows::default() },
    };
    RowCopy {
        to: rows(to),
        from: rows(from),
        width_bytes: width as u64,
        height: narrow(height as u64),
        depth: 1,
        stream,
    }
}

fn narrow(value: u64) -> u32 {
    value.try_into().unwrap_or(u32::MAX)
}

pub(crate) fn cuMemcpy2D_v2(call: &mut Call, copy: u64) -> Result {
    let (to, from, width, height) = copy_2d(copy)?;
    call.driver.copy(&call.caller, to, from, width, height)
}

pub(crate) fn cuMemcpy2DUnaligned_v2(call: &mut Call, copy: u64) -> Result {
    cuMemcpy2D_v2(call, copy)
}

pub(crate) fn cuMemcpy2DAsync_v2(call: &mut Call, copy: u64, stream: u64) -> Result {
    let (to, from, width, height) = copy_2d(copy)?;
    call.driver.copy_async(&call.caller, to, from, width, height, StreamHandle(stream))
}

pub(crate) fn cuMemsetD8_v2(call: &mut Call, address: u64, value: u8, count: usize) -> Result {
    memset(call, Fill { address, value: value.into(), width: 1, count: count as u64 }, None)
}

pub(crate) fn cuMemsetD16_v2(call: &mut Call, address: u64, value: u16, count: usize) -> Result {
    memset(call, Fill { address, value: value.into(), width: 2, count: count as u64 }, None)
}

pub(crate) fn cuMemsetD32_v2(call: &mut Call, address: u64, value: u32, count: usize) -> Result {
    memset(call, Fill { address, value, width: 4, count: count as u64 }, None)
}

pub(crate) fn cuMemsetD8Async(
    call: &mut Call,
    address: u64,
    value: u8,
    count: usize,
    stream: u64,
) -> Result {
    memset(call, Fill { address, value: value.into(), width: 1, count: count as u64 }, Some(stream))
}

pub(crate) fn cuMemsetD16Async(
    call: &mut Call,
    address: u64,
    value: u16,
    count: usize,
    stream: u64,
) -> Result {
    memset(call, Fill { address, value: value.into(), width: 2, count: count as u64 }, Some(stream))
}

pub(crate) fn cuMemsetD32Async(
    call: &mut Call,
    address: u64,
    value: u32,
    count: usize,
    stream: u64,
) -> Result {
    memset(call, Fill { address, value, width: 4, count: count as u64 }, Some(stream))
}

fn memset(call: &mut Call, fill: Fill, stream: Option<u64>) -> Result {
    call.driver.memset(&call.caller, fill, StreamHandle(stream.unwrap_or(0)), stream.is_none())
}
