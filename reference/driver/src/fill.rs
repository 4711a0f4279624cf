//! Fills, `cuMemset*`.

use allocert_contract::StreamHandle;

use crate::{
    Caller, Driver,
    address_space::Owner,
    error::{CudaError, Result},
    side::Kind,
    transfer::Fill,
    work_queue::Work,
};

impl Driver {
    /// `cuMemset*`. Waits only for page-locked memory, and for memory that demands it, as managed
    /// memory does at first.
    pub fn memset(&mut self, caller: &Caller, fill: Fill) -> Result {
        let stream = self.stream(caller, StreamHandle::DEFAULT)?;
        match self.queue_fill(stream, fill, true)? {
            Some(operation) => self.wait(stream, operation),
            None => Ok(()),
        }
    }

    /// `cuMemset*Async`.
    pub fn memset_async(&mut self, caller: &Caller, fill: Fill, stream: StreamHandle) -> Result {
        let stream = self.stream(caller, stream)?;
        self.queue_fill(stream, fill, false).map(|_| ())
    }

    /// The operation, if a call that may wait does.
    fn queue_fill(&mut self, stream: u64, fill: Fill, may_wait: bool) -> Result<Option<u64>> {
        let width = fill.count.checked_mul(fill.element_bytes).ok_or(CudaError::INVALID_VALUE)?;
        if width == 0 || fill.rows == 0 {
            return Ok(None);
        }
        let span = fill.to.span(fill.extent()).ok_or(CudaError::INVALID_VALUE)?;
        let side = self.side(fill.to.address, span)?;
        let is_aligned = |value: u64| value.is_multiple_of(fill.element_bytes);
        // The pitch of a single row does not count.
        let pitch_fits = fill.rows == 1 || fill.to.pitch >= width && is_aligned(fill.to.pitch);
        let unfit = side.kind == Kind::Pageable || side.read_only;
        if unfit
            || !self.reaches(stream, fill.to.address)
            || !is_aligned(fill.to.address)
            || !pitch_fits
        {
            return Err(CudaError::INVALID_VALUE);
        }
        let waits = may_wait && (side.kind == Kind::Locked || side.synchronous);
        if waits {
            self.no_host_function_before(self.order_before(stream))?;
        }
        let work = Work::Fill { fill, block: side.block };
        let operation = self.enqueue(stream, work, None)?;
        Ok(waits.then_some(operation))
    }

    /// Whether the stream's context reaches the memory: that of another device needs peer access,
    /// and that of a pool of another device access to the pool.
    fn reaches(&self, stream: u64, address: u64) -> bool {
        let Some(block) = self.find_device(address) else { return true };
        let near = self.streams.get(stream).and_then(|near| self.contexts.get(near.context));
        let Ok(near) = near else { return true };
        match block.owner {
            Owner::Pool(_) => self.reaches_pool_at(stream, address),
            _ if self.device_of(address) == Some(near.device) => true,
            _ => near.peers.contains(&block.context),
        }
    }
}
