use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::pending::Discard;
use crate::{Driver, Error, HostFlags, Ledger, Memory, MemoryKind, Pending, Result, Taken, Token};

/// The host half of a manager: page-locked and pinned memory.
#[derive(Debug)]
pub(crate) struct Host<R> {
    driver: R,
    pending: Arc<Pending<R>>,
    ledger: Mutex<Ledger<Region>>,
}

#[derive(Clone, Copy, Debug)]
enum Region {
    Allocated { pointer: usize, size_bytes: u64 },
    Pinned { pointer: usize },
}

impl<R: Driver> Host<R> {
    pub(crate) fn new(driver: R, pending: Arc<Pending<R>>) -> Self {
        Self { driver, pending, ledger: Mutex::new(Ledger::host()) }
    }

    pub(crate) fn memhostalloc(&self, size_bytes: u64, flags: HostFlags) -> Result<Memory> {
        // The driver refuses 0; one byte gives an allocation of no bytes its own address. For the
        // same reason the queue counts at least one byte.
        let backing_bytes = size_bytes.max(1);
        let pointer =
            self.pending.retrying(|| Ok(self.driver.host_alloc(backing_bytes, flags)?))?;
        let region = Region::Allocated { pointer, size_bytes: backing_bytes };
        self.admit(region, pointer, size_bytes, flags.mapped)
    }

    pub(crate) fn mempin(&self, pointer: usize, size_bytes: u64, mapped: bool) -> Result<Memory> {
        let end = (pointer as u64).checked_add(size_bytes);
        if pointer == 0 || size_bytes == 0 || end.is_none() {
            let text = format!("{size_bytes} bytes at {pointer:#x} are no region of host memory");
            return Err(Error::InvalidValue(text));
        }
        self.pending.retrying(|| Ok(self.driver.host_register(pointer, size_bytes, mapped)?))?;
        self.admit(Region::Pinned { pointer }, pointer, size_bytes, mapped)
    }

    pub(crate) fn release(&self, token: Token) -> Result<()> {
        let taken = self.ledger().take(token)?;
        match taken {
            Taken::Forgotten => Ok(()),
            // At once, also inside a defer pair: the owner may pin the same bytes again right away.
            Taken::Live(Region::Pinned { pointer }) => Ok(self.driver.host_unregister(pointer)?),
            Taken::Live(Region::Allocated { pointer, size_bytes }) => {
                self.pending.add(Discard::Host { pointer, size_bytes })
            }
        }
    }

    pub(crate) fn reset(&self) {
        let live = self.ledger().clear();
        for region in live {
            // A context that is going away may refuse, and this function reports no error.
            let _ = self.give_back(region);
        }
    }

    /// Enters a new region, with its device address if it is mapped.
    fn admit(
        &self,
        region: Region,
        pointer: usize,
        size_bytes: u64,
        mapped: bool,
    ) -> Result<Memory> {
        let (kind, device_pointer) = match mapped {
            false => (MemoryKind::Pinned, 0),
            true => match self.driver.host_device_pointer(pointer) {
                Ok(device_pointer) => (MemoryKind::Mapped, device_pointer),
                Err(error) => {
                    let _ = self.give_back(region);
                    return Err(error.into());
                }
            },
        };
        let token = self.ledger().insert(region);
        Ok(Memory { kind, device_pointer, host_pointer: pointer, size_bytes, token })
    }

    fn give_back(&self, region: Region) -> Result<()> {
        match region {
            Region::Allocated { pointer, .. } => Ok(self.driver.host_free(pointer)?),
            Region::Pinned { pointer } => Ok(self.driver.host_unregister(pointer)?),
        }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger<Region>> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
