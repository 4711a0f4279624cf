//! The device of each context, and how often its primary context is retained.

use std::collections::HashMap;

/// Which device each context is of, and how often its primary context is retained.
#[derive(Debug, Default)]
pub(crate) struct ContextDevices {
    devices: HashMap<u64, u64>,
    retains: HashMap<u64, i64>,
}

impl ContextDevices {
    pub(crate) fn begin(&mut self, context: u64, device: u64) {
        self.devices.insert(context, device);
    }

    pub(crate) fn retain(&mut self, device: u64) {
        *self.retains.entry(device).or_default() += 1;
    }

    /// Whether that was the last one.
    pub(crate) fn release(&mut self, device: u64) -> bool {
        let count = self.retains.entry(device).or_default();
        *count -= 1;
        *count <= 0
    }

    pub(crate) fn device(&self, context: u64) -> Option<u64> {
        self.devices.get(&context).copied()
    }

    /// Whether two contexts are one, or known to be of one device.
    pub(crate) fn share(&self, one: u64, other: u64) -> bool {
        one == other || self.device(one).is_some_and(|device| self.device(other) == Some(device))
    }
}
