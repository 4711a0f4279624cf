//! Takes and gives back the blocks of the operations `churn` and `stress`, by all functions of the
//! handler.

use allocert_suite::observation::Raised;

use crate::churn_and_stress::{Block, BlockSource, Refused, Taken};
use crate::host_bytes;
use crate::interface::nep49::handler::HandlerCalls;
use crate::step_result::NoResult;

impl HandlerCalls<'_> {
    /// A block of malloc(), or nothing.
    pub(super) fn malloc_block(self, size_bytes: u64) -> Result<Option<Block>, Raised> {
        let address = self.malloc(size_bytes)? as u64;
        Ok((address != 0).then_some(Block { address, size_bytes }))
    }

    /// Gives pages to all bytes of a block, of which nobody reads what is in them.
    pub(super) fn occupy(self, block: Block) {
        host_bytes::occupy(block.address as usize, block.size_bytes, 1);
    }
}

impl BlockSource for HandlerCalls<'_> {
    const HAS_ZEROED: bool = true;
    const REFUSALS: &'static [&'static str] = &["failed", "failed_calloc", "failed_realloc"];

    /// What NumPy's sorts and casts rely on: the alignment of the C type `max_align_t`, or that of
    /// the largest element that the block has room for.
    fn alignment_of(size_bytes: u64) -> u64 {
        1 << size_bytes.clamp(1, 16).ilog2()
    }

    /// By one of the three functions.
    fn take(self, number: u64, size_bytes: u64) -> Result<Result<Taken, Refused>, NoResult> {
        let (address, fact) = match number % 3 {
            0 => (self.malloc(size_bytes)?, "failed"),
            1 => (self.calloc(size_bytes, 1)?, "failed_calloc"),
            _ => match self.malloc(size_bytes.div_ceil(2))? {
                0 => (0, "failed"),
                half => match self.realloc(half, size_bytes)? {
                    0 => {
                        self.free(half, size_bytes.div_ceil(2))?;
                        (0, "failed_realloc")
                    }
                    whole => (whole, "failed_realloc"),
                },
            },
        };
        if address == 0 {
            return Ok(Err(Refused { fact }));
        }
        let block = Block { address: address as u64, size_bytes };
        Ok(Ok(Taken { block, dirty: number % 3 == 1 && !self.is_filled(block, 0) }))
    }

    fn give(self, block: Block) -> Result<(), Raised> {
        self.free(block.address as usize, block.size_bytes)
    }

    fn fill(self, block: Block, byte: u8) {
        // One that cannot be written is found when it is read.
        let _ = host_bytes::fill(block.address as usize, block.size_bytes, byte);
    }

    fn is_filled(self, block: Block, byte: u8) -> bool {
        host_bytes::holds(block.address as usize, block.size_bytes, byte)
    }
}
