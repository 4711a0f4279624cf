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
    /// 0 for none. Changes only while no caller has the block.
    address: AtomicU64,
    /// As asked for.
    size_bytes: AtomicU64,
    /// Odd as long as a caller has the block. Each caller makes it larger by 2.
    state: AtomicU32,
    /// The callers whose states are below this one have lost the block at [`Blocks::clear`].
    forgotten: AtomicU32,
    class: AtomicU32,
}

/// A block without a class.
const LARGE: u32 = u32::MAX;
/// No caller gets a block with this state, or a higher one: [`Name`] has no more bits for it.
const LAST_STATE: u32 = (1 << 31) - 2;

/// Names what one caller got, among all that a pool ever gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    number: u32,
    state: u32,
}

impl Name {
    /// Never 0, and less than two to the power of 63.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        (self.state as u64) << 32 | (self.number as u64 + 1)
    }

    /// What [`Name::to_bits`] gave, or nothing.
    #[must_use]
    pub fn from_bits(bits: u64) -> Option<Self> {
        let number = (bits & u64::from(u32::MAX)).checked_sub(1)?;
        let state = (bits >> 32) as u32;
        // 2 to the power of 32, less 1, is no number.
        (state % 2 == 1 && state < LAST_STATE).then_some(Self { number: number as u32, state })
    }

    #[inline]
    pub(crate) const fn new(number: u32, state: u32) -> Self {
        Self { number, state }
    }

    pub(crate) fn number(self) -> u32 {
        self.number
    }

    pub(crate) fn state(self) -> u32 {
        self.state
    }
}

/// What became of the block that a name names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Live,
    /// The caller gave it back.
    Ended,
    /// It was lost at [`Blocks::clear`].
    Forgotten,
    /// No caller ever had it.
    Never,
}

impl Block {
    const fn none() -> Self {
        Self {
            address: AtomicU64::new(0),
            size_bytes: AtomicU64::new(0),
            state: AtomicU32::new(0),
            forgotten: AtomicU32::new(0),
            class: AtomicU32::new(0),
        }
    }

    /// The block lies at `address` now, and nobody has it.
    pub(crate) fn cut(&self, address: u64, class: Option<usize>) {
        self.class.store(class.map_or(LARGE, |class| class as u32), Relaxed);
        self.address.store(address, Release);
    }

    /// The number names no block now.
    pub(crate) fn joined(&self) {
        self.address.store(0, Relaxed);
    }

    /// Whether the number has had so many callers that another block needs another number.
    pub(crate) fn is_spent(&self) -> bool {
        self.state.load(Relaxed) >= LAST_STATE
    }

    /// Whether the caller with this state is the last one that the number can have.
    #[inline]
    pub(crate) fn is_last(state: u32) -> bool {
        state + 1 >= LAST_STATE
    }

    /// Gives the block to a caller. Only who took it from the idle ones may do so. Its state.
    #[inline]
    pub(crate) fn begin(&self, size_bytes: u64) -> u32 {
        let state = self.state.load(Relaxed) + 1;
        self.size_bytes.store(size_bytes, Relaxed);
        self.state.store(state, Release);
        state
    }

    /// Takes the block at `address` from its caller, who had this state. Of several threads that
    /// try, one succeeds.
    #[inline]
    pub(crate) fn end(&self, address: u64) -> Option<u32> {
        let state = self.state.load(Acquire);
        // As long as the state stays, so does the address.
        let live = state % 2 == 1 && self.address() == address;
        (live && self.end_state(state)).then_some(state)
    }

    /// Takes the block from the caller with this state.
    #[inline]
    pub(crate) fn end_state(&self, state: u32) -> bool {
        self.state.compare_exchange(state, state + 1, AcqRel, Relaxed).is_ok()
    }

    /// The caller keeps the block after all. Only who took it from the caller may do so.
    pub(crate) fn resume(&self) {
        self.state.store(self.state.load(Relaxed) - 1, Release);
    }

    #[inline]
    pub(crate) fn fate(&self, state: u32) -> Fate {
        let now = self.state.load(Acquire);
        match state {
            _ if state > now => Fate::Never,
            _ if state == now => Fate::Live,
            _ if state < self.forgotten.load(Relaxed) => Fate::Forgotten,
            _ => Fate::Ended,
        }
    }

    #[inline]
    pub(crate) fn address(&self) -> u64 {
        self.address.load(Acquire)
    }

    #[inline]
    pub(crate) fn size_bytes(&self) -> u64 {
        self.size_bytes.load(Relaxed)
    }

    #[inline]
    pub(crate) fn class(&self) -> Option<usize> {
        Some(self.class.load(Relaxed)).filter(|class| *class != LARGE).map(|class| class as usize)
    }

    /// As if as many callers had had the block as there can be, but for one.
    #[cfg(test)]
    pub(crate) fn spend(&self) {
        self.state.store(LAST_STATE - 2, Relaxed);
    }

    fn forget(&self) {
        let state = self.state.load(Relaxed).next_multiple_of(2);
        self.forgotten.store(state, Relaxed);
        self.address.store(0, Relaxed);
        self.state.store(state, Release);
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
        self.find(number).expect("each number that is known has an entry")
    }

    /// The entry of a number, if there is one.
    #[inline]
    pub(crate) fn find(&self, number: u32) -> Option<&Block> {
        let (part, at) = position(number);
        self.parts[part].get().map(|part| &part[at])
    }

    /// Every caller has lost its block. Nobody gives or takes one meanwhile.
    pub(crate) fn clear(&self) {
        let parts = self.parts.iter().filter_map(OnceLock::get);
        parts.flatten().for_each(Block::forget);
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
        assert_eq!(block.end(4096), None);
        let first = block.begin(100);
        assert_eq!(block.end(8192), None);
        assert_eq!(block.end(4096), Some(first));
        assert_eq!(block.end(4096), None);
        assert_eq!((block.fate(first), block.fate(first + 2)), (Fate::Ended, Fate::Never));
        block.resume();
        assert_eq!(block.fate(first), Fate::Live);
        assert_eq!((block.address(), block.size_bytes(), block.class()), (4096, 100, Some(7)));
        assert_eq!(block.end(4096), Some(first));
    }

    #[test]
    fn what_was_forgotten_differs_from_what_ended() {
        let blocks = Blocks::new();
        blocks.ensure(0);
        let block = blocks.get(0);
        block.cut(4096, None);
        let (ended, live) = (block.begin(1), block.end(4096).map(|_| block.begin(1)));
        let live = live.expect("it ended");
        blocks.clear();
        assert_eq!([block.fate(ended), block.fate(live)], [Fate::Forgotten; 2]);
        assert!(!block.end_state(live) && block.address() == 0);
        block.cut(8192, None);
        let new = block.begin(1);
        assert_eq!((block.fate(new), block.fate(live)), (Fate::Live, Fate::Forgotten));
        assert!(block.end_state(new) && !block.end_state(new));
        assert_eq!(block.fate(new), Fate::Ended);
    }

    #[test]
    fn a_name_is_a_number_that_is_not_0() {
        for name in
            [Name { number: 0, state: 1 }, Name { number: u32::MAX - 1, state: LAST_STATE - 1 }]
        {
            let bits = name.to_bits();
            assert!(bits != 0 && bits >> 63 == 0);
            assert_eq!(Name::from_bits(bits), Some(name));
        }
        for bits in [0, 1 << 32, 1, 2 << 32 | 1, u64::MAX] {
            assert_eq!(Name::from_bits(bits), None, "{bits:#x}");
        }
    }
}
