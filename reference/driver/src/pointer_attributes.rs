//! The attributes of pointers.

use crate::{
    Caller, Driver,
    address_space::Owner,
    error::{CudaError, Result},
    host_memory::HostKind,
};

/// An attribute in the width that CUDA writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeValue {
    Narrow(u32),
    Wide(u64),
}

/// What is common to all memory the driver knows.
struct Facts {
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
}

const MEMORYTYPE_HOST: u32 = 1;
const MEMORYTYPE_DEVICE: u32 = 2;
const SYNC_MEMOPS: u32 = 6;
const ACCESS_READWRITE: u32 = 3;

impl Driver {
    /// `cuPointerGetAttribute`.
    pub fn pointer_attribute(
        &self,
        caller: &Caller,
        attribute: u32,
        address: u64,
    ) -> Result<AttributeValue> {
        use AttributeValue::{Narrow, Wide};
        self.initialized()?;
        let facts = self.facts(address).ok_or(CudaError::INVALID_VALUE)?;
        Ok(match attribute {
            1 => Wide(facts.context),
            2 => Narrow(facts.memory_type),
            3 => {
                self.device_pointer_visible(caller)?;
                Wide(address)
            }
            4 if facts.host => Wide(address),
            SYNC_MEMOPS => Narrow(0),
            7 => Wide(facts.buffer_id),
            8 => Narrow(facts.managed.into()),
            9 => Narrow(facts.device as u32),
            10 => Narrow(facts.ipc.into()),
            11 | 19 => Wide(facts.base),
            12 | 18 => Wide(facts.size),
            13 => Narrow(1),
            14 => Wide(0),
            15 | 21 => Narrow(0),
            16 => Narrow(ACCESS_READWRITE),
            17 => Wide(facts.pool),
            20 => Wide(facts.buffer_id),
            _ => return Err(CudaError::INVALID_VALUE),
        })
    }

    /// What `cuPointerGetAttributes` writes for a pointer that the driver does not know.
    pub fn unknown_pointer_attribute(attribute: u32) -> Result<AttributeValue> {
        match attribute {
            1 | 3 | 4 | 7 | 11 | 12 | 14 | 17..=20 => Ok(AttributeValue::Wide(0)),
            9 => Ok(AttributeValue::Narrow(-2_i32 as u32)),
            2 | 6 | 8 | 10 | 13 | 15 | 16 | 21 => Ok(AttributeValue::Narrow(0)),
            _ => Err(CudaError::INVALID_VALUE),
        }
    }

    /// `cuPointerSetAttribute`: only `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS` can be set.
    pub fn set_pointer_attribute(&self, caller: &Caller, attribute: u32, address: u64) -> Result {
        self.current(caller)?;
        if attribute == SYNC_MEMOPS && self.find_device(address).is_some() {
            Ok(())
        } else {
            Err(CudaError::INVALID_VALUE)
        }
    }

    /// Base and size in bytes of the live allocation around `address`, of any kind.
    pub fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        match self.find_device(address) {
            Some(block) => Some((block.base, block.size)),
            None => self.find_host(address).map(|(base, block)| (base, block.size)),
        }
    }

    fn device_pointer_visible(&self, caller: &Caller) -> Result {
        if caller.thread.current() == 0 { Err(CudaError::INVALID_CONTEXT) } else { Ok(()) }
    }

    fn facts(&self, address: u64) -> Option<Facts> {
        if let Some(block) = self.find_device(address) {
            return Some(Facts {
                context: block.context,
                device: self.device_of(address)? as i32,
                base: block.base,
                size: block.size,
                buffer_id: block.buffer_id,
                memory_type: MEMORYTYPE_DEVICE,
                host: false,
                managed: false,
                pool: if let Owner::Pool(pool) = block.owner { pool } else { 0 },
                ipc: block.owner == Owner::Plain,
            });
        }
        let (base, block) = self.find_host(address)?;
        let managed = block.kind == HostKind::Managed;
        Some(Facts {
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
        })
    }
}
