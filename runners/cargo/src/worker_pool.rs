//! Loaded workers, lent to the trials that run at the same time.

use std::sync::{Arc, Mutex, PoisonError};

use allocert_harness::{Error, Harness, Request};

/// Lends a worker to each trial that asks, and starts one when all are out.
#[derive(Debug)]
pub(crate) struct WorkerPool {
    request: Arc<Request>,
    idle: Mutex<Vec<Harness>>,
}

impl WorkerPool {
    pub(crate) fn new(request: Request) -> Self {
        Self { request: Arc::new(request), idle: Mutex::default() }
    }

    /// Calls `work` with a worker that has the subject loaded.
    pub(crate) fn with<T>(
        &self,
        work: impl FnOnce(&mut Harness) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut harness = idle.map_or_else(|| Harness::load(&self.request), Ok)?;
        let done = work(&mut harness)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(harness);
        Ok(done)
    }
}
