//! Streams: new ones, and those of other libraries.

use std::sync::Arc;

use allocert_cai::{Driver, Keep};
use allocert_contract::StreamHandle;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::driver_raised;

/// A CUDA stream: a new one, or the existing one with this handle, which `keep` keeps alive.
#[pyclass(frozen, module = "allocert._allocert")]
#[derive(Debug)]
pub(crate) struct Stream(pub(crate) allocert_cai::Stream);

#[pymethods]
impl Stream {
    #[new]
    #[pyo3(signature = (handle=None, keep=None))]
    fn new(py: Python<'_>, handle: Option<u64>, keep: Option<Py<PyAny>>) -> PyResult<Self> {
        match handle {
            None => py.detach(created).map(Self),
            Some(0) => Err(PyValueError::new_err(
                "stream 0 may mean two streams: pass 1 (legacy) or 2 (per-thread)",
            )),
            Some(handle) => {
                let keep = keep.map(|keep| Arc::new(keep) as Keep);
                // SAFETY: the caller passes the value of a stream that lives as long as `keep`, as
                // the class documents.
                Ok(Self(unsafe { allocert_cai::Stream::foreign(StreamHandle(handle), keep) }))
            }
        }
    }

    /// The value of the `CUstream`.
    #[getter]
    fn handle(&self) -> u64 {
        self.0.handle().0
    }

    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| Driver::load()?.stream_synchronize(&self.0)).map_err(driver_raised)
    }

    /// The protocol of cuda.core: (version, handle).
    fn __cuda_stream__(&self) -> (u32, u64) {
        (0, self.handle())
    }
}

fn created() -> PyResult<allocert_cai::Stream> {
    driver(0).and_then(|driver| driver.stream_create().map_err(driver_raised))
}

/// The driver, with a current context: the primary one of that device where there is none, as the
/// CUDA runtime does it.
pub(crate) fn driver(device: i32) -> PyResult<Driver> {
    let current = || {
        let driver = Driver::load()?;
        driver.init()?;
        if driver.ctx_get_current()?.is_none() {
            driver.ctx_set_current(Some(driver.primary_ctx_retain(device)?))?;
        }
        Ok(driver)
    };
    current().map_err(driver_raised)
}
