//! Cutting regions of addresses into blocks: a two-level segregated fit. Taking and giving a block
//! are a handful of list operations whatever the sizes, and neighbours that are free always
//! coalesce.
//!
//! It counts addresses and touches none: the bookkeeping lies outside the memory that it describes,
//! as device memory demands.

#![forbid(unsafe_code)]

mod bins;

use bins::Bins;

/// Names a block that is taken. No two blocks that are taken at a time have the same number, and
/// the numbers are small: a table by number stays short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockId(pub u32);

/// Regions, and the blocks that were cut from them.
#[derive(Debug)]
pub struct Fit {
    grain_bytes: u64,
    blocks: Vec<Block>,
    /// Slots of `blocks` that hold none.
    vacant: Vec<u32>,
    /// The first block of each region; a region's first slot never changes.
    regions: Vec<u32>,
    bins: Bins,
    free_bytes: u64,
}

/// Addresses that were added together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub address: u64,
    pub size_bytes: u64,
}

/// A block, linked to its neighbours in its region.
#[derive(Clone, Copy, Debug)]
struct Block {
    address: u64,
    size_bytes: u64,
    region: u64,
    previous: u32,
    next: u32,
    free: bool,
}

const NONE: u32 = u32::MAX;

impl Fit {
    /// Without regions. Every block's address and size will be a multiple of `grain_bytes`, a power
    /// of two.
    #[must_use]
    pub fn new(grain_bytes: u64) -> Self {
        debug_assert!(grain_bytes.is_power_of_two());
        Self {
            grain_bytes,
            blocks: Vec::new(),
            vacant: Vec::new(),
            regions: Vec::new(),
            bins: Bins::new(grain_bytes.ilog2()),
            free_bytes: 0,
        }
    }

    /// Adds a free region. Both values are multiples of the grain, and the size is not 0.
    pub fn add(&mut self, address: u64, size_bytes: u64) {
        let block =
            Block { address, size_bytes, region: address, previous: NONE, next: NONE, free: true };
        let index = self.insert(block);
        self.regions.push(index);
        self.free_bytes += size_bytes;
        self.bins.link(index, size_bytes);
    }

    /// Takes a block of exactly `size_bytes`, a multiple of the grain that is not 0.
    pub fn take(&mut self, size_bytes: u64) -> Option<BlockId> {
        let index = self.bins.find(size_bytes)?;
        let whole = self.blocks[index as usize];
        self.bins.unlink(index, whole.size_bytes);
        if whole.size_bytes > size_bytes {
            self.split(index, size_bytes);
        }
        self.blocks[index as usize].free = false;
        self.free_bytes -= size_bytes;
        Some(BlockId(index))
    }

    /// Gives a taken block back and joins it with its free neighbours.
    pub fn give(&mut self, BlockId(mut index): BlockId) {
        let Block { previous, next, size_bytes, .. } = self.blocks[index as usize];
        self.free_bytes += size_bytes;
        self.blocks[index as usize].free = true;
        if self.is_free(next) {
            self.join(index, next);
        }
        if self.is_free(previous) {
            let size_bytes = self.blocks[previous as usize].size_bytes;
            self.bins.unlink(previous, size_bytes);
            self.absorb(previous, index);
            index = previous;
        }
        self.bins.link(index, self.blocks[index as usize].size_bytes);
    }

    /// Address of a block, and of the region that it was cut from.
    #[must_use]
    pub fn locate(&self, BlockId(index): BlockId) -> (u64, u64) {
        let block = &self.blocks[index as usize];
        (block.address, block.region)
    }

    /// How long a taken block is.
    #[must_use]
    pub fn size_bytes(&self, BlockId(index): BlockId) -> u64 {
        self.blocks[index as usize].size_bytes
    }

    /// What is not taken of all regions.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.free_bytes
    }

    /// Removes the regions from which nothing is taken, and yields them.
    pub fn remove_unused(&mut self) -> Vec<Region> {
        let regions = std::mem::take(&mut self.regions);
        let (unused, used) = regions.into_iter().partition(|&first| {
            let block = &self.blocks[first as usize];
            block.free && block.next == NONE
        });
        self.regions = used;
        let unused: Vec<u32> = unused;
        unused.into_iter().map(|first| self.remove(first)).collect()
    }

    /// Forgets everything and yields the addresses of all regions.
    pub fn clear(&mut self) -> Vec<u64> {
        let old = std::mem::replace(self, Self::new(self.grain_bytes));
        old.regions.iter().map(|&first| old.blocks[first as usize].address).collect()
    }

    fn remove(&mut self, first: u32) -> Region {
        let Block { address, size_bytes, .. } = self.blocks[first as usize];
        self.bins.unlink(first, size_bytes);
        self.free_bytes -= size_bytes;
        self.vacant.push(first);
        Region { address, size_bytes }
    }

    /// Cuts the block after `size_bytes`; the rest becomes a free block behind it.
    fn split(&mut self, index: u32, size_bytes: u64) {
        let block = self.blocks[index as usize];
        let rest_bytes = block.size_bytes - size_bytes;
        let rest = self.insert(Block {
            address: block.address + size_bytes,
            size_bytes: rest_bytes,
            previous: index,
            ..block
        });
        if let Some(after) = self.blocks.get_mut(block.next as usize) {
            after.previous = rest;
        }
        let block = &mut self.blocks[index as usize];
        block.size_bytes = size_bytes;
        block.next = rest;
        self.bins.link(rest, rest_bytes);
    }

    /// Joins `index` with the free block behind it.
    fn join(&mut self, index: u32, next: u32) {
        let size_bytes = self.blocks[next as usize].size_bytes;
        self.bins.unlink(next, size_bytes);
        self.absorb(index, next);
    }

    /// Lets `left` grow over `right`, whose slot becomes vacant. Neither is in a bin.
    fn absorb(&mut self, left: u32, right: u32) {
        let gone = self.blocks[right as usize];
        if let Some(after) = self.blocks.get_mut(gone.next as usize) {
            after.previous = left;
        }
        let block = &mut self.blocks[left as usize];
        block.size_bytes += gone.size_bytes;
        block.next = gone.next;
        self.vacant.push(right);
    }

    fn is_free(&self, index: u32) -> bool {
        self.blocks.get(index as usize).is_some_and(|block| block.free)
    }

    fn insert(&mut self, block: Block) -> u32 {
        match self.vacant.pop() {
            Some(index) => {
                self.blocks[index as usize] = block;
                index
            }
            None => {
                let index =
                    u32::try_from(self.blocks.len()).expect("so many blocks exceed host memory");
                self.blocks.push(block);
                index
            }
        }
    }
}

#[cfg(test)]
mod tests;
