//! The manager that a Python `Manager` and its finalizers share.

use std::fmt;

/// The manager itself, shared by its Python object and by the finalizers that may outlive that.
pub(crate) struct SharedManager {
    pub(crate) manager: Box<dyn allocert_emm::Manager>,
}

impl fmt::Debug for SharedManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedManager").finish_non_exhaustive()
    }
}

impl Drop for SharedManager {
    /// No finalizer is left, so the cached memory goes back to the driver.
    fn drop(&mut self) {
        self.manager.reset();
    }
}
