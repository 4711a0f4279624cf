//! The importer, method by method.

use std::sync::Arc;

use allocert_cai::{Driver, Keep, Live, Options, Order};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::description;
use crate::error::{array_raised, driver_raised};

/// Takes arrays of other libraries: `Importer(order, ignore_stream, refuse_masks)`, where `order`
/// is `events`, `host` or `enqueue`.
#[pyclass(frozen, module = "allocert._allocert")]
#[derive(Debug)]
pub(crate) struct Importer(allocert_cai::Importer);

#[pymethods]
impl Importer {
    #[new]
    fn new(order: &str, ignore_stream: bool, refuse_masks: bool) -> PyResult<Self> {
        let order = match order {
            "events" => Order::Events,
            "host" => Order::Host,
            "enqueue" => Order::Enqueue,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "no order `{order}`: events, host or enqueue"
                )));
            }
        };
        let driver = Driver::load().map_err(driver_raised)?;
        Ok(Self(allocert_cai::Importer::new(
            driver,
            Options { order, ignore_stream, refuse_masks },
        )))
    }

    /// The array of an object that is described in JSON. `keep` keeps its memory and its streams
    /// alive; without it they must live as long as what is returned.
    #[pyo3(signature = (object, keep))]
    fn open(&self, object: &str, keep: Option<Py<PyAny>>) -> PyResult<Imported> {
        let array = self.0.read(&description::parsed(object)?).map_err(array_raised)?;
        let keep = keep.map(|keep| Arc::new(keep) as Keep);
        // SAFETY: an object with the interface says that its memory and its stream exist; the
        // caller keeps it alive, with `keep` or by other means, as this method documents.
        let live = unsafe { Live::vouched(array, keep) };
        self.0.import(live).map(Imported).map_err(array_raised)
    }
}

/// An array of another library, behind `allocert.cai.Imported`.
#[pyclass(frozen, module = "allocert._allocert")]
#[derive(Debug)]
pub(crate) struct Imported(allocert_cai::Imported);

#[pymethods]
impl Imported {
    /// The dict that describes it, with None for a mask.
    fn interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        description::value(py, &self.0.array().describe())
    }

    fn mask(&self) -> PyResult<Option<Self>> {
        self.0.mask().map(|mask| mask.map(Self)).map_err(array_raised)
    }

    fn read(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        py.detach(|| self.0.read()).map_err(array_raised)
    }

    fn write(&self, py: Python<'_>, elements: &[u8]) -> PyResult<()> {
        py.detach(|| self.0.write(elements)).map_err(array_raised)
    }

    fn fill(&self, py: Python<'_>, value: u8) -> PyResult<()> {
        py.detach(|| self.0.fill(value)).map_err(array_raised)
    }
}
