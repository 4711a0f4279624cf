//! Copies.

use allocert_contract::StreamHandle;
use allocert_driver::{CopyRequest, CudaError, Direction, Plane, Result};

use super::text::read;
use crate::c_api::Call;

/// A copy of one row.
fn row(to: u64, from: u64, bytes: usize, direction: Direction) -> CopyRequest {
    CopyRequest {
        to: Plane::row(to),
        from: Plane::row(from),
        width: bytes as u64,
        rows: 1,
        direction,
    }
}

pub(crate) fn cuMemcpy(call: &mut Call, to: u64, from: u64, bytes: usize) -> Result {
    call.driver.copy(&call.caller, &row(to, from, bytes, Direction::Any))
}

pub(crate) fn cuMemcpyHtoD_v2(call: &mut Call, to: u64, from: u64, bytes: usize) -> Result {
    call.driver.copy(&call.caller, &row(to, from, bytes, Direction::HostToDevice))
}

pub(crate) fn cuMemcpyDtoH_v2(call: &mut Call, to: u64, from: u64, bytes: usize) -> Result {
    call.driver.copy(&call.caller, &row(to, from, bytes, Direction::DeviceToHost))
}

pub(crate) fn cuMemcpyDtoD_v2(call: &mut Call, to: u64, from: u64, bytes: usize) -> Result {
    call.driver.copy(&call.caller, &row(to, from, bytes, Direction::DeviceToDevice))
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
    let copy = row(to, from, bytes, Direction::Any);
    call.driver.copy_async(&call.caller, &copy, StreamHandle(stream))
}

pub(crate) fn cuMemcpyHtoDAsync_v2(
    call: &mut Call,
    to: u64,
    from: u64,
    bytes: usize,
    stream: u64,
) -> Result {
    let copy = row(to, from, bytes, Direction::HostToDevice);
    call.driver.copy_async(&call.caller, &copy, StreamHandle(stream))
}

pub(crate) fn cuMemcpyDtoHAsync_v2(
    call: &mut Call,
    to: u64,
    from: u64,
    bytes: usize,
    stream: u64,
) -> Result {
    let copy = row(to, from, bytes, Direction::DeviceToHost);
    call.driver.copy_async(&call.caller, &copy, StreamHandle(stream))
}

pub(crate) fn cuMemcpyDtoDAsync_v2(
    call: &mut Call,
    to: u64,
    from: u64,
    bytes: usize,
    stream: u64,
) -> Result {
    let copy = row(to, from, bytes, Direction::DeviceToDevice);
    call.driver.copy_async(&call.caller, &copy, StreamHandle(stream))
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

/// A `CUDA_MEMCPY2D` of the caller.
fn copy_2d(address: u64) -> Result<CopyRequest> {
    // SAFETY: the caller of a 2D copy promises a CUDA_MEMCPY2D.
    let copy: Copy2D = unsafe { read(address)? };
    Ok(CopyRequest {
        to: copy.to.plane(copy.width)?,
        from: copy.from.plane(copy.width)?,
        width: copy.width as u64,
        rows: copy.height as u64,
        direction: Direction::Any,
    })
}

pub(crate) fn cuMemcpy2D_v2(call: &mut Call, copy: u64) -> Result {
    call.driver.copy(&call.caller, &copy_2d(copy)?)
}

pub(crate) fn cuMemcpy2DUnaligned_v2(call: &mut Call, copy: u64) -> Result {
    cuMemcpy2D_v2(call, copy)
}

pub(crate) fn cuMemcpy2DAsync_v2(call: &mut Call, copy: u64, stream: u64) -> Result {
    call.driver.copy_async(&call.caller, &copy_2d(copy)?, StreamHandle(stream))
}
