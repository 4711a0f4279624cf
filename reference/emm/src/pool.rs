use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use allocert_fit::{BlockId, Fit};

use crate::direct::{inside, not_live, share};
use crate::{
    Cuda, DeviceMemory, Driver, HostOnly, IpcHandle, Ledger, Memory, MemoryInfo, MemoryKind,
    Pending, Result, Taken, Token,
};

/// A pool: device memory comes from large driver allocations (slabs) and goes back to them at
/// release, without a driver call.
///
/// Slabs are kept until memory runs short or the manager is reset. Inside `defer_cleanup` the pool
/// works as ever, but frees no slab (NBEP 7, "Deallocation strategies", names this policy): running
/// out of memory there is reported although empty slabs may be held. What the pool holds and could
/// serve counts as free in `get_memory_info`.
pub type Pool<R = Cuda> = HostOnly<Slabs<R>, R>;

/// The device half of [`Pool`].
#[derive(Debug)]
pub struct Slabs<R> {
    driver: R,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    fit: Fit,
    ledger: Ledger<Piece>,
    depth: usize,
}

/// A live allocation. Its block may be larger than what was asked for.
#[derive(Clone, Copy, Debug)]
struct Piece {
    block: BlockId,
    size_bytes: u64,
}

/// Every block's address and size is a multiple of this: what `cuMemAlloc` aligns to at least.
const GRAIN_BYTES: u64 = 256;

/// Sixteen of the driver's 2 MiB pages: few enough driver calls, and little to hold for a small
/// program.
const SLAB_BYTES: u64 = 32 << 20;

impl<R: Driver> Pool<R> {
    #[must_use]
    pub fn new(driver: R) -> Self {
        let pending = Arc::new(Pending::new(driver.clone()));
        Self::with_device(driver.clone(), pending, Slabs::new(driver))
    }
}

impl<R: Driver> Slabs<R> {
    #[must_use]
    pub fn new(driver: R) -> Self {
        let state = State { fit: Fit::new(GRAIN_BYTES), ledger: Ledger::device(), depth: 0 };
        Self { driver, state: Mutex::new(state) }
    }

    /// Asks the driver for a slab of at least `need_bytes`. Where memory is short it gives back
    /// what the pool does not use and asks for no more than is needed.
    fn grow(&self, need_bytes: u64) -> Result<(u64, u64)> {
        let slab_bytes = need_bytes.max(SLAB_BYTES);
        match self.driver.mem_alloc(slab_bytes) {
            Ok(slab) => Ok((slab, slab_bytes)),
            Err(error)
                if error.is_out_of_memory() && (self.shrink() || need_bytes < slab_bytes) =>
            {
                Ok((self.driver.mem_alloc(need_bytes)?, need_bytes))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Gives back the slabs from which nothing is taken, unless inside a `defer` pair: then it
    /// answers false.
    fn shrink(&self) -> bool {
        let unused = {
            let mut state = self.state();
            if state.depth > 0 {
                return false;
            }
            state.fit.remove_unused()
        };
        self.free(unused.into_iter().map(|slab| slab.address));
        true
    }

    /// Frees slabs without holding a lock. The driver refuses only if the context went away, which
    /// is no error for the caller.
    fn free(&self, slabs: impl IntoIterator<Item = u64>) {
        for slab in slabs {
            let _ = self.driver.mem_free(slab);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn cut(&mut self, need_bytes: u64, size_bytes: u64) -> Option<Memory> {
        let block = self.fit.take(need_bytes)?;
        let (device_pointer, _slab) = self.fit.locate(block);
        let token = self.ledger.insert(Piece { block, size_bytes });
        Some(Memory {
            kind: MemoryKind::Device,
            device_pointer,
            host_pointer: 0,
            size_bytes,
            token,
        })
    }
}

impl<R: Driver> DeviceMemory for Slabs<R> {
    fn memalloc(&self, size_bytes: u64) -> Result<Memory> {
        let need_bytes = in_grains(size_bytes);
        if let Some(memory) = self.state().cut(need_bytes, size_bytes) {
            return Ok(memory);
        }
        let (slab, slab_bytes) = self.grow(need_bytes)?;
        let mut state = self.state();
        state.fit.add(slab, slab_bytes);
        Ok(state
            .cut(need_bytes, size_bytes)
            .expect("the slab just added holds it, and the lock is held"))
    }

    fn release(&self, token: Token) -> Result<()> {
        let mut state = self.state();
        if let Taken::Live(piece) = state.ledger.take(token)? {
            state.fit.give(piece.block);
        }
        Ok(())
    }

    fn get_memory_info(&self) -> Result<MemoryInfo> {
        let driver = self.driver.mem_info()?;
        let held_bytes = self.state().fit.free_bytes();
        let free_bytes = driver.free_bytes.saturating_add(held_bytes).min(driver.total_bytes);
        Ok(MemoryInfo { free_bytes, ..driver })
    }

    fn get_ipc_handle(&self, token: Token, offset_bytes: u64) -> Result<IpcHandle> {
        let (address, slab, size_bytes) = {
            let state = self.state();
            let piece = state.ledger.get(token).ok_or_else(|| not_live(token))?;
            let (pointer, slab) = state.fit.locate(piece.block);
            (inside(pointer, piece.size_bytes, offset_bytes)?, slab, piece.size_bytes)
        };
        share(&self.driver, slab, address, size_bytes)
    }

    fn reset(&self) {
        let slabs = {
            let mut state = self.state();
            state.ledger.clear();
            state.fit.clear()
        };
        self.free(slabs);
    }

    fn defer_begin(&self) {
        self.state().depth += 1;
    }

    fn defer_end(&self) {
        let mut state = self.state();
        state.depth = state.depth.saturating_sub(1);
    }
}

/// Rounded up to grains, at least one. A size beyond the address space stays larger than the memory
/// of any driver.
fn in_grains(size_bytes: u64) -> u64 {
    size_bytes.max(1).checked_next_multiple_of(GRAIN_BYTES).unwrap_or(!(GRAIN_BYTES - 1))
}
