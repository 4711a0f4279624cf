//! `allocert._allocert`: the reference managers of the EMM interface as Python objects.
//!
//! It knows no Numba: `allocert/numba.py` makes the plugin out of it.
#![expect(unsafe_code, reason = "a CUcontext crosses from Python as a number")]

mod error;
mod finalizer;
mod manager;
mod memory;

use pyo3::prelude::*;

#[pymodule]
fn _allocert(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("DriverError", module.py().get_type::<error::DriverError>())?;
    module.add_class::<manager::Manager>()?;
    module.add_class::<finalizer::Finalizer>()?;
    module.add_class::<memory::Memory>()?;
    module.add_class::<memory::IpcHandle>()
}
