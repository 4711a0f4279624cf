//! One device's address space and the memory in it.
//!
//! Sizes and addresses are as measured on a GPU: allocations up to 1 MiB share 2 MiB pages in steps
//! of 512 bytes, larger ones take whole 2 MiB pages. Freed addresses are reused last in, first out.

use crate::{
    allocation_data::Bytes,
    page_runs::{PAGE_BYTES, PAGE_SHIFT, PageRuns},
    slab::{GRANULE_BYTES, GRANULE_SHIFT, Slab, granule_in_page, granules},
};

const SMALL_BYTES: u64 = 1 << 20;

/// An allocation.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) base: u64,
    /// As asked for, in bytes.
    pub(crate) size: u64,
    pub(crate) context: u64,
    pub(crate) owner: Owner,
    /// Unique in the process's life (`CU_POINTER_ATTRIBUTE_BUFFER_ID`).
    pub(crate) buffer_id: u64,
    /// The numbers that the memory had before `cuMemAllocAsync` took it again, oldest first, as
    /// long as the streams that freed it have not got there.
    pub(crate) earlier: Vec<u64>,
    pub(crate) bytes: Bytes,
    /// `CU_POINTER_ATTRIBUTE_SYNC_MEMOPS`.
    pub(crate) synchronous: bool,
    /// Given to `cuMemFreeAsync`; the memory lives on until the stream gets there.
    pub(crate) freed: bool,
    live: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// `cuMemAlloc`.
    Plain,
    /// The stream-ordered allocator; the pool's handle.
    Pool(u64),
    /// A variable of a module.
    Module,
    /// `cuIpcOpenMemHandle`, opened so many times.
    Imported { opens: u32 },
}

impl Block {
    /// The bytes of the memory: what was asked for, in whole granules.
    #[inline]
    pub(crate) fn reserved_bytes(&self) -> u64 {
        self.size.next_multiple_of(GRANULE_BYTES)
    }

    /// Whether the memory has that number, or had it before a free that is still pending.
    pub(crate) fn answers_to(&self, number: u64) -> bool {
        self.buffer_id == number || self.earlier.contains(&number)
    }

    /// Takes the memory again before the stream that freed it has got there. What it holds stays:
    /// work queued before still reads and writes it.
    pub(crate) fn take_again(&mut self, size: u64, context: u64, buffer_id: u64) {
        self.earlier.push(self.buffer_id);
        self.size = size;
        self.context = context;
        self.buffer_id = buffer_id;
        self.synchronous = false;
        self.freed = false;
    }
}

/// What a new block is to be.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    size: u64,
    context: u64,
    owner: Owner,
    buffer_id: u64,
}

#[derive(Debug)]
pub(crate) struct Space {
    base: u64,
    total_bytes: u64,
    used_bytes: u64,
    pages: Vec<Page>,
    runs: PageRuns,
    /// Those that are not live wait in `free_blocks` for their next use.
    blocks: Vec<Block>,
    free_blocks: Vec<u32>,
    slabs: Vec<Slab>,
    /// Slabs that may be empty.
    idle_slabs: Vec<u32>,
    current_slab: Option<u32>,
    /// Freed ranges by length in granules.
    bins: Vec<Vec<Gap>>,
}

#[derive(Clone, Copy, Debug)]
enum Page {
    Free,
    Slab(u32),
    Large(u32),
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    slab: u32,
    epoch: u32,
    granule: u32,
}

