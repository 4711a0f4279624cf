//! The object that releases an allocation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use allocert_emm::Token;
use pyo3::prelude::*;

use crate::shared_manager::SharedManager;

/// Releases one allocation when it is called, and otherwise when its own last reference goes; never
/// twice. Safe on any thread, with or without a current context, after `reset()` and while the
/// interpreter shuts down; never raises. It keeps the manager behind it alive, but no Python
/// object.
#[pyclass(frozen, module = "allocert._allocert")]
#[derive(Debug)]
pub(crate) struct Finalizer {
    shared: Arc<SharedManager>,
    /// Identifies the allocation. It is never 0, and a manager never uses one twice.
    token: Token,
    alive: AtomicBool,
}

impl Finalizer {
    pub(crate) fn new(shared: Arc<SharedManager>, token: Token) -> Self {
        Self { shared, token, alive: AtomicBool::new(true) }
    }

    fn release(&self) {
        if self.alive.swap(false, Ordering::AcqRel) {
            // A finalizer has no caller that could handle an error, and the token is used up.
            let _ = self.shared.manager.release(self.token);
        }
    }
}

#[pymethods]
impl Finalizer {
    fn __call__(&self, py: Python<'_>) {
        py.detach(|| self.release());
    }

    /// Whether it has not released anything yet.
    #[getter]
    fn alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    #[getter]
    fn token(&self) -> u64 {
        self.token.0
    }
}

impl Drop for Finalizer {
    /// Lets other threads run meanwhile: a driver that waits for the device may wait for a callback
    /// in Python.
    fn drop(&mut self) {
        if *self.alive.get_mut() && Python::try_attach(|py| py.detach(|| self.release())).is_none()
        {
            self.release();
        }
    }
}
