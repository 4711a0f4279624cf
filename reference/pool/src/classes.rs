//! The sizes of the blocks that a thread keeps. Blocks of one class are alike, so each serves each
//! request of the class.
//!
//! A class is a number of grains: each number to 16, and eight numbers for each power of two above.
//! So a block is at most an eighth longer than needed, and the first free block that
//! [`allocert_fit::Fit`] finds for a class fits.

/// Longer blocks have no class.
pub(crate) const LARGEST_BYTES: u64 = 2 << 20;
/// The smallest grain has so many classes.
pub(crate) const CLASSES: usize = 104;
/// The smallest grain.
const SMALLEST_GRAIN_BYTES: u64 = 64;

/// Each number of grains up to this one is a class.
const EXACT: u64 = 16;
const STEP_BITS: u32 = 3;
const STEPS: u64 = 1 << STEP_BITS;

/// The classes of one grain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classes {
    grain_bits: u32,
}

impl Classes {
    pub(crate) fn new(grain_bytes: u64) -> Self {
        debug_assert!(grain_bytes.is_power_of_two() && grain_bytes >= SMALLEST_GRAIN_BYTES);
        Self { grain_bits: grain_bytes.ilog2() }
    }

    /// The class whose blocks have room for `need_bytes`, which are not 0. None has room for more
    /// than [`LARGEST_BYTES`].
    #[inline]
    pub(crate) fn of(self, need_bytes: u64) -> Option<usize> {
        if need_bytes > LARGEST_BYTES {
            return None;
        }
        let last = (need_bytes - 1) >> self.grain_bits;
        if last < EXACT {
            return Some(last as usize);
        }
        let power = last.ilog2();
        let step = last >> (power - STEP_BITS);
        let rows = u64::from(power - EXACT.ilog2());
        Some((EXACT + rows * STEPS + (step - STEPS)) as usize)
    }

    /// How long the blocks of a class are.
    #[inline]
    pub(crate) fn room_bytes(self, class: usize) -> u64 {
        let class = class as u64;
        let grains = match class.checked_sub(EXACT) {
            None => class + 1,
            Some(above) => (STEPS + above % STEPS + 1) << (above / STEPS + 1),
        };
        grains << self.grain_bits
    }
}

#[cfg(test)]
mod tests {
    use allocert_fit::Fit;

    use super::*;

    #[test]
    fn the_class_of_a_size_is_the_smallest_with_room() {
        for grain_bytes in [64, 256] {
            let classes = Classes::new(grain_bytes);
            let edges = (0..CLASSES).map(|class| classes.room_bytes(class));
            let edges: Vec<u64> = edges.take_while(|room| *room <= LARGEST_BYTES).collect();
            assert!(edges.is_sorted() && edges.last() == Some(&LARGEST_BYTES));
            let mut from = 1;
            for (class, room) in edges.into_iter().enumerate() {
                assert!(room.is_multiple_of(grain_bytes));
                assert_eq!([classes.of(from), classes.of(room)], [Some(class); 2]);
                assert!(room - from < (room / 8).max(grain_bytes));
                from = room + 1;
            }
            assert_eq!(classes.of(from), None);
        }
    }

    /// A free block of one class serves the next request of the class, whatever else is free.
    #[test]
    fn the_engine_finds_a_class_at_once() {
        let classes = Classes::new(256);
        for class in 0..88 {
            let room = classes.room_bytes(class);
            let mut fit = Fit::new(256);
            fit.add(1 << 40, room);
            fit.add(1 << 50, room + 256);
            let block = fit.take(room).expect("two fit");
            fit.give(block);
        }
    }
}
