//! What runs when the last reference to an allocation is gone.

use std::sync::Arc;

use allocert_emm::Token;
use pyo3::prelude::*;

use crate::manager::Core;

/// Releases one allocation when called. Safe on any thread, with or without a current context, after `reset()` and while
/// the interpreter shuts down; never raises. It keeps the manager behind it alive, but no Python object.
#[pyclass(frozen, module = "allocert._allocert")]
#[derive(Debug)]
pub(crate) struct Finalizer {
    core: Arc<Core>,
    token: Token,
}

impl Finalizer {
    pub(crate) fn new(core: Arc<Core>, token: u64) -> Self {
        Self { core, token: Token(token) }
    }
}

#[pymethods]
impl Finalizer {
    fn __call__(&self, py: Python<'_>) {
        // Whatever the driver answers, the token is spent, and nobody above a finalizer could act on an error.
        let _ = py.detach(|| self.core.manager.release(self.token));
    }
}
