//! The blocks of memory that calls took, by boundary and address.

use allocert_contract::trace::{Boundary, Call, Event};
use strum::VariantArray as _;

use crate::effect::{MemorySource, Owners};
use crate::judge::addresses::AddressMap;
use crate::judge::findings::witness;
use crate::judge::timeline::Attribution;
use crate::verdict::Witness;

/// One allocation, alive or not. One that is not alive stays until its addresses are taken again.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) size_bytes: u64,
    pub(crate) source: MemorySource,
    pub(crate) owner: Option<u64>,
    /// The event that took it.
    pub(crate) taken: u64,
    /// The step that took it.
    pub(crate) step: Option<u32>,
    /// Whether the subject took it.
    pub(crate) by_subject: bool,
    /// Whether code of the host took it for the subject.
    pub(crate) in_host_code: bool,
    pub(crate) end: Option<BlockEnd>,
    /// The case made the call fail that would have freed it.
    pub(crate) free_injected: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockEnd {
    /// The event that ended it.
    pub(crate) seq: u64,
    /// It was freed, and did not end with its owner.
    pub(crate) freed: bool,
    /// Whether the subject ended it.
    pub(crate) by_subject: bool,
}

impl Block {
    pub(crate) fn new(
        event: &Event,
        call: &Call,
        attribution: Attribution,
        size_bytes: u64,
        source: MemorySource,
    ) -> Self {
        Self {
            size_bytes,
            source,
            owner: Owners::owner(event, call),
            taken: event.seq,
            step: attribution.step,
            by_subject: attribution.by_subject,
            in_host_code: attribution.in_host_code,
            end: None,
            free_injected: false,
        }
    }

    /// Where a block ends that begins there. One of no bytes has an address too.
    pub(crate) fn end_of(&self, start: u64) -> u64 {
        start.saturating_add(self.size_bytes.max(1))
    }

    /// The call of the subject that ended it with its context, if nothing else can be there.
    pub(crate) fn ended_by_subject(&self) -> Option<u64> {
        let end = self.end.filter(|end| !end.freed && end.by_subject)?;
        self.source.is_exclusive().then_some(end.seq)
    }

    pub(crate) fn taken_here(&self) -> Witness {
        witness(self.taken, "allocated here")
    }

    /// The end of a block that was freed, if nothing else can be at its addresses.
    pub(crate) fn stale_end(&self) -> Option<BlockEnd> {
        self.end.filter(|end| end.freed && self.source.is_exclusive())
    }
}

/// One map for each boundary, because one allocator can divide the memory that another one gave it.
#[derive(Debug, Default)]
pub(crate) struct Blocks([AddressMap<Block>; Boundary::VARIANTS.len()]);

impl Blocks {
    pub(crate) fn of(&self, boundary: Boundary) -> &AddressMap<Block> {
        &self.0[boundary as usize]
    }

    pub(crate) fn of_mut(&mut self, boundary: Boundary) -> &mut AddressMap<Block> {
        &mut self.0[boundary as usize]
    }

    /// All blocks with their boundaries and addresses.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Boundary, u64, &Block)> {
        Boundary::VARIANTS.iter().flat_map(|boundary| {
            let blocks = self.of(*boundary).values();
            blocks.map(|(start, block)| (*boundary, start, block))
        })
    }

    /// Ends all blocks of an owner.
    pub(crate) fn end_owner(&mut self, owner: u64, end: BlockEnd) {
        let blocks = self.0.iter_mut().flat_map(AddressMap::values_mut);
        for block in blocks.filter(|block| block.end.is_none() && block.owner == Some(owner)) {
            block.end = Some(end);
        }
    }

    /// Where a range was allocated and freed, if it lies in a block that is not alive.
    pub(crate) fn stale(&self, start: u64, end: u64) -> Option<Vec<Witness>> {
        self.0.iter().find_map(|blocks| {
            let (_, block) = blocks.meeting(start, end)?;
            let end = block.stale_end()?;
            Some(vec![block.taken_here(), witness(end.seq, "freed here")])
        })
    }
}
