//! What a device has left, as far as every legitimate manager must agree. Between "must be served"
//! and "cannot be served" lies what depends on how a manager rounds, caches and splits, and there
//! both answers are right.

use crate::model::{Kind, Model, Root};

/// Sizes that no device has.
pub(crate) const HUGE_SIZES: [u64; 3] = [1 << 50, 1 << 62, i64::MAX as u64];
/// A manager may take so much for each allocation, however small.
const BLOCK_BYTES: u64 = 2 << 20;
/// Of the memory of a device, one part in so many must be served in one piece ...
const PIECE: u64 = 32;
/// ... while all that is held together is at most one part in so many.
const SHARE: u64 = 4;

/// What must come of a request for device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outlook {
    /// Nothing was asked for.
    Zero,
    Served,
    Either,
    /// There is less than that.
    Short,
    Huge,
}

impl Model {
    pub(crate) fn outlook(&self, manager: usize, size_bytes: u64) -> Outlook {
        let memory_bytes = self.machine.memory_bytes;
        let device = self.managers[manager].device;
        match size_bytes {
            0 => Outlook::Zero,
            _ if size_bytes >= HUGE_SIZES[0] => Outlook::Huge,
            _ if size_bytes > memory_bytes - self.held_bytes(device).min(memory_bytes) => {
                Outlook::Short
            }
            _ if size_bytes > memory_bytes / PIECE => Outlook::Either,
            _ if self.is_shared(manager) || self.managers[manager].reset_inside => Outlook::Either,
            _ if self.taken_bytes(manager) + charge(size_bytes) > memory_bytes / SHARE => {
                Outlook::Either
            }
            _ => Outlook::Served,
        }
    }

    /// Bytes of a device that are in the host's hands for certain.
    pub(crate) fn held_bytes(&self, device: u32) -> u64 {
        let held =
            |root: &&Root| root.kind == Kind::Device && root.sure && !root.stale && root.names > 0;
        let roots = self
            .roots
            .values()
            .filter(held)
            .filter(|root| self.managers[root.manager].device == device);
        roots.map(|root| root.size_bytes).sum()
    }

    /// Bytes that a manager may have taken for what is held and for what waits.
    fn taken_bytes(&self, manager: usize) -> u64 {
        let own =
            |root: &&Root| root.kind == Kind::Device && root.manager == manager && !root.stale;
        self.roots.values().filter(own).map(|root| charge(root.size_bytes)).sum()
    }

    /// Another manager of the device may have taken whatever it likes: it gives back only what it
    /// needs itself.
    fn is_shared(&self, manager: usize) -> bool {
        let device = self.managers[manager].device;
        let others = self.managers.iter().enumerate().filter(|(index, _)| *index != manager);
        others.into_iter().any(|(_, other)| other.device == device && other.took)
    }
}

fn charge(size_bytes: u64) -> u64 {
    size_bytes.max(BLOCK_BYTES)
}
