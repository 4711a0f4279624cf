use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::pending::Discard;
use crate::{
    Cuda, DeviceMemory, Driver, Error, IpcHandle, Ledger, Memory, MemoryKind, Pending, Result,
    Taken, Token,
};

/// The simplest device half: one driver allocation for each allocation. It does not report free
/// memory; a subclass of `HostOnlyCUDAMemoryManager` may leave that out.
#[derive(Debug)]
pub struct Direct<R = Cuda> {
    driver: R,
    pending: Arc<Pending<R>>,
    ledger: Mutex<Ledger<Block>>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    pointer: u64,
    size_bytes: u64,
}

impl<R: Driver> Direct<R> {
    /// Released memory goes through `pending`.
    #[must_use]
    pub fn new(driver: R, pending: Arc<Pending<R>>) -> Self {
        Self { driver, pending, ledger: Mutex::new(Ledger::device()) }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger<Block>> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R: Driver> DeviceMemory for Direct<R> {
    fn memalloc(&self, size_bytes: u64) -> Result<Memory> {
        // The driver refuses 0; one byte gives an allocation of no bytes its own address.
        let pointer = self.pending.retrying(|| Ok(self.driver.mem_alloc(size_bytes.max(1))?))?;
        let token = self.ledger().insert(Block { pointer, size_bytes });
        Ok(Memory {
            kind: MemoryKind::Device,
            device_pointer: pointer,
            host_pointer: 0,
            size_bytes,
            token,
        })
    }

    fn release(&self, token: Token) -> Result<()> {
        let taken = self.ledger().take(token)?;
        match taken {
            Taken::Forgotten => Ok(()),
            Taken::Live(Block { pointer, size_bytes }) => {
                self.pending.add(Discard::Device { pointer, size_bytes: size_bytes.max(1) })
            }
        }
    }

    fn get_ipc_handle(&self, token: Token, offset_bytes: u64) -> Result<IpcHandle> {
        let block = self.ledger().get(token).copied();
        let Block { pointer, size_bytes } = block.ok_or_else(|| not_live(token))?;
        let address = inside(pointer, size_bytes, offset_bytes)?;
        // The driver may place small allocations in a larger one, so ask it for the base.
        let base = self.driver.mem_base(pointer)?;
        share(&self.driver, base, address, size_bytes)
    }

    fn reset(&self) {
        let live = self.ledger().clear();
        for block in live {
            // A context that is going away may refuse, and this function reports no error.
            let _ = self.driver.mem_free(block.pointer);
        }
    }
}

/// The address of the byte at `offset_bytes`, if the allocation has it.
pub(crate) fn inside(pointer: u64, size_bytes: u64, offset_bytes: u64) -> Result<u64> {
    match offset_bytes < size_bytes {
        true => Ok(pointer + offset_bytes),
        false => Err(Error::InvalidValue(format!(
            "offset {offset_bytes} is not inside {size_bytes} bytes"
        ))),
    }
}

/// An IPC handle for `address` inside the driver's allocation at `base`.
pub(crate) fn share<R: Driver>(
    driver: &R,
    base: u64,
    address: u64,
    size_bytes: u64,
) -> Result<IpcHandle> {
    Ok(IpcHandle {
        handle: driver.ipc_handle(base)?,
        size_bytes,
        offset_bytes: address - base,
        device_uuid: driver.device_uuid()?,
    })
}

pub(crate) fn not_live(token: Token) -> Error {
    Error::InvalidValue(format!("token {:#x} names no live device allocation", token.0))
}
