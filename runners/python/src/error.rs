//! Errors of a manager as Python exceptions.

use allocert_emm::Error;
use pyo3::exceptions::{PyException, PyNotImplementedError, PyRuntimeError, PyValueError};
use pyo3::{PyErr, create_exception};

create_exception!(
    _allocert,
    DriverError,
    PyException,
    "The CUDA driver failed, or there is none: args are (message, CUresult or None)."
);

pub(crate) fn raised(error: Error) -> PyErr {
    match error {
        Error::OutOfMemory(cause) | Error::Driver(cause) => DriverError::new_err((cause.to_string(), cause.code())),
        Error::InvalidValue(message) => PyValueError::new_err(message),
        Error::NotSupported(message) => PyNotImplementedError::new_err(message),
        Error::State(message) => PyRuntimeError::new_err(message),
    }
}
