//! Which blocks are alive, and what was counted.

use std::collections::HashMap;

use allocert_nep49::Statistics;

/// How a block is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Malloc,
    Calloc,
    /// In place of another block.
    Realloc,
}

/// The blocks of one handler.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Address of a live block -> its size in bytes, as asked for.
    sizes: HashMap<usize, usize>,
    pub(crate) statistics: Statistics,
}

impl Ledger {
    pub(crate) fn size_bytes(&self, address: usize) -> Option<usize> {
        self.sizes.get(&address).copied()
    }

    /// Writes a new block down. `false` if there is no memory to do so; then the call failed.
    pub(crate) fn given(&mut self, request: Request, address: usize, size_bytes: usize) -> bool {
        if self.sizes.try_reserve(1).is_err() {
            self.statistics.failed_calls += 1;
            return false;
        }
        // An address comes twice if the first block went with its context.
        self.taken(address);
        self.sizes.insert(address, size_bytes);
        let statistics = &mut self.statistics;
        match request {
            Request::Malloc => statistics.malloc_calls += 1,
            Request::Calloc => statistics.calloc_calls += 1,
            Request::Realloc => statistics.realloc_calls += 1,
        }
        statistics.live_blocks += 1;
        statistics.live_bytes += size_bytes as u64;
        statistics.peak_bytes = statistics.peak_bytes.max(statistics.live_bytes);
        true
    }

    /// Strikes a block out. Its size, if there was one.
    pub(crate) fn taken(&mut self, address: usize) -> Option<usize> {
        let size_bytes = self.sizes.remove(&address)?;
        self.statistics.live_blocks -= 1;
        self.statistics.live_bytes -= size_bytes as u64;
        Some(size_bytes)
    }
}
