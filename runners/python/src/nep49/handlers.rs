//! The reference handlers as capsules, and what they counted.

use allocert_nep49::Statistics;
use allocert_nep49_pinned::Pinned;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::api::{handler_of, new_capsule};
use crate::error::driver_raised;

/// A new capsule with the handler of ordinary memory.
#[pyfunction]
pub(crate) fn reference_handler(py: Python<'_>) -> PyResult<Py<PyAny>> {
    new_capsule(py, &allocert_nep49::HANDLER.0)
}

/// A new capsule with the handler of page-locked memory. It initialises the CUDA driver and keeps
/// the primary context of the device. Raises DriverError.
#[pyfunction]
pub(crate) fn pinned_handler(py: Python<'_>, device: i32) -> PyResult<Py<PyAny>> {
    let pinned = py.detach(|| Pinned::open(device)).map_err(driver_raised)?;
    new_capsule(py, pinned.handler())
}

/// What the handler of a capsule did so far: blocks and bytes alive, most bytes alive, then calls
/// of malloc, calloc, realloc and free that did their work, failed calls and refused calls. Raises
/// ValueError for a handler of somebody else.
#[pyfunction]
pub(crate) fn handler_statistics(capsule: &Bound<'_, PyAny>) -> PyResult<[u64; 9]> {
    let address = handler_of(capsule)?;
    let Statistics {
        live_blocks,
        live_bytes,
        peak_bytes,
        malloc_calls,
        calloc_calls,
        realloc_calls,
        free_calls,
        failed_calls,
        refused_calls,
    } = if std::ptr::eq(address, &raw const allocert_nep49::HANDLER.0) {
        allocert_nep49::statistics()
    } else if let Some(pinned) = Pinned::at(address) {
        pinned.statistics()
    } else {
        return Err(PyValueError::new_err(
            "only handlers of allocert count: pass allocert.numpy.handler() or pinned()",
        ));
    };
    Ok([
        live_blocks,
        live_bytes,
        peak_bytes,
        malloc_calls,
        calloc_calls,
        realloc_calls,
        free_calls,
        failed_calls,
        refused_calls,
    ])
}
