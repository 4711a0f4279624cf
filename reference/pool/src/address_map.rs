//! From an address to the number of its block: a table with open addressing. Any thread reads it
//! without a lock. Who writes holds the lock of the engine.
//!
//! A reader beside a writer may miss an entry that is there, but finds none that is not: it checks
//! each number that it finds. So who finds nothing looks once more with the lock.

use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::blocks::Blocks;

/// The entries are 0, or a number plus 1 below the bits of the address that tell it apart from
/// others.
#[derive(Debug)]
pub(crate) struct AddressMap {
    /// Each is twice as long as the one before it. A table that became too short stays, because a
    /// reader may still be in it.
    tables: [OnceLock<Box<[AtomicU64]>>; TABLES],
    /// Which table is in use.
    current: AtomicUsize,
    entries: AtomicUsize,
}

const FIRST_BITS: u32 = 10;
/// Enough for 32-bit numbers in tables that are half full at most.
const TABLES: usize = 24;
/// Addresses are multiples of 64.
const UNUSED_BITS: u32 = 6;

impl AddressMap {
    pub(crate) fn new() -> Self {
        let map = Self {
            tables: [const { OnceLock::new() }; TABLES],
            current: AtomicUsize::new(0),
            entries: AtomicUsize::new(0),
        };
        map.table(0);
        map
    }

    /// The number of the block at this address.
    #[inline]
    pub(crate) fn find(&self, address: u64, blocks: &Blocks) -> Option<u32> {
        let current = self.current.load(Acquire);
        let table = self.tables[current].get()?;
        let mut slot = home(address, table.len());
        // A bound for readers that entries move away from.
        for _ in 0..table.len() {
            let entry = table[slot].load(Acquire);
            if entry == 0 {
                return None;
            }
            let number = entry as u32 - 1;
            if entry >> 32 == tag(address) && blocks.get(number).address() == address {
                return Some(number);
            }
            slot = (slot + 1) & (table.len() - 1);
        }
        None
    }

    /// Adds a block, which `blocks` knows already. The lock of the engine is held.
    pub(crate) fn insert(&self, address: u64, number: u32, blocks: &Blocks) {
        let entries = self.entries.load(Relaxed) + 1;
        self.entries.store(entries, Relaxed);
        let current = self.current.load(Relaxed);
        let table = self.table(current);
        if entries * 2 <= table.len() {
            return put(table, address, number);
        }
        let longer = self.table(current + 1);
        for entry in table.iter().map(|entry| entry.load(Relaxed)).filter(|entry| *entry != 0) {
            let number = entry as u32 - 1;
            put(longer, blocks.get(number).address(), number);
        }
        put(longer, address, number);
        self.current.store(current + 1, Release);
    }

    /// Removes a block, which `blocks` still knows. The lock of the engine is held.
    pub(crate) fn remove(&self, address: u64, number: u32, blocks: &Blocks) {
        self.entries.store(self.entries.load(Relaxed) - 1, Relaxed);
        let table = self.table(self.current.load(Relaxed));
        let mask = table.len() - 1;
        let entry = entry(address, number);
        let mut hole = home(address, table.len());
        while table[hole].load(Relaxed) != entry {
            hole = (hole + 1) & mask;
        }
        // Entries behind the hole that were put off because of it move into it.
        let mut slot = hole;
        loop {
            slot = (slot + 1) & mask;
            let entry = table[slot].load(Relaxed);
            if entry == 0 {
                break;
            }
            let wanted = home(blocks.get(entry as u32 - 1).address(), table.len());
            if slot.wrapping_sub(wanted) & mask >= slot.wrapping_sub(hole) & mask {
                table[hole].store(entry, Release);
                hole = slot;
            }
        }
        table[hole].store(0, Release);
    }

    /// Removes all blocks. Nobody reads or writes meanwhile.
    pub(crate) fn clear(&self) {
        self.entries.store(0, Relaxed);
        self.table(self.current.load(Relaxed)).iter().for_each(|entry| entry.store(0, Relaxed));
    }

    fn table(&self, which: usize) -> &[AtomicU64] {
        self.tables[which].get_or_init(|| {
            let length = 1_usize << (FIRST_BITS as usize + which);
            (0..length).map(|_| AtomicU64::new(0)).collect()
        })
    }
}

fn put(table: &[AtomicU64], address: u64, number: u32) {
    let mut slot = home(address, table.len());
    while table[slot].load(Relaxed) != 0 {
        slot = (slot + 1) & (table.len() - 1);
    }
    table[slot].store(entry(address, number), Release);
}

/// Where the search for an address begins, in a table of so many entries.
#[inline]
fn home(address: u64, length: usize) -> usize {
    let mixed = (address >> UNUSED_BITS).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - length.trailing_zeros())) as usize
}

fn entry(address: u64, number: u32) -> u64 {
    tag(address) << 32 | u64::from(number + 1)
}

/// Differs for any two addresses that are less than 256 GiB apart.
#[inline]
fn tag(address: u64) -> u64 {
    (address >> UNUSED_BITS) & u64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::SplitMix64;

    use super::*;

    #[test]
    fn it_holds_what_a_map_of_the_standard_library_holds() {
        let (map, blocks) = (AddressMap::new(), Blocks::new());
        let mut model: BTreeMap<u64, u32> = BTreeMap::new();
        let mut vacant: Vec<u32> = (0..4000).collect();
        let mut random = SplitMix64::seed_from_u64(7);
        for step in 0..if cfg!(miri) { 1_000 } else { 20_000 } {
            // Dense addresses, and the same ones 256 GiB further up: their tags are equal.
            let address = (random.next_u64() % 2000 + 1) * 64 + (random.next_u64() % 2) * (1 << 38);
            if let Some(number) = model.remove(&address) {
                map.remove(address, number, &blocks);
                blocks.get(number).joined();
                vacant.push(number);
            } else if let Some(number) = vacant.pop() {
                blocks.ensure(number);
                blocks.get(number).cut(address, None);
                map.insert(address, number, &blocks);
                model.insert(address, number);
            }
            let other = (random.next_u64() % 2000 + 1) * 64;
            assert_eq!(map.find(other, &blocks), model.get(&other).copied(), "step {step}");
        }
        for (address, number) in model {
            assert_eq!(map.find(address, &blocks), Some(number));
        }
    }
}
