//! The attributes of pointers.

use crate::{
    Caller, Driver,
    address_space::Owner,
    error::{CudaError, Result},
    host_memory::HostKind,
    memory_pool::{Pool, RESERVE_BYTES},
};

/// An attribute in the width that CUDA writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    Narrow(u32),
    Wide(u64),
    /// `CUDA_POINTER_ATTRIBUTE_P2P_TOKENS`: for drivers of other devices, none of which is here.
    Tokens(u64, u32),
}

/// What is common to all memory the driver knows.
#[derive(Clone, Copy)]
struct Facts {
    /// 0 for the memory of pools.
    context: u64,
    device: i32,
    base: u64,
    size: u64,
    buffer_id: u64,
    /// `CU_MEMORYTYPE_HOST` or `CU_MEMORYTYPE_DEVICE`.
    memory_type: u32,
    host: bool,
    managed: bool,
    pool: u64,
    ipc: bool,
    synchronous: bool,
    read_only: bool,
    registered: bool,
    /// As what the pool's memory may be exported.
    handle_types: u64,
}

impl Facts {
    /// `CU_POINTER_ATTRIBUTE_MAPPING_SIZE`: pools map memory in their own steps, registrations in
    /// pages of the host, and all else in pages of the device.
    fn mapped_bytes(&self) -> u64 {
        const HOST_PAGE_BYTES: u64 = 4 << 10;
        const DEVICE_PAGE_BYTES: u64 = 2 << 20;
        if self.pool != 0 {
            RESERVE_BYTES
        } else if self.registered {
            let end = (self.base + self.size).next_multiple_of(HOST_PAGE_BYTES);
            end - self.base / HOST_PAGE_BYTES * HOST_PAGE_BYTES
        } else {
            self.size.next_multiple_of(DEVICE_PAGE_BYTES)
        }
    }
}

const MEMORYTYPE_HOST: u32 = 1;
const MEMORYTYPE_DEVICE: u32 = 2;
const DEVICE_POINTER: u32 = 3;
const HOST_POINTER: u32 = 4;
const P2P_TOKENS: u32 = 5;
const SYNC_MEMOPS: u32 = 6;
/// `CU_MEM_ACCESS_FLAGS_PROT_READ` and `_READWRITE`
const ACCESS_READ: u32 = 1;
const ACCESS_READWRITE: u32 = 3;

impl Driver {
    /// `cuPointerGetAttribute`: what it writes, which may be a zero beside an error. As measured,
    /// asking for the tokens of memory makes copies of it synchronous.
    pub fn pointer_attribute(
        &mut self,
        caller: &Caller,
        attribute: u32,
        address: u64,
    ) -> (Result, Option<AttributeValue>) {
        const ZERO: Option<AttributeValue> = Some(AttributeValue::Wide(0));
        let facts = self.initialized().and_then(|()| self.facts(address));
        let value = facts.and_then(|facts| Self::attribute_of(&facts, attribute, address));
        match (attribute, facts) {
            (DEVICE_POINTER, Ok(_)) if !self.has_context(caller) => {
                (Err(CudaError::INVALID_CONTEXT), ZERO)
            }
            (HOST_POINTER, Ok(facts)) if !facts.host => (Err(CudaError::INVALID_VALUE), ZERO),
            (P2P_TOKENS, Ok(facts)) if facts.memory_type == MEMORYTYPE_HOST => {
                (Err(CudaError::INVALID_VALUE), ZERO)
            }
            (P2P_TOKENS, Ok(_)) => (self.make_synchronous(address, true), value.ok()),
            _ => (value.map(|_| ()), value.ok()),
        }
    }

    fn attribute_of(facts: &Facts, attribute: u32, address: u64) -> Result<AttributeValue> {
        use AttributeValue::{Narrow, Wide};
        Ok(match attribute {
            1 => Wide(facts.context),
            2 => Narrow(facts.memory_type),
            DEVICE_POINTER => Wide(address),
            HOST_POINTER => Wide(address),
            P2P_TOKENS => AttributeValue::Tokens(0, 0),
            SYNC_MEMOPS => Narrow(facts.synchronous.into()),
            7 => Wide(facts.buffer_id),
            8 => Narrow(facts.managed.into()),
            9 => Narrow(facts.device as u32),
            10 => Narrow(facts.ipc.into()),
            11 | 19 => Wide(facts.base),
            12 => Wide(facts.size),
            18 => Wide(facts.mapped_bytes()),
            13 => Narrow(1),
            14 => Wide(facts.handle_types),
            // GPUDirect RDMA and hardware decompression: of memory from `cuMemAlloc` alone.
            15 | 21 => Narrow(facts.ipc.into()),
            16 => Narrow(if facts.read_only { ACCESS_READ } else { ACCESS_READWRITE }),
            17 => Wide(facts.pool),
            20 => Wide(facts.buffer_id),
            _ => return Err(CudaError::INVALID_VALUE),
        })
    }

