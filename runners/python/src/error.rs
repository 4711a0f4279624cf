//! Errors as Python exceptions.

use allocert_contract::array::Defect;
use allocert_emm::Error;
use pyo3::exceptions::{PyException, PyNotImplementedError, PyRuntimeError, PyValueError};
use pyo3::{PyErr, create_exception};

create_exception!(
    _allocert,
    DriverError,
    PyException,
    "The CUDA driver failed, or there is none: args are (message, CUresult or None)."
);

create_exception!(
    _allocert,
    InterfaceError,
    PyValueError,
    "A CUDA array interface that is not valid: args are (message, [(kind, place, message), ...])."
);

/// Errors of arrays.
pub(crate) fn array_raised(error: allocert_cai::Error) -> PyErr {
    use allocert_cai::Error;
    let message = error.to_string();
    match error {
        Error::Defects(defects) => InterfaceError::new_err((message, tuples(defects))),
        Error::InvalidValue(_) | Error::ReadOnly => PyValueError::new_err(message),
        Error::NotSupported(_) => PyNotImplementedError::new_err(message),
        Error::Driver(cause) => driver_raised(cause),
    }
}

pub(crate) fn driver_raised(cause: allocert_cai::DriverError) -> PyErr {
    DriverError::new_err((cause.to_string(), cause.code()))
}

/// Kind, place and message of each.
pub(crate) fn tuples(defects: Vec<Defect>) -> Vec<(String, String, String)> {
    defects
        .into_iter()
        .map(|defect| (defect.kind.to_string(), defect.path, defect.message))
        .collect()
}

/// Errors of managers.
pub(crate) fn raised(error: Error) -> PyErr {
    match error {
        Error::OutOfMemory(cause) | Error::Driver(cause) => {
            DriverError::new_err((cause.to_string(), cause.code()))
        }
        Error::InvalidValue(message) => PyValueError::new_err(message),
        Error::NotSupported(message) => PyNotImplementedError::new_err(message),
        Error::State(message) => PyRuntimeError::new_err(message),
    }
}
