//! What the host holds: memory that was returned to it and not dropped yet.

use std::collections::HashMap;

use crate::judge::addresses::{AddressMap, ranges};
use crate::observation::Facts;
use crate::operation::Operation;
use crate::plan::PlannedStep;
use crate::verdict::Witness;

/// Memory by name, and the names that share it.
#[derive(Debug, Default)]
pub(crate) struct Holdings<'a> {
    roots: Vec<Root<'a>>,
    /// The root that each name holds.
    of: HashMap<&'a str, usize>,
    ranges: AddressMap<usize>,
}

#[derive(Debug)]
struct Root<'a> {
    holder: Holder<'a>,
    manager: &'a str,
    /// Names that are not dropped.
    sharers: usize,
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
pub(crate) enum Complaint<'a> {
    Overlap { name: &'a str, other: Holder<'a>, range: (u64, u64) },
    Stale { name: &'a str, at: u64, events: Vec<Witness> },
}

impl<'a> Holdings<'a> {
    /// A step begins: what it lets go is not held any more.
    pub(crate) fn begin(&mut self, step: &'a PlannedStep) {
        match &step.r#do {
            Operation::Drop { name } => self.drop_name(name),
            Operation::Free { name } => {
                if let Some(root) = self.of.get(name.as_str()).copied() {
                    self.forget(root);
                }
            }
            Operation::Reset {} | Operation::Destroy {} => self.forget_all(Some(&step.on)),
            Operation::HostReset {} | Operation::Close {} => self.forget_all(None),
            _ => {}
        }
    }

    /// A step returned: what it binds is held from now on.
    pub(crate) fn end(
        &mut self,
        step: &'a PlannedStep,
        facts: &Facts,
        stale: impl Fn(u64, u64) -> Option<Vec<Witness>>,
    ) -> Option<Complaint<'a>> {
        let (name, _) = step.r#do.binds()?;
        match &step.r#do {
            Operation::View { of, .. } | Operation::Slice { of, .. } => {
                self.share(name, of);
                None
            }
            // Two pins of one buffer are two memories at one address.
            Operation::Mempin { .. } => self.hold(step, name, facts, true, stale),
            Operation::Memalloc { .. }
            | Operation::Memhostalloc { .. }
            | Operation::DeviceArray { .. }
            | Operation::PinnedArray { .. }
            | Operation::MappedArray { .. }
            | Operation::ManagedArray { .. }
            | Operation::ToDevice { .. } => self.hold(step, name, facts, false, stale),
            _ => None,
        }
    }

    /// Who holds memory that meets a range.
    pub(crate) fn meeting(&self, start: u64, end: u64) -> Option<Holder<'a>> {
        let (_, root) = self.ranges.meeting(start, end)?;
        self.roots.get(*root).map(|root| root.holder)
    }

    fn hold(
        &mut self,
        step: &'a PlannedStep,
        name: &'a str,
        facts: &Facts,
        pinned: bool,
        stale: impl Fn(u64, u64) -> Option<Vec<Witness>>,
    ) -> Option<Complaint<'a>> {
        let index = self.roots.len();
        let holder = Holder { name, step: step.index };
        self.roots.push(Root { holder, manager: &step.on, sharers: 1, starts: Vec::new() });
        self.of.insert(name, index);
        let mut complaint = None;
        for (start, end) in ranges(facts) {
            if let Some(other) = self.meeting(start, end) {
                let overlap = Complaint::Overlap { name, other, range: (start, end) };
                complaint = complaint.or((!pinned).then_some(overlap));
                continue;
            }
            if let Some(events) = stale(start, end) {
                complaint = complaint.or(Some(Complaint::Stale { name, at: start, events }));
            }
            self.ranges.put(start, end, index);
            self.roots[index].starts.push(start);
        }
        complaint
    }

    fn share(&mut self, name: &'a str, of: &str) {
        let Some(root) = self.of.get(of).copied() else { return };
        self.of.insert(name, root);
        self.roots[root].sharers += 1;
    }

    fn drop_name(&mut self, name: &str) {
        let Some(root) = self.of.remove(name) else { return };
        self.roots[root].sharers = self.roots[root].sharers.saturating_sub(1);
        if self.roots[root].sharers == 0 {
            self.forget(root);
        }
    }

    fn forget(&mut self, root: usize) {
        for start in std::mem::take(&mut self.roots[root].starts) {
            self.ranges.remove(start);
        }
    }

    fn forget_all(&mut self, manager: Option<&str>) {
        for root in 0..self.roots.len() {
            if manager.is_none_or(|manager| manager == self.roots[root].manager) {
                self.forget(root);
            }
        }
    }
}
