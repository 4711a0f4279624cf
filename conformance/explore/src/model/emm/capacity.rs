//! Decides which requests for device memory must succeed, and which must fail. For sizes between
//! the two, the result depends on how a manager rounds, caches and splits: both results are right.

use crate::model::emm::{Allocation, MemoryKind, Model};

/// Sizes that no device has.
pub(crate) const HUGE_SIZES: [u64; 3] = [1 << 50, 1 << 62, i64::MAX as u64];
/// A manager may take this much for each allocation, however small.
const BLOCK_BYTES: u64 = 2 << 20;
/// The largest request that must succeed, if all held memory together is at most [`HELD_BYTES`].
pub(crate) const LARGEST_BYTES: u64 = 64 << 20;
/// The least capacity of a subject (EMM-FREEDOM-43).
const HELD_BYTES: u64 = 256 << 20;

/// What must come of a request for device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestClass {
    ZeroBytes,
    MustBeServed,
    MayFail,
    MoreThanIsFree,
    MoreThanAnyDevice,
}

impl Model {
    pub(crate) fn classify(&self, manager: usize, size_bytes: u64) -> RequestClass {
        let memory_bytes = self.machine.memory_bytes;
        let device = self.managers[manager].device;
        match size_bytes {
            0 => RequestClass::ZeroBytes,
            _ if size_bytes >= HUGE_SIZES[0] => RequestClass::MoreThanAnyDevice,
            _ if size_bytes > memory_bytes - self.held_bytes(device).min(memory_bytes) => {
                RequestClass::MoreThanIsFree
            }
            _ if size_bytes > LARGEST_BYTES => RequestClass::MayFail,
            _ if self.is_shared(manager) || self.managers[manager].reset_in_scope => {
                RequestClass::MayFail
            }
            _ if self.taken_bytes(manager) + charge(size_bytes) > HELD_BYTES => {
                RequestClass::MayFail
            }
            _ => RequestClass::MustBeServed,
        }
    }

    /// The bytes of a device that the host holds for certain.
    pub(crate) fn held_bytes(&self, device: u32) -> u64 {
        let held = |allocation: &&Allocation| {
            allocation.kind == MemoryKind::Device
                && allocation.surely_served
                && allocation.outlived_resets()
                && allocation.live_names > 0
        };
        let allocations = self
            .allocations
            .values()
            .filter(held)
            .filter(|allocation| self.managers[allocation.manager].device == device);
        allocations.map(|allocation| allocation.size_bytes).sum()
    }

    /// The bytes that a manager may have taken for what is held and for what it has yet to give
    /// back.
    fn taken_bytes(&self, manager: usize) -> u64 {
        let own = |allocation: &&Allocation| {
            allocation.kind == MemoryKind::Device
                && allocation.manager == manager
                && !allocation.taken_by_reset
        };
        self.allocations.values().filter(own).map(|allocation| charge(allocation.size_bytes)).sum()
    }

    /// Whether another manager may have taken any part of the device's memory for itself.
    fn is_shared(&self, manager: usize) -> bool {
        let device = self.managers[manager].device;
        let others = self.managers.iter().enumerate().filter(|(index, _)| *index != manager);
        others.into_iter().any(|(_, other)| other.device == device && other.asked_since_reset)
    }
}

fn charge(size_bytes: u64) -> u64 {
    size_bytes.max(BLOCK_BYTES)
}
