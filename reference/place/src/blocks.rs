//! What is known of each block, by its number. The table grows in place: a block's entry never
//! moves, so threads read it without a lock.

use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// A block, cut from a chunk.
#[derive(Debug)]
#[repr(align(32))]
pub(crate) struct Block {
    /// The address, with [`LIVE`] as long as the caller has the block. 0 for none.
    word: AtomicU64,
    /// As asked for.
    size_bytes: AtomicU64,
    class: AtomicU32,
}

/// Addresses are multiples of 64, so this bit is free.
const LIVE: u64 = 1;
/// A block without a class.
const LARGE: u32 = u32::MAX;

impl Block {
    const fn none() -> Self {
        Self { word: AtomicU64::new(0), size_bytes: AtomicU64::new(0), class: AtomicU32::new(0) }
    }

    /// The block lies at `address` now, and nobody has it.
    pub(crate) fn cut(&self, address: u64, class: Option<usize>) {
        self.class.store(class.map_or(LARGE, |class| class as u32), Relaxed);
        self.word.store(address, Release);
    }

    /// The number names no block now.
    pub(crate) fn joined(&self) {
        self.word.store(0, Relaxed);
    }

    /// Gives the block to a caller. Only who took it from the idle ones may do so.
    #[inline]
    pub(crate) fn begin(&self, size_bytes: u64) -> u64 {
        let address = self.address();
        self.size_bytes.store(size_bytes, Relaxed);
        self.word.store(address | LIVE, Release);
        address
    }

    /// Takes the block from its caller. Of several threads that try, one succeeds.
    #[inline]
    pub(crate) fn end(&self, address: u64) -> bool {
        self.word.compare_exchange(address | LIVE, address, AcqRel, Relaxed).is_ok()
    }

    /// The caller keeps the block after all.
    pub(crate) fn resume(&self) {
        self.word.fetch_or(LIVE, Release);
    }

    #[inline]
    pub(crate) fn address(&self) -> u64 {
        self.word.load(Acquire) & !LIVE
    }

    #[inline]
    pub(crate) fn size_bytes(&self) -> u64 {
        self.size_bytes.load(Relaxed)
    }

    #[inline]
    pub(crate) fn class(&self) -> Option<usize> {
        Some(self.class.load(Relaxed)).filter(|class| *class != LARGE).map(|class| class as usize)
    }
}

/// All blocks. Each part of the table is as long as all parts before it together.
#[derive(Debug)]
pub(crate) struct Blocks {
    parts: [OnceLock<Box<[Block]>>; PARTS],
}

const FIRST_BITS: u32 = 10;
/// Enough for 32-bit numbers.
const PARTS: usize = 23;

impl Blocks {
    pub(crate) const fn new() -> Self {
        Self { parts: [const { OnceLock::new() }; PARTS] }
    }

    /// Makes an entry for this number if there is none.
    pub(crate) fn ensure(&self, number: u32) {
        let (part, _) = position(number);
        self.parts[part].get_or_init(|| {
            let length = 1_usize << (FIRST_BITS as usize + part);
            (0..length).map(|_| Block::none()).collect()
        });
    }

    /// The entry of a number for which [`Blocks::ensure`] was called.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &Block {
        let (part, at) = position(number);
        let part = self.parts[part].get().expect("each number that is known has an entry");
        &part[at]
    }
}

/// Part of the table, and place in it.
#[inline]
fn position(number: u32) -> (usize, usize) {
    let from_first = u64::from(number) + (1 << FIRST_BITS);
    let power = from_first.ilog2();
    ((power - FIRST_BITS) as usize, (from_first - (1 << power)) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_an_entry_of_its_own() {
        let mut expected = 0;
        for part in 0..4 {
            for at in 0..(1 << (FIRST_BITS as usize + part)) {
                assert_eq!(position(expected), (part, at));
                expected += 1;
            }
        }
        assert!(position(u32::MAX).0 < PARTS);
    }

    #[test]
    fn a_block_ends_once() {
        let blocks = Blocks::new();
        blocks.ensure(3000);
        let block = blocks.get(3000);
        block.cut(4096, Some(7));
        assert!(!block.end(4096));
        assert_eq!(block.begin(100), 4096);
        assert!(!block.end(8192));
        assert!(block.end(4096));
        assert!(!block.end(4096));
        block.resume();
        assert_eq!((block.address(), block.size_bytes(), block.class()), (4096, 100, Some(7)));
        assert!(block.end(4096));
    }
}
