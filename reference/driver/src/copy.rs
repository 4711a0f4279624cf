//! Copies and fills: when they take the source's bytes, and when the host waits.

use allocert_contract::StreamHandle;

use crate::{
    Caller, Driver,
    error::{CudaError, Result},
    transfer::{Fill, Plane, Source, Transfer},
    work_queue::Work,
};

/// What the driver makes of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    Device,
    /// Page-locked or managed: reachable by both sides.
    Host,
    Pageable,
}

impl Driver {
    /// `cuMemcpy*`: waits for the copy, except from device to device. Between two devices it is
    /// work of both, as measured: the legacy streams of both are busy with it, and to close or free
    /// either end waits for it.
    pub fn copy(
        &mut self,
        caller: &Caller,
        to: Plane,
        from: Plane,
        width: u64,
        rows: u64,
    ) -> Result {
        let stream = self.stream(caller, StreamHandle::DEFAULT)?;
        let far = self.far_ends(stream, [to.address, from.address]);
        let mut earlier = None;
        for end in &far {
            earlier = Some(self.enqueue(*end, Work::Wait, earlier)?);
        }
        let Some((operation, memory)) = self.queue_copy(stream, to, from, width, rows, earlier)?
        else {
            return Ok(());
        };
        for end in far {
            self.enqueue(end, Work::Wait, Some(operation))?;
        }
        if memory == (Memory::Device, Memory::Device) {
            Ok(())
        } else {
            self.wait(stream, operation)
        }
    }

    /// `cuMemcpy*Async`: waits only where pageable host memory is written.
    pub fn copy_async(
        &mut self,
        caller: &Caller,
        to: Plane,
        from: Plane,
        width: u64,
        rows: u64,
        stream: StreamHandle,
    ) -> Result {
        let stream = self.stream(caller, stream)?;
        let Some((operation, memory)) = self.queue_copy(stream, to, from, width, rows, None)?
        else {
            return Ok(());
        };
        if memory.0 == Memory::Pageable { self.wait(stream, operation) } else { Ok(()) }
    }

    /// Fails unless the driver knows the address: for the device side of `cuMemcpyHtoD` and
    /// `cuMemcpyDtoH`.
    pub fn known(&self, caller: &Caller, address: u64, bytes: u64) -> Result {
        self.current(caller)?;
        if bytes == 0 || self.memory(address, bytes)? != Memory::Pageable {
            Ok(())
        } else {
            Err(CudaError::INVALID_VALUE)
        }
    }

    fn queue_copy(
        &mut self,
        stream: u64,
        to: Plane,
        from: Plane,
        width: u64,
        rows: u64,
        also: Option<u64>,
    ) -> Result<Option<(u64, (Memory, Memory))>> {
        if width == 0 || rows == 0 {
            return Ok(None);
        }
        let span = |plane: Plane| plane.span(width, rows).ok_or(CudaError::INVALID_VALUE);
        let memory = (self.memory(to.address, span(to)?)?, self.memory(from.address, span(from)?)?);
        let from = if memory.1 == Memory::Pageable {
            Source::Staged(self.stage(from, width, rows))
        } else {
            Source::Later(from)
        };
        let operation =
            self.enqueue(stream, Work::Copy(Transfer { to, from, width, rows }), also)?;
        Ok(Some((operation, memory)))
    }

    /// Of a copy from device to device the legacy streams of the contexts whose memory lies on
    /// other devices than the stream's.
    fn far_ends(&self, stream: u64, addresses: [u64; 2]) -> Vec<u64> {
        if addresses.iter().any(|address| self.device_of(*address).is_none()) {
            return Vec::new();
        }
        let near =
            self.streams.get(stream).ok().and_then(|stream| self.contexts.get(stream.context).ok());
        let legacy = |address: u64| {
            let device = self
                .device_of(address)
                .filter(|device| near.is_some_and(|near| near.device != *device))?;
            let space = &self.devices[device].space;
            let owner = space.block(space.find(address)?).context;
            self.contexts.get(owner).ok().map(|context| context.legacy)
        };
        addresses.into_iter().filter_map(legacy).collect()
    }

    /// What lies at the range; an error if it is neither wholly inside one allocation nor wholly
    /// outside the driver's addresses.
    pub(crate) fn memory(&self, address: u64, bytes: u64) -> Result<Memory> {
        if address == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        if let Some(device) = self.device_of(address) {
            let space = &self.devices[device].space;
            let block = space.find(address).map(|id| space.block(id)).filter(|block| !block.freed);
            let block = block.ok_or(CudaError::INVALID_VALUE)?;
            let fits = bytes <= block.size - (address - block.base);
            return if fits { Ok(Memory::Device) } else { Err(CudaError::INVALID_VALUE) };
        }
        match self.find_host(address) {
            Some((start, block)) if bytes <= block.size - (address - start) => Ok(Memory::Host),
            _ => Ok(Memory::Pageable),
        }
    }

    fn stage(&self, from: Plane, width: u64, rows: u64) -> Vec<u8> {
        let mut bytes = vec![0; (width * rows) as usize];
        for (row, into) in bytes.chunks_exact_mut(width as usize).enumerate() {
            self.host.read(from.at(row as u64), into);
        }
        bytes
    }

    fn wait(&mut self, stream: u64, operation: u64) -> Result {
        let context = self.streams.get(stream).map_err(|_| CudaError::INVALID_HANDLE)?.context;
        self.force([operation]);
        self.usable(context).map(|_| ())
    }

    /// `cuMemsetD*` and `cuMemsetD*Async`. Waits if `blocking` and the target is host memory.
    pub fn memset(
        &mut self,
        caller: &Caller,
        fill: Fill,
        stream: StreamHandle,
        blocking: bool,
    ) -> Result {
        let stream = self.stream(caller, stream)?;
        let bytes = fill.count.checked_mul(fill.width).ok_or(CudaError::INVALID_VALUE)?;
        if bytes == 0 {
            return Ok(());
        }
        let memory = self.memory(fill.address, bytes)?;
        if memory == Memory::Pageable || !fill.address.is_multiple_of(fill.width) {
            return Err(CudaError::INVALID_VALUE);
        }
        let operation = self.enqueue(stream, Work::Fill(fill), None)?;
        if blocking && memory == Memory::Host { self.wait(stream, operation) } else { Ok(()) }
    }
}
