//! Takes and gives back the blocks of the operations `churn` and `stress`.

use allocert_abi::place::Place;
use allocert_suite::observation::Raised;

use crate::churn_and_stress::{Block, BlockSource, Refused, Taken};
use crate::interface::place::calls::{PlaceCalls, is_uncalled};
use crate::interface::place::memory::Memory;
use crate::step_result::{NoResult, error_of_worker};

/// The stream 0 of the driver.
pub(crate) const DEFAULT_STREAM: u64 = 0;

/// `allocert_place.h`, alloc.
const ALIGNMENT_BYTES: u64 = 32;

/// The blocks of one place.
#[derive(Clone, Copy)]
pub(crate) struct PlaceBlocks<'a> {
    pub(crate) calls: &'a PlaceCalls<'a>,
    pub(crate) memory: &'a Memory<'a>,
    pub(crate) place: Place,
}

impl BlockSource for PlaceBlocks<'_> {
    const COUNTED: &'static [&'static str] = &["failed"];

    fn alignment_of(_size_bytes: u64) -> u64 {
        ALIGNMENT_BYTES
    }

    /// A case whose place the library does not serve, or whose table it cannot use, ends here.
    fn take(self, _number: u64, size_bytes: u64) -> Result<Result<Taken, Refused>, NoResult> {
        match self.calls.alloc(self.place, size_bytes, DEFAULT_STREAM) {
            Err(NoResult::Raised(raised)) if is_uncalled(&raised) => Err(raised.into()),
            Err(NoResult::Declined { because }) => Err(NoResult::Declined { because }),
            Ok((0, _)) | Err(_) => Ok(Err(Refused { fact: "failed" })),
            Ok((address, _)) => {
                let block = Block { address, size_bytes };
                Ok(Ok(Taken { block, wrong: None }))
            }
        }
    }

    fn give(self, block: Block) -> Result<(), Raised> {
        self.calls.free(self.place, block, DEFAULT_STREAM).map(drop).map_err(|why| match why {
            NoResult::Raised(raised) => raised,
            NoResult::Declined { because } | NoResult::Skipped { because } => {
                error_of_worker("NoPlace", because, None)
            }
            NoResult::Unsupported { operation } => error_of_worker("WorkerError", operation, None),
        })
    }

    fn fill(self, block: Block, byte: u8) {
        // One that cannot be written is found when it is read.
        let _ = self.memory.fill(self.place, block, byte);
    }

    fn is_filled(self, block: Block, byte: u8) -> bool {
        self.memory.is_filled(self.place, block, byte)
    }
}
