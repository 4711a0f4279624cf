//! Stream-ordered allocation and its pools.

use std::collections::BTreeSet;

use allocert_contract::{DevicePtr, StreamHandle, trace::cuda::Misuse};

use crate::{
    Caller, Driver,
    address_space::Owner,
    error::{CudaError, Result},
    host_memory::HostKind,
    slab::GRANULE_BYTES,
    work_queue::Work,
};

#[derive(Debug)]
pub(crate) struct Pool {
    device: usize,
    default: bool,
    /// `CUmemAllocationHandleType` as whose its memory may be exported. No function exports it.
    handle_types: u64,
    /// Reuse policies 1 to 3; kept, and without effect here.
    policies: [u64; 3],
    release_threshold: u64,
    /// The bytes that were asked for, until `cuMemFreeAsync` is called. As measured, `cuMemFree`
    /// does not count.
    used: u64,
    used_high: u64,
    /// The bytes that the memory takes, until it is free.
    held: u64,
    reserved: u64,
    reserved_high: u64,
    /// Freed in a stream that has not got there yet, latest last.
    waiting: Vec<Waiting>,
    /// The other devices that may read and write its memory.
    shared_with: BTreeSet<usize>,
    /// `None` if it may take all of the device.
    most_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    stream: u64,
    address: u64,
    granules: u64,
}

/// `CU_MEM_ACCESS_FLAGS_PROT_READ`, which no pool has.
const READ_ONLY: u32 = 1;

/// `CUmemAccess_flags`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolAccess {
    None,
    ReadAndWrite,
}

impl PoolAccess {
    fn from_number(number: u32) -> Result<Self> {
        match number {
            0 => Ok(Self::None),
            3 => Ok(Self::ReadAndWrite),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::None => 0,
            Self::ReadAndWrite => 3,
        }
    }
}

/// `CUmemPool_attribute`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolAttribute {
    Policy(usize),
    ReleaseThreshold,
    ReservedCurrent,
    ReservedHigh,
    UsedCurrent,
    UsedHigh,
}

impl PoolAttribute {
    /// By CUDA's number. The policies are `int`, the others 64 bits wide.
    pub fn from_number(number: u32) -> Result<Self> {
        Ok(match number {
            1..=3 => Self::Policy(number as usize - 1),
            4 => Self::ReleaseThreshold,
            5 => Self::ReservedCurrent,
            6 => Self::ReservedHigh,
            7 => Self::UsedCurrent,
            8 => Self::UsedHigh,
            _ => return Err(CudaError::INVALID_VALUE),
        })
    }
}

/// Pools take memory from the device in steps of this.
pub(crate) const RESERVE_BYTES: u64 = 32 << 20;

impl Pool {
    pub(crate) fn handle_types(&self) -> u64 {
        self.handle_types
    }

    fn is_reached_by(&self, device: usize) -> bool {
        self.device == device || self.shared_with.contains(&device)
    }

    fn count(&mut self, bytes: u64) {
        self.used += bytes;
        self.used_high = self.used_high.max(self.used);
    }

    fn has_room_for(&self, bytes: u64) -> bool {
        let wanted = bytes.checked_next_multiple_of(GRANULE_BYTES);
        let held = wanted.and_then(|bytes| self.held.checked_add(bytes));
        self.most_bytes.is_none_or(|most| held.is_some_and(|held| held <= most))
    }

    fn take(&mut self, bytes: u64) {
        self.held += bytes.next_multiple_of(GRANULE_BYTES);
        self.reserved = self.reserved.max(self.held.next_multiple_of(RESERVE_BYTES));
        self.reserved_high = self.reserved_high.max(self.reserved);
    }

    fn give(&mut self, bytes: u64) {
        self.held = self.held.saturating_sub(bytes.next_multiple_of(GRANULE_BYTES));
        self.trim(self.release_threshold);
    }

    fn trim(&mut self, keep: u64) {
        self.reserved = self
            .reserved
            .min(keep.max(self.held).checked_next_multiple_of(RESERVE_BYTES).unwrap_or(u64::MAX));
    }
}