impl Space {
    /// `base` must be aligned to 2 MiB; `window_bytes` is how much address space follows it.
    pub(crate) fn new(base: u64, window_bytes: u64, total_bytes: u64) -> Self {
        Self {
            base,
            total_bytes,
            used_bytes: 0,
            pages: Vec::new(),
            runs: PageRuns::new((window_bytes >> PAGE_SHIFT) as u32),
            blocks: Vec::new(),
            free_blocks: Vec::new(),
            slabs: Vec::new(),
            idle_slabs: Vec::new(),
            current_slab: None,
            bins: vec![Vec::new(); (SMALL_BYTES >> GRANULE_SHIFT) as usize + 1],
        }
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    pub(crate) fn free_bytes(&self) -> u64 {
        self.total_bytes - self.used_bytes
    }

    /// The address of a new block; `None` if memory or address space is short. `size` must not be
    /// 0.
    #[inline]
    pub(crate) fn allocate(
        &mut self,
        size: u64,
        context: u64,
        owner: Owner,
        buffer_id: u64,
    ) -> Option<u64> {
        let wanted = Wanted { size, context, owner, buffer_id };
        if size <= SMALL_BYTES && !matches!(owner, Owner::Imported { .. }) {
            self.allocate_small(wanted)
        } else {
            self.allocate_large(wanted)
        }
    }

    /// The live block that `address` lies in.
    #[inline]
    pub(crate) fn find(&self, address: u64) -> Option<u32> {
        let id = self.find_reserved(address)?;
        let block = self.block(id);
        (address - block.base < block.size).then_some(id)
    }

    /// The live block whose memory `address` lies in, also behind the bytes that were asked for.
    #[inline]
    pub(crate) fn find_reserved(&self, address: u64) -> Option<u32> {
        let offset = address.checked_sub(self.base)?;
        let id = match *self.pages.get((offset >> PAGE_SHIFT) as usize)? {
            Page::Free => return None,
            Page::Large(id) => id,
            Page::Slab(slab) => self.slabs[slab as usize].find(granule_in_page(offset))?,
        };
        let block = self.block(id);
        (address - block.base < block.reserved_bytes()).then_some(id)
    }

    /// The live block that begins at `address`.
    #[inline]
    pub(crate) fn find_base(&self, address: u64) -> Option<u32> {
        let offset = address.checked_sub(self.base)?;
        let id = match *self.pages.get((offset >> PAGE_SHIFT) as usize)? {
            Page::Free => return None,
            Page::Large(id) => id,
            Page::Slab(slab) => self.slabs[slab as usize].starting_at(granule_in_page(offset))?,
        };
        (self.block(id).base == address).then_some(id)
    }

    #[inline]
    pub(crate) fn block(&self, id: u32) -> &Block {
        &self.blocks[id as usize]
    }

    #[inline]
    pub(crate) fn block_mut(&mut self, id: u32) -> &mut Block {
        &mut self.blocks[id as usize]
    }

    /// Numbers of all blocks, highest address last.
    pub(crate) fn ids(&self) -> Vec<u32> {
        let mut ids: Vec<_> = self
            .blocks
            .iter()
            .filter(|block| block.live)
            .map(|block| (block.base, self.find(block.base)))
            .collect();
        ids.sort_unstable();
        ids.into_iter().filter_map(|(_, id)| id).collect()
    }

    #[inline]
    pub(crate) fn release(&mut self, id: u32) {
        let block = &mut self.blocks[id as usize];
        let (offset, size, owner) = (block.base - self.base, block.size, block.owner);
        block.live = false;
        block.freed = false;
        block.earlier.clear();
        block.bytes = Bytes::Untouched;
        self.free_blocks.push(id);
        let page = (offset >> PAGE_SHIFT) as u32;
        match self.pages[page as usize] {
            Page::Slab(slab) => self.release_small(slab, granule_in_page(offset), granules(size)),
            Page::Large(_) | Page::Free => self.release_large(page, size, owner),
        }
    }

    fn allocate_large(&mut self, wanted: Wanted) -> Option<u64> {
        let count = u32::try_from(wanted.size.div_ceil(PAGE_BYTES)).ok()?;
        let charged = charged_bytes(wanted.size, wanted.owner);
        self.charge(charged)?;
        let Some(page) = self.runs.take(count) else {
            self.used_bytes -= charged;
            return None;
        };
        let base = self.base + (u64::from(page) << PAGE_SHIFT);
        let id = self.insert(base, wanted);
        self.pages_mut(page, count).fill(Page::Large(id));
        Some(base)
    }

    fn release_large(&mut self, page: u32, size: u64, owner: Owner) {
        let count = size.div_ceil(PAGE_BYTES) as u32;
        self.used_bytes -= charged_bytes(size, owner);
        self.pages_mut(page, count).fill(Page::Free);
        self.runs.give(page, count);
    }

    #[inline]
    fn allocate_small(&mut self, wanted: Wanted) -> Option<u64> {
        let count = granules(wanted.size);
        let gap = match self.pop_gap(count) {
            Some(gap) => gap,
            None => self.fresh_gap(count)?,
        };
        let slab = &self.slabs[gap.slab as usize];
        let base = self.base
            + (u64::from(slab.page()) << PAGE_SHIFT)
            + (u64::from(gap.granule) << GRANULE_SHIFT);
        if slab.is_empty() && self.charge(PAGE_BYTES).is_none() {
            self.bins[count as usize].push(gap);
            return None;
        }
        let id = self.insert(base, wanted);
        self.slabs[gap.slab as usize].occupy(gap.granule, id);
        Some(base)
    }

    #[inline]
    fn release_small(&mut self, slab_index: u32, granule: u32, count: u32) {
        let slab = &mut self.slabs[slab_index as usize];
        slab.vacate(granule);
        let gap = Gap { slab: slab_index, epoch: slab.epoch(), granule };
        if slab.is_empty() {
            self.used_bytes -= PAGE_BYTES;
            if self.current_slab != Some(slab_index) {
                self.idle_slabs.push(slab_index);
            }
        }
        self.bins[count as usize].push(gap);
    }

    #[inline]
    fn pop_gap(&mut self, count: u32) -> Option<Gap> {
        while let Some(gap) = self.bins[count as usize].pop() {
            if self.slabs[gap.slab as usize].epoch() == gap.epoch {
                return Some(gap);
            }
        }
        None
    }

    /// Unused granules: from the current slab, a longer gap, an empty slab or a new one, in this
    /// order.
    fn fresh_gap(&mut self, count: u32) -> Option<Gap> {
        if let Some(gap) = self.current_slab.and_then(|slab| self.bump(slab, count)) {
            return Some(gap);
        }
        if let Some(gap) = self.split_gap(count) {
            return Some(gap);
        }
        let slab = self.idle_slab().or_else(|| self.new_slab())?;
        self.current_slab = Some(slab);
        self.bump(slab, count)
    }

    fn bump(&mut self, slab_index: u32, count: u32) -> Option<Gap> {
        let slab = &mut self.slabs[slab_index as usize];
        let granule = slab.bump(count)?;
        Some(Gap { slab: slab_index, epoch: slab.epoch(), granule })
    }

    fn split_gap(&mut self, count: u32) -> Option<Gap> {
        for longer in count + 1..self.bins.len() as u32 {
            if let Some(gap) = self.pop_gap(longer) {
                self.bins[(longer - count) as usize]
                    .push(Gap { granule: gap.granule + count, ..gap });
                return Some(gap);
            }
        }
        None
    }

    fn idle_slab(&mut self) -> Option<u32> {
        while let Some(index) = self.idle_slabs.pop() {
            let slab = &mut self.slabs[index as usize];
            if slab.is_empty() {
                slab.begin_epoch();
                return Some(index);
            }
        }
        None
    }

    fn new_slab(&mut self) -> Option<u32> {
        let page = self.runs.take(1)?;
        let index = self.slabs.len() as u32;
        self.slabs.push(Slab::new(page));
        self.pages_mut(page, 1).fill(Page::Slab(index));
        Some(index)
    }

    fn charge(&mut self, bytes: u64) -> Option<()> {
        if bytes > self.free_bytes() {
            return None;
        }
        self.used_bytes += bytes;
        Some(())
    }

    #[inline]
    fn insert(&mut self, base: u64, wanted: Wanted) -> u32 {
        let id = self.free_blocks.pop().unwrap_or_else(|| self.new_block());
        // Field by field: a block is large, and copying it would cost more than all else here.
        let block = &mut self.blocks[id as usize];
        block.base = base;
        block.size = wanted.size;
        block.context = wanted.context;
        block.owner = wanted.owner;
        block.buffer_id = wanted.buffer_id;
        block.synchronous = false;
        block.live = true;
        id
    }

    #[cold]
    fn new_block(&mut self) -> u32 {
        let bytes = Bytes::Untouched;
        self.blocks.push(Block {
            base: 0,
            size: 0,
            context: 0,
            owner: Owner::Plain,
            buffer_id: 0,
            earlier: Vec::new(),
            bytes,
            synchronous: false,
            freed: false,
            live: false,
        });
        (self.blocks.len() - 1) as u32
    }

    fn pages_mut(&mut self, first: u32, count: u32) -> &mut [Page] {
        let range = first as usize..(first + count) as usize;
        if self.pages.len() < range.end {
            self.pages.resize(range.end, Page::Free);
        }
        &mut self.pages[range]
    }
}

/// Imported memory belongs to another process.
fn charged_bytes(size: u64, owner: Owner) -> u64 {
    if matches!(owner, Owner::Imported { .. }) { 0 } else { size.next_multiple_of(PAGE_BYTES) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x7d00_0000_0000;

    fn space() -> Space {
        Space::new(BASE, 1 << 30, 64 << 20)
    }

    fn allocate(space: &mut Space, size: u64) -> Option<u64> {
        space.allocate(size, 1, Owner::Plain, 1)
    }

    fn free(space: &mut Space, address: u64) {
        let id = space.find(address).expect("live");
        space.release(id);
    }

    #[test]
    fn small_blocks_lie_512_bytes_apart_and_share_one_page() {
        let mut space = space();
        let first = allocate(&mut space, 1).expect("fits");
        let used = space.free_bytes();
        let second = allocate(&mut space, 1).expect("fits");
        assert_eq!(second - first, 512);
        assert_eq!(space.free_bytes(), used, "same page");
        assert_eq!(space.find(first + 1), None, "one byte long");
        free(&mut space, first);
        free(&mut space, second);
        assert_eq!(space.free_bytes(), 64 << 20);
    }

    #[test]
    fn large_blocks_are_aligned_and_rounded_to_2_mib() {
        let mut space = space();
        allocate(&mut space, 1).expect("fits");
        let before = space.free_bytes();
        let large = allocate(&mut space, (2 << 20) + 1).expect("fits");
        assert_eq!(large % PAGE_BYTES, 0);
        assert_eq!(before - space.free_bytes(), 4 << 20);
        assert_eq!(space.find(large + (2 << 20)), space.find(large));
    }

    #[test]
    fn freed_addresses_come_back_last_in_first_out() {
        let mut space = space();
        for size in [700, 3 << 20] {
            let addresses = [(); 3].map(|()| allocate(&mut space, size).expect("fits"));
            for address in addresses {
                free(&mut space, address);
            }
            let again = [(); 3].map(|()| allocate(&mut space, size).expect("fits"));
            assert_eq!(again, [addresses[2], addresses[1], addresses[0]]);
        }
    }

    #[test]
    fn memory_runs_out_at_its_size_and_comes_back() {
        let mut space = space();
        let blocks: Vec<_> = std::iter::from_fn(|| allocate(&mut space, 1 << 20)).collect();
        assert_eq!(blocks.len(), 64);
        for block in blocks {
            free(&mut space, block);
        }
        assert!(allocate(&mut space, 64 << 20).is_some());
        assert!(allocate(&mut space, 1).is_none());
    }

    #[test]
    fn interior_addresses_find_their_block_among_many() {
        let mut space = space();
        let sizes = [1, 512, 513, 70_000, 1 << 20, 5000, 3 << 20];
        let blocks = sizes.map(|size| (allocate(&mut space, size).expect("fits"), size));
        for (base, size) in blocks {
            for address in [base, base + size / 2, base + size - 1] {
                let id = space.find(address).expect("inside");
                assert_eq!((space.block(id).base, space.block(id).size), (base, size));
            }
            assert_ne!(space.find(base + size).map(|id| space.block(id).base), Some(base));
        }
    }
}
