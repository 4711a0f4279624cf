//! Copies.

use allocert_contract::{
    StreamHandle,
    trace::cuda::{Function, RowCopy, Rows},
};
use allocert_driver::{CopyRequest, CudaError, Direction, Extent, Plane, Result};

use super::text::read;
use crate::c_api::Call;

/// A copy of one row.
fn row(to: u64, from: u64, bytes: usize, direction: Direction) -> CopyRequest {
    CopyRequest {
        to: Plane::row(to),
        from: Plane::row(from),
        extent: Extent::row(bytes as u64),
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
    call.driver.copy(&call.caller, &row(to, from, bytes, Direction::Peer))
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
    let copy = row(to, from, bytes, Direction::Peer);
    call.driver.copy_async(&call.caller, &copy, StreamHandle(stream))
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

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Copy3D {
    from: Side3D,
    to: Side3D,
    width: usize,
    height: usize,
    depth: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Side3D {
    x_bytes: usize,
    y: usize,
    z: usize,
    level: usize,
    memory_type: u32,
    host: u64,
    device: u64,
    array: u64,
    reserved: u64,
    pitch: usize,
    height: usize,
}

/// The first address of a side of a copy. Arrays are not part of the software driver.
fn base(memory_type: u32, host: u64, device: u64, array: u64) -> Result<u64> {
    const HOST: u32 = 1;
    const DEVICE: u32 = 2;
    const ARRAY: u32 = 3;
    const UNIFIED: u32 = 4;
    match memory_type {
        HOST => Ok(host),
        DEVICE | UNIFIED => Ok(device),
        ARRAY if array != 0 => Err(CudaError::NOT_SUPPORTED),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

impl Side {
    fn plane(&self, width: usize) -> Result<Plane> {
        let base = base(self.memory_type, self.host, self.device, self.array)?;
        let row_end = width.saturating_add(self.x_bytes);
        let pitch = if self.pitch == 0 { row_end } else { self.pitch };
        let start = pitch.checked_mul(self.y).and_then(|start| start.checked_add(self.x_bytes));
        match start {
            Some(start) if pitch >= row_end => {
                Ok(Plane { pitch: pitch as u64, ..Plane::row(base.wrapping_add(start as u64)) })
            }
            _ => Err(CudaError::INVALID_VALUE),
        }
    }
}

impl Side3D {
    fn plane(&self, width: usize, rows: usize) -> Result<Plane> {
        let base = base(self.memory_type, self.host, self.device, self.array)?;
        let row_end = width.saturating_add(self.x_bytes);
        let pitch = if self.pitch == 0 { row_end } else { self.pitch };
        let last_row = rows.saturating_add(self.y);
        let height = if self.height == 0 { last_row } else { self.height };
        let slice_pitch = pitch.checked_mul(height).ok_or(CudaError::INVALID_VALUE)?;
        let start = [(slice_pitch, self.z), (pitch, self.y), (1, self.x_bytes)]
            .into_iter()
            .try_fold(0_usize, |sum, (step, count)| sum.checked_add(step.checked_mul(count)?));
        match start {
            Some(start) if pitch >= row_end && height >= last_row => Ok(Plane {
                address: base.wrapping_add(start as u64),
                pitch: pitch as u64,
                slice_pitch: slice_pitch as u64,
            }),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }
}

/// What a descriptor says of a copy of rows or slices: how much it copies, and what, unless the
/// driver refuses that.
type Described = (Extent, Result<CopyRequest>);

fn described(extent: Extent, to: Result<Plane>, from: Result<Plane>) -> Described {
    let both = to.and_then(|to| Ok((to, from?)));
    let request = |(to, from)| CopyRequest { to, from, extent, direction: Direction::Any };
    (extent, both.map(request))
}

/// A `CUDA_MEMCPY2D` of the caller.
fn copy_2d(address: u64) -> Result<Described> {
    // SAFETY: the caller of a 2D copy promises a CUDA_MEMCPY2D.
    let Copy2D { from, to, width, height } = unsafe { read(address)? };
    let extent = Extent { width: width as u64, rows: height as u64, slices: 1 };
    Ok(described(extent, to.plane(width), from.plane(width)))
}

/// A `CUDA_MEMCPY3D` of the caller.
fn copy_3d(address: u64) -> Result<Described> {
    // SAFETY: the caller of a 3D copy promises a CUDA_MEMCPY3D.
    let Copy3D { from, to, width, height, depth } = unsafe { read(address)? };
    let extent = Extent { width: width as u64, rows: height as u64, slices: depth as u64 };
    Ok(described(extent, to.plane(width, height), from.plane(width, height)))
}

/// What the record of a copy of rows has; zeros if the driver refuses its structure.
pub(crate) fn recorded_rows(function: Function, copy: u64, stream: u64) -> RowCopy {
    let is_3d = matches!(function, Function::cuMemcpy3D_v2 | Function::cuMemcpy3DAsync_v2);
    let described = if is_3d { copy_3d(copy) } else { copy_2d(copy) };
    let Ok(CopyRequest { to, from, extent, .. }) = described.and_then(|(_, request)| request)
    else {
        let (to, from) = (Rows::default(), Rows::default());
        return RowCopy { to, from, width_bytes: 0, height: 0, depth: 0, stream };
    };
    let [to_type, from_type] = memory_types(is_3d, copy).unwrap_or_default();
    let rows = |Plane { address, pitch, slice_pitch }: Plane, memory_type| Rows {
        start: address,
        pitch: narrow(pitch),
        slice_rows: narrow(slice_pitch.checked_div(pitch).unwrap_or(0)),
        memory_type,
    };
    RowCopy {
        to: rows(to, to_type),
        from: rows(from, from_type),
        width_bytes: extent.width,
        height: narrow(extent.rows),
        depth: narrow(extent.slices),
        stream,
    }
}

/// The `CUmemorytype` of both sides, the one that is written first.
fn memory_types(is_3d: bool, address: u64) -> Result<[u32; 2]> {
    if is_3d {
        // SAFETY: the caller of a 3D copy promises a CUDA_MEMCPY3D.
        let copy: Copy3D = unsafe { read(address)? };
        Ok([copy.to.memory_type, copy.from.memory_type])
    } else {
        // SAFETY: the caller of a 2D copy promises a CUDA_MEMCPY2D.
        let copy: Copy2D = unsafe { read(address)? };
        Ok([copy.to.memory_type, copy.from.memory_type])
    }
}

fn narrow(value: u64) -> u32 {
    value.try_into().unwrap_or(u32::MAX)
}

/// Makes a copy of rows or slices. As measured, the driver looks at the stream first, then whether
/// there is a byte to copy, and then at the rest.
fn copy_rows(call: &mut Call, described: Result<Described>, stream: Option<u64>) -> Result {
    let handle = stream.map_or(StreamHandle::DEFAULT, StreamHandle);
    match stream {
        Some(_) => call.driver.check_copy_stream(&call.caller, handle)?,
        None => call.driver.check_stream(&call.caller, handle)?,
    }
    let (extent, request) = described?;
    if extent.is_empty() {
        return Ok(());
    }
    match stream {
        Some(_) => call.driver.copy_async(&call.caller, &request?, handle),
        None => call.driver.copy(&call.caller, &request?),
    }
}

pub(crate) fn cuMemcpy2D_v2(call: &mut Call, copy: u64) -> Result {
    copy_rows(call, copy_2d(copy), None)
}

pub(crate) fn cuMemcpy2DUnaligned_v2(call: &mut Call, copy: u64) -> Result {
    cuMemcpy2D_v2(call, copy)
}

pub(crate) fn cuMemcpy2DAsync_v2(call: &mut Call, copy: u64, stream: u64) -> Result {
    copy_rows(call, copy_2d(copy), Some(stream))
}

pub(crate) fn cuMemcpy3D_v2(call: &mut Call, copy: u64) -> Result {
    copy_rows(call, copy_3d(copy), None)
}

pub(crate) fn cuMemcpy3DAsync_v2(call: &mut Call, copy: u64, stream: u64) -> Result {
    copy_rows(call, copy_3d(copy), Some(stream))
}
