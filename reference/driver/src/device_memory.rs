//! Device memory: allocation, release, ranges.

use allocert_contract::{DevicePtr, StreamHandle};

use crate::{
    Caller, Driver,
    address_space::{Block, Owner},
    error::{CudaError, Result},
    host_memory::HostKind,
    work_queue::Work,
};

/// Rows of a pitched allocation start at multiples of this.
const PITCH_BYTES: u64 = 512;

impl Driver {
    /// `cuMemAlloc`.
    #[inline]
    pub fn alloc(&mut self, caller: &Caller, bytes: u64) -> Result<DevicePtr> {
        let (context, device) = self.current_device(caller)?;
        if bytes == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        let buffer_id = self.next_buffer_id();
        let address = self.devices[device].space.allocate(bytes, context, Owner::Plain, buffer_id);
        address.map(DevicePtr).ok_or(CudaError::OUT_OF_MEMORY)
    }

    /// `cuMemAllocPitch`: the address, and the pitch in bytes.
    pub fn alloc_pitch(
        &mut self,
        caller: &Caller,
        width: u64,
        rows: u64,
        element_bytes: u32,
    ) -> Result<(DevicePtr, u64)> {
        self.current(caller)?;
        let pitch = width.checked_next_multiple_of(PITCH_BYTES);
        match (pitch, element_bytes) {
            // As measured, the product wraps around: 16 rows of 2^60 bytes count as none.
            (Some(pitch), 4 | 8 | 16) => Ok((self.alloc(caller, pitch.wrapping_mul(rows))?, pitch)),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    /// `cuMemFree`. Waits for all work of the context that owns the memory first, whichever is
    /// current; for memory of a pool it waits for nothing.
    #[inline]
    pub fn free(&mut self, caller: &Caller, address: DevicePtr) -> Result {
        self.ready(caller)?;
        if address == DevicePtr::NULL {
            return Ok(());
        }
        let Some(device) = self.device_of(address.0) else {
            return self.free_managed(address.0);
        };
        let space = &mut self.devices[device].space;
        let id = space.find_base(address.0).ok_or(CudaError::INVALID_VALUE)?;
        let block = space.block_mut(id);
        if block.freed || matches!(block.owner, Owner::Imported { .. } | Owner::Module) {
            return Err(CudaError::INVALID_VALUE);
        }
        if let Some(number) = block.earlier.pop() {
            // The stream that freed the memory before has not got there: the memory stays until
            // then, for the work before that free.
            block.buffer_id = number;
            block.freed = true;
            return Ok(());
        }
        if block.owner == Owner::Plain {
            let context = block.context;
            self.settle_owner(context, device)?;
        }
        self.release(device, id);
        Ok(())
    }

    fn free_managed(&mut self, address: u64) -> Result {
        let block = self
            .host_blocks
            .get(&address)
            .filter(|block| block.kind == crate::host_memory::HostKind::Managed);
        let context = block.ok_or(CudaError::INVALID_VALUE)?.context;
        self.settle_context(context)?;
        self.remove_host(address);
        Ok(())
    }

    #[inline]
    pub(crate) fn release(&mut self, device: usize, id: u32) {
        let space = &mut self.devices[device].space;
        if let Owner::Pool(pool) = space.block(id).owner {
            let bytes = space.block(id).size;
            self.pool_returns(pool, bytes);
        }
        self.devices[device].space.release(id);
    }

    /// Frees all memory of a context that ends. As measured, memory of pools stays.
    pub(crate) fn release_memory_of(&mut self, context: u64) {
        let Ok(device) = self.contexts.get(context).map(|context| context.device) else { return };
        // From the top, so that the lowest address is reused first.
        for id in self.devices[device].space.ids().into_iter().rev() {
            let block = self.devices[device].space.block(id);
            if block.context == context && !matches!(block.owner, Owner::Pool(_)) {
                self.release(device, id);
            }
        }
        let host: Vec<_> = self
            .host_blocks
            .iter()
            .filter(|(_, block)| block.context == context)
            .map(|(address, _)| *address)
            .collect();
        for address in host {
            self.remove_host(address);
        }
    }

    /// `cuMemGetInfo`: free and total bytes of the current context's device.
    pub fn memory_info(&self, caller: &Caller) -> Result<(u64, u64)> {
        let (_, device) = self.current_device(caller)?;
        let space = &self.devices[device].space;
        Ok((space.free_bytes(), space.total_bytes()))
    }

    /// `cuMemGetAddressRange`: base and size of the allocation around the address.
    pub fn address_range(&self, caller: &Caller, address: DevicePtr) -> Result<(DevicePtr, u64)> {
        self.current(caller)?;
        if let Some(block) = self.find_device(address.0) {
            return Ok((DevicePtr(block.base), block.size));
        }
        self.find_host(address.0)
            .map(|(start, block)| (DevicePtr(start), block.size))
            .ok_or(CudaError::NOT_FOUND)
    }

    /// The live device allocation around `address`.
    pub(crate) fn find_device(&self, address: u64) -> Option<&Block> {
        let space = &self.devices[self.device_of(address)?].space;
        space.find(address).map(|id| space.block(id)).filter(|block| !block.freed)
    }

    /// `cuMemPrefetchAsync` of `length` bytes: work of the stream that moves no bytes here. No
    /// `device`: the host.
    pub fn prefetch_managed(
        &mut self,
        caller: &Caller,
        address: u64,
        length: u64,
        device: Option<i32>,
        stream: StreamHandle,
    ) -> Result {
        let stream = self.stream(caller, stream)?;
        if address == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        if let Some(device) = device.filter(|_| length != 0) {
            self.device(device)?;
        }
        self.check_managed(address, length)?;
        self.enqueue(stream, Work::Wait, None).map(|_| ())
    }

    /// `cuStreamAttachMemAsync`, of all the memory: work of the stream that moves no bytes here.
    pub fn attach_managed(
        &mut self,
        caller: &Caller,
        address: u64,
        length: u64,
        flags: u32,
        handle: StreamHandle,
    ) -> Result {
        const SINGLE: u32 = 4;
        let stream = self.stream(caller, handle)?;
        let whole = self.managed_bytes(address)?;
        // CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST, and CU_MEM_ATTACH_SINGLE to a named stream
        let is_named = caller.per_thread || handle != StreamHandle::DEFAULT;
        let known = matches!(flags, 1 | 2) || flags == SINGLE && is_named;
        let is_start = self.host_blocks.contains_key(&address);
        if !known || !is_start || length != 0 && length != whole {
            return Err(CudaError::INVALID_VALUE);
        }
        self.enqueue(stream, Work::Wait, None).map(|_| ())
    }

    /// `cuMemAdvise` of `length` bytes: a hint, checked and accepted. No `device`: the host.
    pub fn advise_managed(
        &mut self,
        caller: &Caller,
        address: u64,
        length: u64,
        advice: u32,
        device: Option<i32>,
    ) -> Result {
        // CU_MEM_ADVISE_SET_PREFERRED_LOCATION, _SET_ACCESSED_BY and _UNSET_ACCESSED_BY. Before
        // cuInit no device is known.
        let names_device = matches!(advice, 3 | 5 | 6);
        let unknown = names_device && device.is_some_and(|device| self.device(device).is_err());
        if unknown || !(1..=6).contains(&advice) {
            return Err(CudaError::INVALID_VALUE);
        }
        self.current(caller)?;
        self.check_managed(address, length)
    }

    /// Whether all `length` bytes from `address` on, one at least, are of one managed allocation.
    fn check_managed(&self, address: u64, length: u64) -> Result {
        let whole = self.managed_bytes(address)?;
        let before = self.find_host(address).map_or(0, |(start, _)| address - start);
        let fits = (1..=whole - before).contains(&length);
        if fits { Ok(()) } else { Err(CudaError::INVALID_VALUE) }
    }

    /// How long the managed memory around an address is.
    fn managed_bytes(&self, address: u64) -> Result<u64> {
        match self.find_host(address) {
            Some((_, block)) if block.kind == HostKind::Managed => Ok(block.size),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }
}
