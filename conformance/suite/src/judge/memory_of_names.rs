//! What the host holds: memory that was returned to it and not dropped yet.

use std::collections::HashMap;

use serde_json::Value;

use crate::interface::properties::HeldMemory;
use crate::judge::addresses::{AddressMap, ranges};
use crate::observation::Facts;
use crate::plan::PlannedStep;
use crate::verdict::Witness;

/// No address space of a process has more bytes.
const ADDRESS_SPACE_BYTES: u64 = 1 << 57;

/// Memory by name, and the names that share it.
#[derive(Debug, Default)]
pub(crate) struct Holdings<'a> {
    blocks: Vec<HeldBlock<'a>>,
    /// The block that each name holds.
    block_of: HashMap<&'a str, usize>,
    /// The device whose context each manager serves.
    device_of: HashMap<&'a str, u32>,
    ranges: AddressMap<usize>,
}

#[derive(Debug)]
struct HeldBlock<'a> {
    holder: Holder<'a>,
    manager: &'a str,
    /// Names that are not dropped.
    names: usize,
    starts: Vec<u64>,
}

/// A name and the step that bound it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Holder<'a> {
    pub(crate) name: &'a str,
    pub(crate) step: u32,
}

/// What is wrong with memory that came back.
#[derive(Debug)]
pub(crate) enum HeldMemoryError<'a> {
    Overlap { name: &'a str, other: Holder<'a>, range: (u64, u64) },
    Stale { name: &'a str, at: u64, events: Vec<Witness> },
}

impl<'a> Holdings<'a> {
    /// At the beginning of a step: the host no longer holds what the step drops.
    pub(crate) fn begin(&mut self, step: &'a PlannedStep) {
        match step.r#do.properties().held {
            HeldMemory::Drops { name } | HeldMemory::Replaces { name } => self.drop_name(name),
            HeldMemory::Frees { name } => {
                if let Some(block) = self.block_of.get(name).copied() {
                    self.forget(block);
                }
            }
            HeldMemory::DropsAllOfContext => {
                let device = self.device_of(&step.on);
                self.forget_all(|holdings, manager| holdings.device_of(manager) == device);
            }
            HeldMemory::DropsAll => self.forget_all(|_, _| true),
            HeldMemory::Unchanged
            | HeldMemory::Serves { .. }
            | HeldMemory::Gains
            | HeldMemory::Pins
            | HeldMemory::Shares { .. } => {}
        }
    }

    /// After a step returned: the host holds what the step binds.
    pub(crate) fn end(
        &mut self,
        step: &'a PlannedStep,
        facts: &Facts,
        stale: impl Fn(u64, u64) -> Option<Vec<Witness>>,
    ) -> Option<HeldMemoryError<'a>> {
        let properties = step.r#do.properties();
        let (name, _) = properties.binds?;
        match properties.held {
            // A part of no bytes keeps none alive: numba.cuda gives it no memory at all.
            HeldMemory::Shares { .. } if has_no_bytes(facts) => None,
            HeldMemory::Shares { of } => {
                self.share(name, of);
                None
            }
            // Two pins of one buffer are two memories at one address.
            HeldMemory::Pins => self.hold(step, name, facts, true, stale),
            HeldMemory::Gains | HeldMemory::Replaces { .. } => {
                self.hold(step, name, facts, false, stale)
            }
            HeldMemory::Serves { device } => {
                self.device_of.insert(name, device);
                None
            }
            HeldMemory::Unchanged
            | HeldMemory::Drops { .. }
            | HeldMemory::Frees { .. }
            | HeldMemory::DropsAllOfContext
            | HeldMemory::DropsAll => None,
        }
    }

    /// The holder of memory that overlaps a range.
    pub(crate) fn meeting(&self, start: u64, end: u64) -> Option<Holder<'a>> {
        let (_, block) = self.ranges.meeting(start, end)?;
        self.blocks.get(*block).map(|block| block.holder)
    }

    fn hold(
        &mut self,
        step: &'a PlannedStep,
        name: &'a str,
        facts: &Facts,
        pinned: bool,
        stale: impl Fn(u64, u64) -> Option<Vec<Witness>>,
    ) -> Option<HeldMemoryError<'a>> {
        let index = self.blocks.len();
        let holder = Holder { name, step: step.index };
        self.blocks.push(HeldBlock { holder, manager: &step.on, names: 1, starts: Vec::new() });
        self.block_of.insert(name, index);
        let mut error = None;
        for (start, end) in ranges(facts) {
            // A block for a request that nobody can serve has fewer bytes than were asked for. That
            // is a violation of its own, and says nothing about the blocks behind it.
            if end - start > ADDRESS_SPACE_BYTES {
                continue;
            }
            if let Some(other) = self.meeting(start, end) {
                let overlap = HeldMemoryError::Overlap { name, other, range: (start, end) };
                error = error.or((!pinned).then_some(overlap));
                continue;
            }
            if let Some(events) = stale(start, end) {
                error = error.or(Some(HeldMemoryError::Stale { name, at: start, events }));
            }
            self.ranges.put(start, end, index);
            self.blocks[index].starts.push(start);
        }
        error
    }

    fn share(&mut self, name: &'a str, of: &str) {
        let Some(block) = self.block_of.get(of).copied() else { return };
        self.block_of.insert(name, block);
        self.blocks[block].names += 1;
    }

    fn drop_name(&mut self, name: &str) {
        let Some(block) = self.block_of.remove(name) else { return };
        self.blocks[block].names = self.blocks[block].names.saturating_sub(1);
        if self.blocks[block].names == 0 {
            self.forget(block);
        }
    }

    fn forget(&mut self, block: usize) {
        for start in std::mem::take(&mut self.blocks[block].starts) {
            self.ranges.remove(start);
        }
    }

    fn forget_all(&mut self, concerns: impl Fn(&Self, &str) -> bool) {
        for block in 0..self.blocks.len() {
            if concerns(self, self.blocks[block].manager) {
                self.forget(block);
            }
        }
    }

    /// The device whose context a manager serves. Memory of other interfaces has no manager.
    fn device_of(&self, manager: &str) -> Option<u32> {
        self.device_of.get(manager).copied()
    }
}

fn has_no_bytes(facts: &Facts) -> bool {
    facts.get("size_bytes").and_then(Value::as_u64) == Some(0)
}