    /// What `cuPointerGetAttributes` writes for one attribute. A pointer that the driver does not
    /// know has no range, and counts as the host's.
    pub fn pointer_attribute_of_many(
        &mut self,
        caller: &Caller,
        attribute: u32,
        address: u64,
    ) -> Result<Option<AttributeValue>> {
        match self.pointer_attribute(caller, attribute, address) {
            (_, Some(value)) => return Ok(Some(value)),
            (Err(CudaError::INVALID_VALUE), None) => {}
            (result, None) => return result.map(|()| None),
        }
        match attribute {
            11 | 12 => Ok(None),
            HOST_POINTER => Ok(Some(AttributeValue::Wide(address))),
            1 | DEVICE_POINTER | 7 | 14 | 17..=20 => Ok(Some(AttributeValue::Wide(0))),
            9 => Ok(Some(AttributeValue::Narrow(-2_i32 as u32))),
            2 | SYNC_MEMOPS | 8 | 10 | 13 | 15 | 16 | 21 => Ok(Some(AttributeValue::Narrow(0))),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    /// `cuPointerSetAttribute`: only `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS` can be set. No context
    /// needs to be current, but none that was destroyed or reset may be.
    pub fn set_pointer_attribute(
        &mut self,
        caller: &Caller,
        attribute: u32,
        address: u64,
        value: bool,
    ) -> Result {
        self.initialized()?;
        let ended = caller.thread.current() != 0 && !self.has_context(caller);
        if attribute != SYNC_MEMOPS || ended {
            return Err(CudaError::INVALID_VALUE);
        }
        self.make_synchronous(address, value)
    }

    /// Whether the thread has a current context that was neither destroyed nor reset.
    fn has_context(&self, caller: &Caller) -> bool {
        self.contexts.get(caller.thread.current()).is_ok_and(|context| context.active)
    }

    /// Sets `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS` of the memory around `address`.
    fn make_synchronous(&mut self, address: u64, value: bool) -> Result {
        if let Some(device) = self.device_of(address)
            && self.find_device(address).is_some()
            && let Some(id) = self.devices[device].space.find(address)
        {
            self.devices[device].space.block_mut(id).synchronous = value;
            return Ok(());
        }
        let start = self.find_host(address).map(|(start, _)| start);
        let block = start.and_then(|start| self.host_blocks.get_mut(&start));
        block.ok_or(CudaError::INVALID_VALUE)?.synchronous = value;
        Ok(())
    }

    /// Base and size in bytes of the live allocation around `address`, of any kind.
    pub fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        match self.find_device(address) {
            Some(block) => Some((block.base, block.size)),
            None => self.find_host(address).map(|(base, block)| (base, block.size)),
        }
    }

    fn facts(&self, address: u64) -> Result<Facts> {
        if let (Some(block), Some(device)) = (self.find_device(address), self.device_of(address)) {
            let (context, pool) = match block.owner {
                Owner::Pool(pool) => (0, pool),
                Owner::Plain | Owner::Imported { .. } | Owner::Module => (block.context, 0),
            };
            return Ok(Facts {
                context,
                device: device as i32,
                base: block.base,
                size: block.size,
                buffer_id: block.buffer_id,
                memory_type: MEMORYTYPE_DEVICE,
                host: false,
                managed: false,
                pool,
                ipc: block.owner == Owner::Plain,
                synchronous: block.synchronous,
                read_only: false,
                registered: false,
                handle_types: self.pools.get(pool).map_or(0, Pool::handle_types),
            });
        }
        let (base, block) = self.find_host(address).ok_or(CudaError::INVALID_VALUE)?;
        let managed = block.kind == HostKind::Managed;
        Ok(Facts {
            context: block.context,
            device: self.contexts.get(block.context).map_or(0, |context| context.device as i32),
            base,
            size: block.size,
            buffer_id: block.buffer_id,
            memory_type: if managed { MEMORYTYPE_DEVICE } else { MEMORYTYPE_HOST },
            host: true,
            managed,
            pool: 0,
            ipc: false,
            synchronous: block.synchronous,
            read_only: block.is_read_only(),
            registered: block.kind == HostKind::Registered,
            handle_types: 0,
        })
    }
}
