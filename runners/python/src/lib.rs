//! `allocert._allocert`: the reference managers of the EMM interface, and the reference sides of
//! the CUDA Array Interface, as Python objects; and the handlers of NumPy's data allocation.
//!
//! It knows no Numba: `allocert/numba.py` makes the plugin out of it, `allocert/cai.py` the arrays,
//! and `allocert/numpy.py` installs the handlers.
#![expect(unsafe_code, reason = "contexts, streams and pointers cross from Python as numbers")]

mod array;
mod description;
mod error;
mod finalizer;
mod importer;
mod manager;
mod memory;
mod nep49;
mod shared_manager;
mod stream;

use pyo3::prelude::*;

#[pymodule]
fn _allocert(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("DriverError", module.py().get_type::<error::DriverError>())?;
    module.add("InterfaceError", module.py().get_type::<error::InterfaceError>())?;
    module.add_class::<manager::Manager>()?;
    module.add_class::<finalizer::Finalizer>()?;
    module.add_class::<memory::Memory>()?;
    module.add_class::<memory::IpcHandle>()?;
    module.add_class::<array::DeviceArray>()?;
    module.add_class::<importer::Importer>()?;
    module.add_class::<importer::Imported>()?;
    module.add_class::<stream::Stream>()?;
    module.add_class::<nep49::recording::RecordingHandler>()?;
    module.add_function(wrap_pyfunction!(nep49::api::set_data_handler, module)?)?;
    module.add_function(wrap_pyfunction!(nep49::api::get_data_handler, module)?)?;
    module.add_function(wrap_pyfunction!(nep49::api::default_data_handler, module)?)?;
    module.add_function(wrap_pyfunction!(nep49::handlers::reference_handler, module)?)?;
    module.add_function(wrap_pyfunction!(nep49::handlers::pinned_handler, module)?)?;
    module.add_function(wrap_pyfunction!(nep49::handlers::handler_statistics, module)?)?;
    module.add_function(wrap_pyfunction!(nep49::gil::watch_python_allocators, module)?)?;
    module.add_function(wrap_pyfunction!(nep49::gil::take_calls_without_gil, module)?)?;
    module.add_function(wrap_pyfunction!(description::defects, module)?)
}
