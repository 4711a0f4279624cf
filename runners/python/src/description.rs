//! Descriptions between Python and Rust.

use allocert_cai::Importer;
use allocert_contract::array::{ArrayInterface, Content, Description, Interpretation};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::error::tuples;

/// (kind, place, message) for everything that is wrong with an object, described as
/// `worker/cai_shared/describe.py` does it. `lenient` reads it as the importer does.
#[pyfunction]
pub(crate) fn defects(object: &str, lenient: bool) -> PyResult<Vec<(String, String, String)>> {
    let reading = if lenient { Importer::reading() } else { Interpretation::default() };
    let object = parsed(object)?;
    Ok(ArrayInterface::read_object(&object, &reading).map_or_else(tuples, |_array| Vec::new()))
}

pub(crate) fn parsed(json: &str) -> PyResult<Description> {
    serde_json::from_str(json)
        .map_err(|error| PyValueError::new_err(format!("no description: {error}")))
}

/// The Python value that is described; None for an object, which a description cannot make.
pub(crate) fn value<'py>(
    py: Python<'py>,
    description: &Description,
) -> PyResult<Bound<'py, PyAny>> {
    let values = |items: &[Description]| {
        items.iter().map(|item| value(py, item)).collect::<PyResult<Vec<_>>>()
    };
    Ok(match &description.content {
        Content::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Content::Int(number) => match (i64::try_from(*number), u64::try_from(*number)) {
            (Ok(number), _) => PyInt::new(py, number).into_any(),
            (_, Ok(number)) => PyInt::new(py, number).into_any(),
            _ => py.None().into_bound(py),
        },
        Content::Float(number) => PyFloat::new(py, *number).into_any(),
        Content::Str(text) => PyString::new(py, text).into_any(),
        Content::Tuple(items) => PyTuple::new(py, values(&items.carried)?)?.into_any(),
        Content::List(items) => PyList::new(py, values(&items.carried)?)?.into_any(),
        Content::Dict(entries) => {
            let dict = PyDict::new(py);
            for (key, entry) in &entries.known {
                dict.set_item(key, value(py, entry)?)?;
            }
            dict.into_any()
        }
        _ => py.None().into_bound(py),
    })
}
