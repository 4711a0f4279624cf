//! One 2 MiB page shared by small allocations, in granules of 512 bytes.

use crate::page_runs::PAGE_BYTES;

pub(crate) const GRANULE_SHIFT: u32 = 9;
pub(crate) const GRANULE_BYTES: u64 = 1 << GRANULE_SHIFT;
const GRANULES_PER_PAGE: u32 = (PAGE_BYTES >> GRANULE_SHIFT) as u32;

#[derive(Debug)]
pub(crate) struct Slab {
    page: u32,
    /// Gaps of an earlier epoch are void.
    epoch: u32,
    /// Granules from here on were never used in this epoch.
    bump: u32,
    live: u32,
    /// One bit for each granule where an allocation starts.
    starts: [u64; GRANULES_PER_PAGE as usize / 64],
    /// Block number by starting granule.
    blocks: Box<[u32]>,
}

impl Slab {
    pub(crate) fn new(page: u32) -> Self {
        Self {
            page,
            epoch: 0,
            bump: 0,
            live: 0,
            starts: [0; GRANULES_PER_PAGE as usize / 64],
            blocks: vec![0; GRANULES_PER_PAGE as usize].into_boxed_slice(),
        }
    }

    #[inline]
    pub(crate) fn page(&self) -> u32 {
        self.page
    }

    #[inline]
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Starts over: every gap that was noted in this page is void.
    pub(crate) fn begin_epoch(&mut self) {
        self.epoch += 1;
        self.bump = 0;
    }

    /// The first of `count` granules that were never used in this epoch.
    pub(crate) fn bump(&mut self, count: u32) -> Option<u32> {
        let granule = self.bump;
        if granule + count > GRANULES_PER_PAGE {
            return None;
        }
        self.bump += count;
        Some(granule)
    }

    #[inline]
    pub(crate) fn occupy(&mut self, granule: u32, block: u32) {
        self.live += 1;
        self.starts[(granule / 64) as usize] |= 1 << (granule % 64);
        self.blocks[granule as usize] = block;
    }

    #[inline]
    pub(crate) fn vacate(&mut self, granule: u32) {
        self.live -= 1;
        self.starts[(granule / 64) as usize] &= !(1 << (granule % 64));
    }

    #[inline]
    pub(crate) fn starting_at(&self, granule: u32) -> Option<u32> {
        let starts = self.starts[(granule / 64) as usize] >> (granule % 64) & 1 == 1;
        starts.then(|| self.blocks[granule as usize])
    }

    /// The block that starts at or before `granule`.
    #[inline]
    pub(crate) fn find(&self, granule: u32) -> Option<u32> {
        let word = (granule / 64) as usize;
        let upto = self.starts[word] & (u64::MAX >> (63 - granule % 64));
        let (word, bits) = if upto != 0 {
            (word, upto)
        } else {
            self.starts[..word].iter().copied().enumerate().rfind(|(_, bits)| *bits != 0)?
        };
        Some(self.blocks[word * 64 + 63 - bits.leading_zeros() as usize])
    }
}

#[inline]
pub(crate) fn granules(size: u64) -> u32 {
    size.div_ceil(1 << GRANULE_SHIFT) as u32
}

#[inline]
pub(crate) fn granule_in_page(offset: u64) -> u32 {
    ((offset & (PAGE_BYTES - 1)) >> GRANULE_SHIFT) as u32
}
