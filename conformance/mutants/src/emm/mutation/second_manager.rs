//! A second manager beside the base manager, for a mutation that excludes some memory from what
//! happens to the rest.

use std::sync::OnceLock;

use allocert_abi::emm::Memory;

use crate::emm::base_manager::{Answer, BaseManager, OWN_TOKEN};

#[derive(Default)]
pub(crate) struct SecondManager(OnceLock<BaseManager>);

impl SecondManager {
    /// Opens the second manager at the first call.
    pub(crate) fn get_or_open(&self, base: &BaseManager) -> Answer<&BaseManager> {
        if self.0.get().is_none() {
            let _ = self.0.set(base.open_second()?);
        }
        Ok(self.0.get().expect("set above"))
    }

    pub(crate) fn get(&self) -> Option<&BaseManager> {
        self.0.get()
    }

    /// Marks memory of the second manager, so that [`Self::release`] recognizes it.
    pub(crate) fn own(memory: Memory) -> Memory {
        Memory { token: memory.token | OWN_TOKEN, ..memory }
    }

    /// Releases a block to the manager that returned it.
    pub(crate) fn release(&self, base: &BaseManager, token: u64) -> Answer {
        match self.0.get() {
            Some(second) if token & OWN_TOKEN != 0 => second.release(token & !OWN_TOKEN),
            _ => base.release(token),
        }
    }
}