impl Driver {
    pub(crate) fn new_pool(
        &mut self,
        device: usize,
        default: bool,
        handle_types: u64,
        most_bytes: Option<u64>,
    ) -> u64 {
        self.pools.insert(Pool {
            device,
            default,
            handle_types,
            policies: [1; 3],
            release_threshold: 0,
            used: 0,
            used_high: 0,
            held: 0,
            reserved: 0,
            reserved_high: 0,
            waiting: Vec::new(),
            shared_with: BTreeSet::new(),
            most_bytes,
        })
    }

    fn pool(&mut self, handle: u64) -> Result<&mut Pool> {
        self.initialized()?;
        if self.pools.get(handle).is_err() {
            self.report_misuse(Misuse::UnknownObject, [handle, 0]);
        }
        self.pools.get_mut(handle).map_err(|_| CudaError::INVALID_VALUE)
    }

    /// `cuMemAllocAsync`, and `cuMemAllocFromPoolAsync` if `pool` is given. Zero bytes give a null
    /// pointer.
    pub fn alloc_async(
        &mut self,
        caller: &Caller,
        bytes: u64,
        pool: Option<u64>,
        stream: StreamHandle,
    ) -> Result<DevicePtr> {
        let stream = self.stream(caller, stream)?;
        if pool == Some(0) {
            return Err(CudaError::INVALID_VALUE);
        }
        if bytes == 0 {
            return Ok(DevicePtr::NULL);
        }
        let context = self.streams.get(stream).map_err(|_| CudaError::INVALID_HANDLE)?.context;
        let device = self.contexts.get(context).map_err(|_| CudaError::INVALID_CONTEXT)?.device;
        let handle = pool.unwrap_or(self.devices[device].current_pool);
        let device = self.pool(handle)?.device;
        let buffer_id = self.next_buffer_id();
        if let Some(freed) = self.take_waiting(handle, stream, bytes)
            && let Some(id) = self.devices[device].space.find_base(freed.address)
        {
            if freed.stream != stream {
                self.enqueue(stream, Work::Wait, None)?;
            }
            self.devices[device].space.block_mut(id).take_again(bytes, context, buffer_id);
            self.pool(handle)?.count(bytes);
            return Ok(DevicePtr(freed.address));
        }
        if !self.pool(handle)?.has_room_for(bytes) {
            return Err(CudaError::OUT_OF_MEMORY);
        }
        let address =
            self.devices[device].space.allocate(bytes, context, Owner::Pool(handle), buffer_id);
        let address = address.or_else(|| {
            // A full device waits for pending frees before it gives up.
            self.drain_device(device).ok()?;
            self.devices[device].space.allocate(bytes, context, Owner::Pool(handle), buffer_id)
        });
        let address = address.ok_or(CudaError::OUT_OF_MEMORY)?;
        let pool = self.pool(handle)?;
        pool.count(bytes);
        pool.take(bytes);
        Ok(DevicePtr(address))
    }

    /// Memory of that size freed earlier in the same stream may be used again at once, and so may
    /// memory freed in a stream that a legacy stream waits for.
    fn take_waiting(&mut self, pool: u64, stream: u64, bytes: u64) -> Option<Waiting> {
        let granules = bytes.div_ceil(GRANULE_BYTES);
        let usable = |freed: &Waiting| {
            freed.granules == granules
                && (freed.stream == stream || self.legacy_waits_for(stream, freed.stream))
        };
        let index = self.pools.get(pool).ok()?.waiting.iter().rposition(usable)?;
        Some(self.pools.get_mut(pool).ok()?.waiting.remove(index))
    }

