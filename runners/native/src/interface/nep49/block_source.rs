//! Takes and gives back the blocks of the operations `churn` and `stress`, by all functions of the
//! handler.

use allocert_suite::observation::Raised;

use crate::churn_and_stress::{Block, BlockSource, Refused, Taken, byte_of};
use crate::host_bytes;
use crate::interface::nep49::handler::HandlerCalls;
use crate::step_result::NoResult;

/// malloc() returned null.
const REFUSED: Result<Taken, Refused> = Err(Refused { fact: "failed" });

fn taken(block: Block, wrong: Option<&'static str>) -> Result<Taken, Refused> {
    Ok(Taken { block, wrong })
}

impl HandlerCalls<'_> {
    /// A block of malloc(), or nothing.
    pub(super) fn malloc_block(self, size_bytes: u64) -> Result<Option<Block>, Raised> {
        let address = self.malloc(size_bytes)? as u64;
        Ok((address != 0).then_some(Block { address, size_bytes }))
    }

    /// A block of calloc(), which must be zeros.
    fn zeroed(self, size_bytes: u64) -> Result<Result<Taken, Refused>, Raised> {
        let address = self.calloc(size_bytes, 1)? as u64;
        if address == 0 {
            return Ok(Err(Refused { fact: "failed_calloc" }));
        }
        let block = Block { address, size_bytes };
        Ok(taken(block, (!self.is_filled(block, 0)).then_some("dirty")))
    }

    /// A block of half the size that realloc() made larger. It must keep the bytes of the half.
    fn grown(self, size_bytes: u64, byte: u8) -> Result<Result<Taken, Refused>, Raised> {
        let Some(half) = self.malloc_block(size_bytes.div_ceil(2))? else { return Ok(REFUSED) };
        self.fill(half, byte);
        let address = self.realloc(half.address as usize, size_bytes)? as u64;
        if address == 0 {
            self.give(half)?;
            return Ok(Err(Refused { fact: "failed_realloc" }));
        }
        let kept = self.is_filled(Block { address, ..half }, byte);
        Ok(taken(Block { address, size_bytes }, (!kept).then_some("lost_realloc")))
    }

    /// Gives pages to all bytes of a block, of which nobody reads what is in them.
    pub(super) fn occupy(self, block: Block) {
        host_bytes::occupy(block.address as usize, block.size_bytes, 1);
    }
}

impl BlockSource for HandlerCalls<'_> {
    const COUNTED: &'static [&'static str] =
        &["failed", "failed_calloc", "failed_realloc", "dirty", "lost_realloc"];

    /// What NumPy's sorts and casts rely on: the alignment of the C type `max_align_t`, or that of
    /// the largest element that the block has room for.
    fn alignment_of(size_bytes: u64) -> u64 {
        1 << size_bytes.clamp(1, 16).ilog2()
    }

    /// By one of the three functions.
    fn take(self, number: u64, size_bytes: u64) -> Result<Result<Taken, Refused>, NoResult> {
        Ok(match number % 3 {
            0 => self.malloc_block(size_bytes)?.map_or(REFUSED, |block| taken(block, None)),
            1 => self.zeroed(size_bytes)?,
            _ => self.grown(size_bytes, byte_of(number))?,
        })
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
