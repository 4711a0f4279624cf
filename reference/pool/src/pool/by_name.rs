//! Blocks by their names: a caller may use the name of a block that is gone, and does no harm.

use std::sync::atomic::Ordering::Relaxed;

use allocert_fit::{BlockId, Owner};

use super::Pool;
use crate::blocks::Fate;
use crate::{Cache, Name, System};

/// What became of a block that a caller gives back by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The caller had it until now.
    Now,
    /// The caller gave it back before.
    Before,
    /// The caller lost it at [`Pool::clear`].
    Forgotten,
    /// No caller ever had a block of this name.
    Never,
}

/// Where a block lies that a caller has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    pub address: u64,
    /// As asked for.
    pub size_bytes: u64,
    /// Where its chunk begins.
    pub chunk: u64,
}

impl<S: System> Pool<S> {
    /// Takes a block back, if its caller has it. Reads no guard.
    #[inline]
    pub fn free_named(&self, cache: &Cache, name: Name) -> Ended {
        let Some(block) = self.blocks.find(name.number()) else {
            return Ended::Never;
        };
        let Some(kept) = cache.try_lock() else {
            return self.free_named_shared(name);
        };
        let fate = block.fate(name.state());
        if fate != Fate::Live || !block.end_state(name.state()) {
            return ended(fate);
        }
        kept.count(-(block.size_bytes() as i64));
        self.keep(&kept, block, name.number(), name.state());
        Ended::Now
    }

    /// Where the block is, if a caller has it.
    pub fn locate(&self, name: Name) -> Option<Location> {
        let block = self.blocks.find(name.number())?;
        let engine = self.engine();
        if block.fate(name.state()) != Fate::Live {
            return None;
        }
        let (address, chunk) = engine.fit.locate(BlockId(name.number()));
        Some(Location { address, size_bytes: block.size_bytes(), chunk })
    }

    #[cold]
    fn free_named_shared(&self, name: Name) -> Ended {
        let mut engine = self.engine();
        let block = self.blocks.get(name.number());
        let fate = block.fate(name.state());
        if fate != Fate::Live || !block.end_state(name.state()) {
            return ended(fate);
        }
        self.used_bytes.fetch_sub(block.size_bytes() as i64, Relaxed);
        self.give(&mut engine, Owner::FIRST, name.number());
        Ended::Now
    }
}

/// Of a name that did not end now. If it was live, another thread was quicker.
fn ended(fate: Fate) -> Ended {
    match fate {
        Fate::Live | Fate::Ended => Ended::Before,
        Fate::Forgotten => Ended::Forgotten,
        Fate::Never => Ended::Never,
    }
}