    /// `cuMemFreeAsync`; takes memory from `cuMemAlloc` too.
    pub fn free_async(
        &mut self,
        caller: &Caller,
        address: DevicePtr,
        stream: StreamHandle,
    ) -> Result {
        let stream = self.stream(caller, stream)?;
        if address == DevicePtr::NULL {
            return Ok(());
        }
        if self.host_blocks.get(&address.0).is_some_and(|block| block.kind == HostKind::Managed) {
            return Err(CudaError::NOT_SUPPORTED);
        }
        let block = self.find_device(address.0).filter(|block| block.base == address.0);
        let block = block
            .filter(|block| !matches!(block.owner, Owner::Imported { .. } | Owner::Module))
            .ok_or(CudaError::INVALID_VALUE)?;
        let (owner, buffer_id, bytes) = (block.owner, block.buffer_id, block.size);
        let granules = bytes.div_ceil(GRANULE_BYTES);
        self.enqueue(stream, Work::Free { address: address.0, buffer_id }, None)?;
        if let Some(device) = self.device_of(address.0)
            && let Some(id) = self.devices[device].space.find(address.0)
        {
            self.devices[device].space.block_mut(id).freed = true;
        }
        if let Owner::Pool(pool) = owner
            && let Ok(pool) = self.pools.get_mut(pool)
        {
            pool.used -= bytes;
            pool.waiting.push(Waiting { stream, address: address.0, granules });
        }
        Ok(())
    }

    /// The stream got to a `cuMemFreeAsync`.
    pub(crate) fn finish_free(&mut self, address: u64, buffer_id: u64) {
        let Some(device) = self.device_of(address) else { return };
        let Some(id) = self.devices[device].space.find(address) else { return };
        let block = self.devices[device].space.block_mut(id);
        if block.buffer_id != buffer_id {
            block.earlier.retain(|number| *number != buffer_id); // taken again
            return;
        }
        if let Owner::Pool(pool) = block.owner
            && let Ok(pool) = self.pools.get_mut(pool)
        {
            pool.waiting.retain(|freed| freed.address != address);
        }
        self.release(device, id);
    }

    pub(crate) fn pool_returns(&mut self, pool: u64, bytes: u64) {
        if let Ok(pool) = self.pools.get_mut(pool) {
            pool.give(bytes);
        }
    }

    /// `cuMemPoolCreate` on a device. `most_bytes` is 0 if the pool may take all of the device.
    pub fn pool_create(&mut self, device: i32, handle_types: u64, most_bytes: u64) -> Result<u64> {
        let device = self.device(device)?;
        let limited = (most_bytes > 0).then_some(most_bytes);
        let most_bytes = limited.and_then(|most| most.checked_next_multiple_of(RESERVE_BYTES));
        Ok(self.new_pool(device, false, handle_types, most_bytes))
    }

    /// `cuMemPoolDestroy`. Memory still allocated from it stays valid.
    pub fn pool_destroy(&mut self, handle: u64) -> Result {
        let pool = self.pool(handle)?;
        if pool.default {
            return Err(CudaError::INVALID_VALUE);
        }
        let device = pool.device;
        self.pools.remove(handle).ok();
        let device = &mut self.devices[device];
        if device.current_pool == handle {
            device.current_pool = device.default_pool;
        }
        Ok(())
    }

    /// `cuMemPoolTrimTo`.
    pub fn pool_trim(&mut self, handle: u64, keep_bytes: u64) -> Result {
        self.pool(handle)?.trim(keep_bytes);
        Ok(())
    }

    /// `cuMemPoolGetAttribute`.
    pub fn pool_attribute(&mut self, handle: u64, attribute: PoolAttribute) -> Result<u64> {
        let pool = self.pool(handle)?;
        Ok(match attribute {
            PoolAttribute::Policy(index) => pool.policies[index],
            PoolAttribute::ReleaseThreshold => pool.release_threshold,
            PoolAttribute::ReservedCurrent => pool.reserved,
            PoolAttribute::ReservedHigh => pool.reserved_high,
            PoolAttribute::UsedCurrent => pool.used,
            PoolAttribute::UsedHigh => pool.used_high,
        })
    }

