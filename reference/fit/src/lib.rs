//! Cutting regions of addresses into blocks: a two-level segregated fit. Taking and giving a block
//! are a handful of list operations whatever the sizes, and neighbours that are free always
//! coalesce. Free blocks may have different owners; then those of one owner coalesce.
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

/// Who may take a free block. Neighbours that are free coalesce if they have the same owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(u32);

impl Owner {
    /// Whose free blocks the regions begin with.
    pub const FIRST: Self = Self(0);
}

/// Regions, and the blocks that were cut from them.
#[derive(Debug)]
pub struct Fit {
    grain_bytes: u64,
    blocks: Vec<Block>,
    /// Slots of `blocks` that hold none.
    vacant: Vec<u32>,
    /// The first block of each region; only [`Fit::renumber`] changes it.
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
    /// Of a free block.
    owner: Owner,
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
        let index = self.insert(Block {
            address,
            size_bytes,
            region: address,
            previous: NONE,
            next: NONE,
            free: true,
            owner: Owner::FIRST,
        });
        self.regions.push(index);
        self.free_bytes += size_bytes;
        self.bins.link(Owner::FIRST, index, size_bytes);
    }

    /// Another owner of free blocks, who has none yet.
    pub fn add_owner(&mut self) -> Owner {
        self.bins.add_owner()
    }

    /// Takes a block of exactly `size_bytes`, a multiple of the grain that is not 0, from the free
    /// blocks of the first owner.
    pub fn take(&mut self, size_bytes: u64) -> Option<BlockId> {
        self.take_from(Owner::FIRST, size_bytes)
    }

    /// The same from the free blocks of this owner.
    pub fn take_from(&mut self, owner: Owner, size_bytes: u64) -> Option<BlockId> {
        let index = self.bins.find(owner, size_bytes)?;
        let whole = self.blocks[index as usize];
        self.bins.unlink(owner, index, whole.size_bytes);
        if whole.size_bytes > size_bytes {
            self.split(index, size_bytes);
        }
        self.blocks[index as usize].free = false;
        self.free_bytes -= size_bytes;
        Some(BlockId(index))
    }

    /// Gives a taken block back to the first owner and joins it with its free neighbours.
    pub fn give(&mut self, block: BlockId) {
        self.give_to(Owner::FIRST, block);
    }

    /// Gives a taken block to this owner and joins it with the neighbours that are free and his.
    pub fn give_to(&mut self, owner: Owner, BlockId(index): BlockId) {
        self.free_bytes += self.blocks[index as usize].size_bytes;
        self.free(owner, index);
    }

    /// Whether this owner has no free block.
    #[must_use]
    pub fn has_none(&self, owner: Owner) -> bool {
        self.bins.is_empty(owner)
    }

    /// Gives all free blocks of one owner to another one.
    pub fn hand_over(&mut self, from: Owner, to: Owner) {
        // Blocks of one owner are no neighbours, so none of these joins another one of them.
        for index in self.bins.all(from) {
            self.bins.unlink(from, index, self.blocks[index as usize].size_bytes);
            self.free(to, index);
        }
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

    /// Removes the regions that the first owner has whole, and yields them.
    pub fn remove_unused(&mut self) -> Vec<Region> {
        let regions = std::mem::take(&mut self.regions);
        let (unused, used) = regions.into_iter().partition(|&first| {
            let block = &self.blocks[first as usize];
            block.free && block.owner == Owner::FIRST && block.next == NONE
        });
        self.regions = used;
        let unused: Vec<u32> = unused;
        unused.into_iter().map(|first| self.remove(first)).collect()
    }

    /// Gives a taken block another number. No block ever gets its old one again, unless
    /// [`Fit::clear`] is called.
    pub fn renumber(&mut self, BlockId(old): BlockId) -> BlockId {
        let block = self.blocks[old as usize];
        let new = self.insert(block);
        if let Some(after) = self.blocks.get_mut(block.next as usize) {
            after.previous = new;
        }
        match self.blocks.get_mut(block.previous as usize) {
            Some(before) => before.next = new,
            None => self.regions.iter_mut().filter(|first| **first == old).for_each(|it| *it = new),
        }
        BlockId(new)
    }

    /// Forgets everything and yields all regions.
    pub fn clear(&mut self) -> Vec<Region> {
        let old = std::mem::replace(self, Self::new(self.grain_bytes));
        old.regions.iter().map(|&first| old.region(first)).collect()
    }

    /// The region that begins with this block.
    fn region(&self, first: u32) -> Region {
        let next = |block: &&Block| self.blocks.get(block.next as usize);
        let blocks = std::iter::successors(self.blocks.get(first as usize), next);
        let size_bytes = blocks.map(|block| block.size_bytes).sum();
        Region { address: self.blocks[first as usize].address, size_bytes }
    }

    fn remove(&mut self, first: u32) -> Region {
        let Block { address, size_bytes, .. } = self.blocks[first as usize];
        self.bins.unlink(Owner::FIRST, first, size_bytes);
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
        let first = &mut self.blocks[index as usize];
        first.size_bytes = size_bytes;
        first.next = rest;
        self.bins.link(block.owner, rest, rest_bytes);
    }

    /// A block that is in no bin becomes a free one of this owner.
    fn free(&mut self, owner: Owner, mut index: u32) {
        let Block { previous, next, .. } = self.blocks[index as usize];
        self.blocks[index as usize].free = true;
        self.blocks[index as usize].owner = owner;
        if self.is_free(owner, next) {
            self.bins.unlink(owner, next, self.blocks[next as usize].size_bytes);
            self.absorb(index, next);
        }
        if self.is_free(owner, previous) {
            self.bins.unlink(owner, previous, self.blocks[previous as usize].size_bytes);
            self.absorb(previous, index);
            index = previous;
        }
        self.bins.link(owner, index, self.blocks[index as usize].size_bytes);
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

    fn is_free(&self, owner: Owner, index: u32) -> bool {
        let block = self.blocks.get(index as usize);
        block.is_some_and(|block| block.free && block.owner == owner)
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
