//! The blocks that a thread got back and keeps for its next requests.
//!
//! Other threads take them out when memory is short and at release(), so a cache has a lock. Its
//! own thread takes the lock for a few instructions and never waits for it: if it is taken, the
//! thread does without its cache. So almost always the lock costs one exchange.

use std::hint;
use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::thread;

use crate::classes::CLASSES;

/// So many blocks of a class are kept at most.
const SLOTS: usize = 16;
/// So many blocks of a class are kept at least, however long they are.
const FEWEST: u64 = 4;

/// The cache of one thread at one place.
#[derive(Debug)]
#[repr(align(128))]
pub struct Cache {
    locked: AtomicBool,
    /// Whether a thread has it.
    owned: AtomicBool,
    /// What the owners took, less what they gave back: blocks of other threads, too.
    used_bytes: AtomicI64,
    idle_bytes: AtomicU64,
    /// So many bytes of a class are kept at most, but always [`FEWEST`] blocks.
    class_bytes: u64,
    counts: [AtomicU8; CLASSES],
    /// Numbers of blocks, the latest one last.
    slots: [[AtomicU32; SLOTS]; CLASSES],
}

impl Cache {
    pub(crate) const fn new(class_bytes: u64) -> Self {
        Self {
            class_bytes,
            locked: AtomicBool::new(false),
            owned: AtomicBool::new(true),
            used_bytes: AtomicI64::new(0),
            idle_bytes: AtomicU64::new(0),
            counts: [const { AtomicU8::new(0) }; CLASSES],
            slots: [const { [const { AtomicU32::new(0) }; SLOTS] }; CLASSES],
        }
    }

    /// Whether the calling thread has it from now on.
    pub(crate) fn adopt(&self) -> bool {
        !self.owned.swap(true, Acquire)
    }

    /// Another thread may have it, with what is in it.
    pub(crate) fn abandon(&self) {
        self.owned.store(false, Release);
    }

    /// Exact as long as no call is running.
    #[inline]
    pub(crate) fn used_bytes(&self) -> i64 {
        self.used_bytes.load(Relaxed)
    }

    #[inline]
    pub(crate) fn idle_bytes(&self) -> u64 {
        self.idle_bytes.load(Relaxed)
    }

    /// Nothing if another thread has the lock.
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<Kept<'_>> {
        // A `Kept` that is made and dropped would unlock what another thread has locked.
        (!self.locked.swap(true, Acquire)).then(|| Kept(self))
    }

    /// Waits for the lock. Its own thread holds it for a few instructions.
    pub(crate) fn lock(&self) -> Kept<'_> {
        let mut tries = 0;
        loop {
            if let Some(kept) = self.try_lock() {
                return kept;
            }
            tries += 1;
            if tries < 64 { hint::spin_loop() } else { thread::yield_now() }
        }
    }
}

/// The lock of a cache.
#[derive(Debug)]
pub(crate) struct Kept<'a>(&'a Cache);

impl Drop for Kept<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.locked.store(false, Release);
    }
}

/// Only who has the lock writes, so nothing here is an atomic addition.
impl Kept<'_> {
    /// The block of a class that was kept last.
    #[inline]
    pub(crate) fn pop(&self, class: usize, room_bytes: u64) -> Option<u32> {
        let left = self.0.counts[class].load(Relaxed).checked_sub(1)?;
        self.0.counts[class].store(left, Relaxed);
        self.add_idle(room_bytes.wrapping_neg());
        Some(self.0.slots[class][usize::from(left) % SLOTS].load(Relaxed))
    }

    /// Keeps a block. `false` if so many of its class are kept already.
    #[inline]
    pub(crate) fn push(&self, class: usize, room_bytes: u64, number: u32) -> bool {
        let count = self.0.counts[class].load(Relaxed);
        if u64::from(count) >= self.capacity(room_bytes) {
            return false;
        }
        self.0.slots[class][usize::from(count) % SLOTS].store(number, Relaxed);
        self.0.counts[class].store(count + 1, Relaxed);
        self.add_idle(room_bytes);
        true
    }

    /// Takes out the half of a class that was kept first.
    pub(crate) fn take_half(&self, class: usize, room_bytes: u64, mut take: impl FnMut(u32)) {
        let count = usize::from(self.0.counts[class].load(Relaxed));
        let taken = count.div_ceil(2);
        let slots = &self.0.slots[class];
        for slot in &slots[..taken] {
            take(slot.load(Relaxed));
        }
        for at in taken..count {
            slots[at - taken].store(slots[at].load(Relaxed), Relaxed);
        }
        self.0.counts[class].store((count - taken) as u8, Relaxed);
        self.add_idle((taken as u64 * room_bytes).wrapping_neg());
    }

    /// Takes out everything.
    pub(crate) fn take_all(&self, mut take: impl FnMut(u32)) {
        for (count, slots) in self.0.counts.iter().zip(&self.0.slots) {
            let kept = usize::from(count.load(Relaxed));
            count.store(0, Relaxed);
            slots[..kept].iter().for_each(|slot| take(slot.load(Relaxed)));
        }
        self.0.idle_bytes.store(0, Relaxed);
    }

    /// Whether more than so many bytes are kept.
    #[inline]
    pub(crate) fn holds_more_than(&self, most_bytes: u64) -> bool {
        self.0.idle_bytes() > most_bytes
    }

    /// The caller got so many bytes more, or gave them back.
    #[inline]
    pub(crate) fn count(&self, bytes: i64) {
        self.0.used_bytes.store(self.0.used_bytes().wrapping_add(bytes), Relaxed);
    }

    /// The callers have lost all that they got.
    pub(crate) fn forget_used(&self) {
        self.0.used_bytes.store(0, Relaxed);
    }

    /// How many blocks of so much room are kept at most.
    #[inline]
    fn capacity(&self, room_bytes: u64) -> u64 {
        (self.0.class_bytes >> room_bytes.ilog2()).clamp(FEWEST, SLOTS as u64)
    }

    #[inline]
    fn add_idle(&self, bytes: u64) {
        self.0.idle_bytes.store(self.0.idle_bytes().wrapping_add(bytes), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_block_comes_first_and_the_oldest_ones_leave() {
        let cache = Cache::new(4 << 20);
        let kept = cache.lock();
        for _ in 0..2 {
            assert!(cache.try_lock().is_none(), "who does not get the lock leaves it locked");
        }
        for number in 0..16 {
            assert!(kept.push(5, 384, number));
        }
        assert!(!kept.push(5, 384, 16));
        assert_eq!((kept.pop(5, 384), kept.pop(4, 320)), (Some(15), None));
        let mut left = Vec::new();
        kept.take_half(5, 384, |number| left.push(number));
        assert_eq!(left, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(cache.idle_bytes(), 7 * 384);
        assert_eq!(kept.pop(5, 384), Some(14));
        kept.take_all(|number| left.push(number));
        assert_eq!(left[8..], [8, 9, 10, 11, 12, 13]);
        assert_eq!(cache.idle_bytes(), 0);
        drop(kept);
        assert!(cache.try_lock().is_some());
    }

    #[test]
    fn few_long_blocks_are_kept() {
        let cache = Cache::new(4 << 20);
        let kept = cache.lock();
        let pushed = (0..20).filter(|number| kept.push(103, 2 << 20, *number)).count();
        assert_eq!(pushed, 4);
        assert!(kept.holds_more_than(4 << 20) && !kept.holds_more_than(8 << 20));
    }
}
