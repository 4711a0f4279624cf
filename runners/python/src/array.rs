//! The exporting array, method by method.

use allocert_cai::{Array, Driver, Export, MemoryOrder};
use allocert_contract::array::{Typestr, Version};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::description;
use crate::error::{array_raised, driver_raised};
use crate::stream::{self, Stream};

/// An array in device memory: `DeviceArray(shape, typestr, fortran, device)`. It is behind
/// `allocert.cai.Array`.
#[pyclass(frozen, module = "allocert._allocert")]
#[derive(Debug)]
pub(crate) struct DeviceArray(Array);

#[pymethods]
impl DeviceArray {
    #[new]
    fn new(
        py: Python<'_>,
        shape: Vec<u64>,
        typestr: &str,
        fortran: bool,
        device: i32,
    ) -> PyResult<Self> {
        let typestr: Typestr = typestr
            .parse()
            .map_err(|bad| PyValueError::new_err(format!("`{typestr}` is not a typestr: {bad}")))?;
        let order = if fortran { MemoryOrder::Fortran } else { MemoryOrder::C };
        let empty = shape.contains(&0) || typestr.size_bytes() == 0;
        py.detach(|| {
            // Nothing is allocated, so that no context is needed either.
            let driver = if empty {
                Driver::load().map_err(driver_raised)?
            } else {
                stream::driver(device)?
            };
            Array::new(driver, &shape, typestr, order).map(Self).map_err(array_raised)
        })
    }

    #[getter]
    fn shape(&self) -> Vec<u64> {
        self.0.shape().to_vec()
    }

    #[getter]
    fn strides(&self) -> Vec<i64> {
        self.0.strides().to_vec()
    }

    #[getter]
    fn typestr(&self) -> String {
        self.0.typestr().to_string()
    }

    #[getter]
    fn read_only(&self) -> bool {
        self.0.is_read_only()
    }

    fn mask(&self) -> Option<Self> {
        self.0.mask().map(|mask| Self(mask.as_ref().clone()))
    }

    fn take(&self, axis: usize, first: u64, count: u64, step: i64) -> PyResult<Self> {
        self.0.take(axis, first, count, step).map(Self).map_err(array_raised)
    }

    fn at(&self, axis: usize, index: u64) -> PyResult<Self> {
        self.0.at(axis, index).map(Self).map_err(array_raised)
    }

    fn transpose(&self, axes: Vec<usize>) -> PyResult<Self> {
        self.0.transpose(&axes).map(Self).map_err(array_raised)
    }

    fn broadcast(&self, shape: Vec<u64>) -> PyResult<Self> {
        self.0.broadcast(&shape).map(Self).map_err(array_raised)
    }

    fn as_read_only(&self) -> Self {
        Self(self.0.as_read_only())
    }

    fn masked(&self, mask: &Self) -> PyResult<Self> {
        self.0.masked(mask.0.clone()).map(Self).map_err(array_raised)
    }

    fn on(&self, stream: &Stream) -> Self {
        Self(self.0.on(stream.0.clone()))
    }

    fn fill(&self, py: Python<'_>, value: u8, stream: &Stream) -> PyResult<()> {
        py.detach(|| self.0.fill(value, &stream.0)).map_err(array_raised)
    }

    fn copy_from(&self, py: Python<'_>, other: &Self, stream: &Stream) -> PyResult<()> {
        py.detach(|| self.0.copy_from(&other.0, &stream.0)).map_err(array_raised)
    }

    fn write(&self, py: Python<'_>, elements: &[u8]) -> PyResult<()> {
        py.detach(|| self.0.write(elements)).map_err(array_raised)
    }

    fn read(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        py.detach(|| self.0.read()).map_err(array_raised)
    }

    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.synchronize()).map_err(array_raised)
    }

    /// The dict of the interface, with None for a mask. `descr` is a description in JSON.
    fn export<'py>(
        &self,
        py: Python<'py>,
        version: u8,
        explicit_strides: bool,
        without_stream: bool,
        descr: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let version = Version::of(version.into()).ok_or_else(|| {
            PyValueError::new_err(format!("there is no version {version} of the interface: 0 to 3"))
        })?;
        let descr = descr.map(description::parsed).transpose()?;
        let how = Export { version, explicit_strides, without_stream, descr };
        let live = py.detach(|| self.0.export(&how)).map_err(array_raised)?;
        description::value(py, &live.array().describe())
    }
}
