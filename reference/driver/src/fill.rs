//! Fills, `cuMemset*`.

use allocert_contract::StreamHandle;

use crate::{
    Caller, Driver,
    error::{CudaError, Result},
    side::Kind,
    transfer::Fill,
    work_queue::Work,
};

impl Driver {
    /// `cuMemset*`. Waits only for managed and page-locked memory, and for memory that demands it.
    pub fn memset(&mut self, caller: &Caller, fill: Fill) -> Result {
        let stream = self.stream(caller, StreamHandle::DEFAULT)?;
        let Some((operation, waits)) = self.queue_fill(stream, fill)? else { return Ok(()) };
        if waits { self.wait(stream, operation) } else { Ok(()) }
    }

    /// `cuMemset*Async`.
    pub fn memset_async(&mut self, caller: &Caller, fill: Fill, stream: StreamHandle) -> Result {
        let stream = self.stream(caller, stream)?;
        self.queue_fill(stream, fill).map(|_| ())
    }

    /// The operation, and whether a call that may wait does; `None` if there is nothing to fill.
    fn queue_fill(&mut self, stream: u64, fill: Fill) -> Result<Option<(u64, bool)>> {
        let width = fill.count.checked_mul(fill.element_bytes).ok_or(CudaError::INVALID_VALUE)?;
        if width == 0 || fill.rows == 0 {
            return Ok(None);
        }
        let span = fill.to.span(fill.extent()).ok_or(CudaError::INVALID_VALUE)?;
        let side = self.side(fill.to.address, span)?;
        let aligned = [fill.to.address, fill.to.pitch]
            .into_iter()
            .all(|value| value.is_multiple_of(fill.element_bytes));
        if side.kind == Kind::Pageable || !aligned {
            return Err(CudaError::INVALID_VALUE);
        }
        let work = Work::Fill { fill, block: side.host_block };
        let operation = self.enqueue(stream, work, None)?;
        Ok(Some((operation, side.kind != Kind::Device || side.synchronous)))
    }
}
