//! How often the primary context of each device is retained.

use std::collections::HashMap;

#[derive(Debug, Default)]
pub(crate) struct PrimaryContexts {
    retains: HashMap<u64, i64>,
}

impl PrimaryContexts {
    pub(crate) fn retain(&mut self, device: u64) {
        *self.retains.entry(device).or_default() += 1;
    }

    /// Whether that was the last one.
    pub(crate) fn release(&mut self, device: u64) -> bool {
        let count = self.retains.entry(device).or_default();
        *count -= 1;
        *count <= 0
    }
}
