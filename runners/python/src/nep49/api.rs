//! The functions of NumPy's C API that set and get the current handler.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use allocert_abi::nep49::Handler;
use pyo3::exceptions::{PyImportError, PyRuntimeError};
use pyo3::ffi;
use pyo3::prelude::*;

/// The name of each capsule that holds a handler.
const CAPSULE_NAME: &CStr = c"mem_handler";

/// Places in NumPy's table of functions, the same ones from version 1.22 on.
const SET_HANDLER: usize = 304;
const GET_HANDLER: usize = 305;
const DEFAULT_HANDLER: usize = 306;

type SetHandler = unsafe extern "C" fn(handler: *mut ffi::PyObject) -> *mut ffi::PyObject;
type GetHandler = unsafe extern "C" fn() -> *mut ffi::PyObject;

/// Makes a capsule the handler of the current context, None the default one. Returns the handler
/// before it.
#[pyfunction]
pub(crate) fn set_data_handler(
    py: Python<'_>,
    handler: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let address = entry(py, SET_HANDLER)?;
    // SAFETY: the entry is `PyDataMem_SetHandler`, which has this type.
    let set = unsafe { std::mem::transmute::<*mut c_void, SetHandler>(address.as_ptr()) };
    let raw = handler.as_ref().map_or(std::ptr::null_mut(), Bound::as_ptr);
    // SAFETY: the interpreter is attached. NumPy takes null, and any object: it raises for one that
    // is no capsule of its name, and takes a reference of its own to one that is.
    let previous = unsafe { set(raw) };
    // SAFETY: NumPy returns a new reference, or null with an exception.
    unsafe { Bound::from_owned_ptr_or_err(py, previous) }.map(Bound::unbind)
}

/// The capsule of the handler that makes the next array of the current context.
#[pyfunction]
pub(crate) fn get_data_handler(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let address = entry(py, GET_HANDLER)?;
    // SAFETY: the entry is `PyDataMem_GetHandler`, which has this type.
    let get = unsafe { std::mem::transmute::<*mut c_void, GetHandler>(address.as_ptr()) };
    // SAFETY: the interpreter is attached.
    let current = unsafe { get() };
    // SAFETY: NumPy returns a new reference, or null with an exception.
    unsafe { Bound::from_owned_ptr_or_err(py, current) }.map(Bound::unbind)
}

/// The capsule of NumPy's own handler.
#[pyfunction]
pub(crate) fn default_data_handler(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let variable = entry(py, DEFAULT_HANDLER)?.cast::<*mut ffi::PyObject>();
    // SAFETY: the entry is the address of the variable `PyDataMem_DefaultHandler`, which NumPy sets
    // when it is imported and never again.
    let default = unsafe { variable.read() };
    // SAFETY: the variable holds a reference for as long as the process lives; this takes another.
    unsafe { Bound::from_borrowed_ptr_or_opt(py, default) }
        .map(Bound::unbind)
        .ok_or_else(|| PyRuntimeError::new_err("NumPy has no default handler"))
}

/// A new capsule that holds a handler.
pub(crate) fn new_capsule(py: Python<'_>, handler: &'static Handler) -> PyResult<Py<PyAny>> {
    let pointer = std::ptr::from_ref(handler).cast_mut().cast();
    // SAFETY: the interpreter is attached, the pointer is not null, the name is static, and nothing
    // is to be destroyed with the capsule.
    let capsule = unsafe { ffi::PyCapsule_New(pointer, CAPSULE_NAME.as_ptr(), None) };
    // SAFETY: Python returns a new reference, or null with an exception.
    unsafe { Bound::from_owned_ptr_or_err(py, capsule) }.map(Bound::unbind)
}

/// The handler that a capsule holds. Raises ValueError for what is no such capsule.
pub(crate) fn handler_of(capsule: &Bound<'_, PyAny>) -> PyResult<*const Handler> {
    // SAFETY: the object is alive, and the name static; Python raises for what is no such capsule.
    let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), CAPSULE_NAME.as_ptr()) };
    if pointer.is_null() {
        return Err(PyErr::fetch(capsule.py()));
    }
    Ok(pointer.cast())
}

/// An entry of NumPy's table.
fn entry(py: Python<'_>, place: usize) -> PyResult<NonNull<c_void>> {
    let module = py
        .import("numpy._core._multiarray_umath")
        .or_else(|_| py.import("numpy.core._multiarray_umath"))?;
    let capsule = module.getattr("_ARRAY_API")?;
    // SAFETY: the object is alive; Python raises for one that is no capsule without a name.
    let table = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), std::ptr::null()) };
    let table = NonNull::new(table.cast::<*mut c_void>()).ok_or_else(|| PyErr::fetch(py))?;
    // SAFETY: the table of NumPy 1.22 and later has more entries than that, and lives as long as
    // the process.
    let entry = unsafe { table.add(place) };
    // SAFETY: as above.
    NonNull::new(unsafe { entry.read() }).ok_or_else(|| {
        PyImportError::new_err("NumPy before 1.22 has no handlers of data allocation")
    })
}