    /// `cuMemPoolSetAttribute`. High-water marks take 0 only.
    pub fn pool_set_attribute(
        &mut self,
        handle: u64,
        attribute: PoolAttribute,
        value: u64,
    ) -> Result {
        let pool = self.pool(handle)?;
        match (attribute, value) {
            (PoolAttribute::Policy(index), _) => pool.policies[index] = u64::from(value != 0),
            (PoolAttribute::ReleaseThreshold, _) => pool.release_threshold = value,
            (PoolAttribute::ReservedHigh, 0) => pool.reserved_high = pool.reserved,
            (PoolAttribute::UsedHigh, 0) => pool.used_high = pool.used,
            _ => return Err(CudaError::INVALID_VALUE),
        }
        Ok(())
    }

    /// `cuMemPoolSetAccess`: whether each of these devices may read and write the pool's memory. A
    /// pool's own device always may. If one description is refused, none counts; one without a
    /// device is `NOT_SUPPORTED`. All places are checked first, then all accesses.
    pub fn pool_set_access(&mut self, handle: u64, wanted: &[(Option<i32>, u32)]) -> Result {
        let own = self.pool(handle)?.device;
        let device_of = |&(device, flags): &(Option<i32>, u32)| {
            let device = device.filter(|_| flags != READ_ONLY).ok_or(CudaError::NOT_SUPPORTED)?;
            self.device(device)
        };
        let devices = wanted.iter().map(device_of).collect::<Result<Vec<_>>>()?;
        let access_of = |&(_, flags): &(Option<i32>, u32)| PoolAccess::from_number(flags);
        let accesses = wanted.iter().map(access_of).collect::<Result<Vec<_>>>()?;
        let wanted: Vec<_> = devices.into_iter().zip(accesses).collect();
        if wanted.contains(&(own, PoolAccess::None)) {
            return Err(CudaError::INVALID_DEVICE);
        }
        let shared_with = &mut self.pool(handle)?.shared_with;
        for (device, access) in wanted {
            match access {
                PoolAccess::None => shared_with.remove(&device),
                PoolAccess::ReadAndWrite => shared_with.insert(device),
            };
        }
        Ok(())
    }

    /// `cuMemPoolGetAccess`. No `device`: the host, which never has it.
    pub fn pool_access(&mut self, handle: u64, device: Option<i32>) -> Result<PoolAccess> {
        let device = device.map(|device| self.device(device)).transpose()?;
        let pool = self.pool(handle)?;
        let reached = device.is_some_and(|device| pool.is_reached_by(device));
        Ok(if reached { PoolAccess::ReadAndWrite } else { PoolAccess::None })
    }

    /// Whether work of a stream may use what lies at an address: memory of a pool of another device
    /// takes access to the pool. What is left of a destroyed pool, every device may use.
    pub(crate) fn reaches_pool_at(&self, stream: u64, address: u64) -> bool {
        if self.devices.len() == 1 {
            return true;
        }
        let owner = self.find_device(address).map(|block| block.owner);
        let Some(Owner::Pool(pool)) = owner else { return true };
        let context = self.streams.get(stream).and_then(|stream| self.contexts.get(stream.context));
        match (self.pools.get(pool), context) {
            (Ok(pool), Ok(context)) => pool.is_reached_by(context.device),
            _ => true,
        }
    }

    /// `cuDeviceGetDefaultMemPool`.
    pub fn default_pool(&self, device: i32) -> Result<u64> {
        self.device(device).map(|device| self.devices[device].default_pool)
    }

    /// `cuDeviceGetMemPool`.
    pub fn current_pool(&self, device: i32) -> Result<u64> {
        self.device(device).map(|device| self.devices[device].current_pool)
    }

    /// `cuDeviceSetMemPool`.
    pub fn set_current_pool(&mut self, device: i32, handle: u64) -> Result {
        let device = self.device(device)?;
        if self.pool(handle)?.device != device {
            return Err(CudaError::INVALID_VALUE);
        }
        self.devices[device].current_pool = handle;
        Ok(())
    }
}
