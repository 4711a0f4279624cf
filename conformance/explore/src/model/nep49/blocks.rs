//! What the operations do to the blocks, and what must come of each.

use allocert_suite::interface::shared::{Fill, Read};

use crate::expected::{is, multiple_of, not};
use crate::model::nep49::{Block, Demand, Expected, LARGEST_BYTES, Model, Origin, TOO_MUCH};
use crate::written_bytes::WrittenBytes;

/// Limits of the two operations with many blocks, so that a step takes little time.
const LONGEST_TIMES: u64 = 64;
const MOST_THREADS: u32 = 8;
const LARGEST_OF_MANY: u64 = 64 << 10;

impl Model {
    /// A request for a new block. No block comes of one that is for too much.
    pub(super) fn request(
        &mut self,
        name: &str,
        size_bytes: u64,
        demand: Demand,
        fresh: bool,
    ) -> Option<Expected> {
        if TOO_MUCH.contains(&size_bytes) && !fresh {
            return Some(Expected::nothing().facts(Demand::TooMuchIsNull, [("pointer", is(0))]));
        }
        if !(1..=LARGEST_BYTES).contains(&size_bytes) {
            return None;
        }
        self.blocks.push(Block {
            name: name.into(),
            size_bytes,
            of_other_thread: fresh,
            doubtful: false,
            bytes: WrittenBytes::default(),
            origins: WrittenBytes::default(),
        });
        Some(served(demand, size_bytes))
    }

    pub(super) fn realloc(
        &mut self,
        block: &str,
        size_bytes: u64,
        name: &str,
        fresh: bool,
    ) -> Option<Expected> {
        let at = self.block(block)?;
        if self.blocks[at].doubtful || !(1..=LARGEST_BYTES).contains(&size_bytes) {
            return None;
        }
        let old = self.blocks.remove(at);
        let other_thread = fresh || old.of_other_thread;
        let mut new = Block {
            name: name.into(),
            size_bytes,
            of_other_thread: fresh,
            bytes: old.bytes.until(size_bytes),
            origins: WrittenBytes::default(),
            ..old
        };
        new.mark(Origin::Realloc);
        self.blocks.push(new);
        let expected = served(Demand::ReallocServed, size_bytes);
        Some(match other_thread {
            true => expected.facts(Demand::BlockOfOtherThread, [("pointer", not(0))]),
            false => expected,
        })
    }

    pub(super) fn realloc_too_much(&mut self, block: &str, size_bytes: u64) -> Option<Expected> {
        let at = self.block(block)?;
        if self.blocks[at].doubtful || !TOO_MUCH.contains(&size_bytes) {
            return None;
        }
        self.blocks[at].mark(Origin::FailedRealloc);
        let null = [("pointer", is(0))];
        Some(Expected::nothing().facts(Demand::FailedReallocKeepsBlock, null))
    }

    pub(super) fn free(&mut self, name: &str, fresh: bool, expected: Expected) -> Option<Expected> {
        let block = self.blocks.remove(self.block(name)?);
        Some(if (fresh || block.of_other_thread) && !block.doubtful {
            expected.returns(Demand::BlockOfOtherThread)
        } else {
            expected
        })
    }

    pub(super) fn fill(&mut self, fill: &Fill) -> Option<Expected> {
        let at = self.block(&fill.memory)?;
        let block = &mut self.blocks[at];
        let (start, end) = block.part(fill.offset, fill.size)?;
        block.know(start, end, fill.byte, Origin::Fill);
        Some(Expected::nothing().returns(Demand::BlockKeepsBytes))
    }

    /// Legal only where the bytes are known.
    pub(super) fn read(&mut self, read: &Read) -> Option<Expected> {
        let block = &self.blocks[self.block(&read.memory)?];
        let (start, end) = block.part(read.offset, read.size)?;
        let byte = block.bytes.uniform(start, end)?;
        Some(Expected::nothing().facts(block.demand(start, end), [("uniform", is(byte))]))
    }
}

/// There is a block, and it is aligned.
fn served(demand: Demand, size_bytes: u64) -> Expected {
    let expected = Expected::nothing().facts(demand, [("pointer", not(0))]);
    // The largest element that the block has room for.
    match 1 << size_bytes.clamp(1, 16).ilog2() {
        1 => expected,
        alignment => expected.facts(Demand::BlockAligned, [("pointer", multiple_of(alignment))]),
    }
}

/// Many requests and releases in a row.
pub(super) fn churn(size_bytes: u64, times: u64, hold: u64) -> Option<Expected> {
    let modest = (1..=LARGEST_OF_MANY).contains(&size_bytes)
        && (1..=LONGEST_TIMES).contains(&times)
        && hold > 0;
    modest.then(|| {
        Expected::nothing()
            .facts(Demand::BlocksInTurn, [("failed", is(0))])
            .facts(Demand::BlocksDisjoint, [("overlaps", is(0))])
            .facts(Demand::BlockAligned, [("misaligned", is(0))])
            .facts(Demand::BlockKeepsBytes, [("changed", is(0))])
            .facts(Demand::CallocZeros, [("dirty", is(0))])
    })
}

/// The same on several threads at once.
pub(super) fn stress(threads: u32, size_bytes: u64, times: u64) -> Option<Expected> {
    let modest = (1..=LARGEST_OF_MANY).contains(&size_bytes)
        && (1..=LONGEST_TIMES).contains(&times)
        && (2..=MOST_THREADS).contains(&threads);
    let none = ["failed", "changed", "dirty", "misaligned"].map(|fact| (fact, is(0)));
    modest.then(|| Expected::nothing().facts(Demand::ThreadsAtOnce, none))
}
