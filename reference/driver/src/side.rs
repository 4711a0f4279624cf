//! What the driver makes of an address: on which side of a copy or fill it is.

use crate::{
    Driver,
    error::{CudaError, Result},
    host_memory::HostKind,
};

/// What lies at a range of addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    pub(crate) kind: Kind,
    /// The context that owns the memory; 0 for pageable memory.
    pub(crate) context: u64,
    /// `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`: calls that need not wait do.
    pub(crate) synchronous: bool,
    /// No copy may write it.
    pub(crate) read_only: bool,
    /// The number of the block; 0 for memory that the driver does not know.
    pub(crate) block: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Device,
    Managed,
    /// Page-locked, by allocation or registration.
    Locked,
    Pageable,
}

const PAGEABLE: Side =
    Side { kind: Kind::Pageable, context: 0, synchronous: false, read_only: false, block: 0 };

impl Kind {
    pub(crate) fn is_host(self) -> bool {
        matches!(self, Self::Locked | Self::Pageable)
    }
}

impl Driver {
    /// What lies at the range; an error if it is neither wholly inside one allocation nor wholly
    /// outside the driver's addresses.
    pub(crate) fn side(&self, address: u64, bytes: u64) -> Result<Side> {
        if address == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        if self.device_of(address).is_some() {
            let block = self.find_device(address).ok_or(CudaError::INVALID_VALUE)?;
            let fits = bytes <= block.size - (address - block.base);
            let side = Side {
                kind: Kind::Device,
                context: block.context,
                synchronous: block.synchronous,
                read_only: false,
                block: block.buffer_id,
            };
            return if fits { Ok(side) } else { Err(CudaError::INVALID_VALUE) };
        }
        Ok(match self.find_host(address) {
            Some((start, block)) if bytes <= block.size - (address - start) => Side {
                kind: match block.kind {
                    HostKind::Managed => Kind::Managed,
                    HostKind::Allocated | HostKind::Registered => Kind::Locked,
                },
                context: block.context,
                synchronous: block.synchronous,
                read_only: block.is_read_only(),
                block: block.buffer_id,
            },
            _ => PAGEABLE,
        })
    }
}
