//! A reference manager, method by method.

use std::ptr::NonNull;
use std::sync::Arc;

use allocert_emm::{Context, HostFlags, Kind, Token};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::raised;
use crate::finalizer::Finalizer;
use crate::memory::{IpcHandle, Memory};
use crate::shared_manager::SharedManager;

/// A reference manager for one CUDA context: `Manager(kind, context, device)`, with `kind` one of
/// `pool`, `deferred`, `host_only`, `context` the value of a `CUcontext` and `device` its device's
/// ordinal. Sizes are bytes.
#[pyclass(frozen, module = "allocert._allocert")]
#[derive(Debug)]
pub(crate) struct Manager {
    shared: Arc<SharedManager>,
}

#[pymethods]
impl Manager {
    #[new]
    fn new(kind: &str, context: usize, device: i32) -> PyResult<Self> {
        let kind = match kind {
            "pool" => Kind::Pool,
            "deferred" => Kind::Deferred,
            "host_only" => Kind::HostOnly,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "no manager `{kind}`: pool, deferred or host_only"
                )));
            }
        };
        let raw =
            NonNull::new(std::ptr::with_exposed_provenance_mut(context)).ok_or_else(|| {
                PyValueError::new_err("a manager needs a context: the CUcontext is 0")
            })?;
        // SAFETY: the caller passes the value of a CUcontext, as the class documents.
        let context = unsafe { Context::from_raw(raw) };
        let manager = allocert_emm::open(kind, context, device).map_err(raised)?;
        Ok(Self { shared: Arc::new(SharedManager { manager }) })
    }

    fn initialize(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.shared.manager.initialize()).map_err(raised)
    }

    /// (device address, size in bytes, finalizer): one call and one object, because this is the hot
    /// path.
    fn memalloc(&self, py: Python<'_>, size_bytes: u64) -> PyResult<(u64, u64, Finalizer)> {
        let memory = py.detach(|| self.shared.manager.memalloc(size_bytes)).map_err(raised)?;
        let finalizer = Finalizer::new(Arc::clone(&self.shared), memory.token);
        Ok((memory.device_pointer, memory.size_bytes, finalizer))
    }

    fn memhostalloc(
        &self,
        py: Python<'_>,
        size_bytes: u64,
        mapped: bool,
        portable: bool,
        write_combined: bool,
    ) -> PyResult<Memory> {
        let flags = HostFlags { mapped, portable, write_combined };
        py.detach(|| self.shared.manager.memhostalloc(size_bytes, flags))
            .map(Memory::from)
            .map_err(raised)
    }

    fn mempin(
        &self,
        py: Python<'_>,
        pointer: usize,
        size_bytes: u64,
        mapped: bool,
    ) -> PyResult<Memory> {
        py.detach(|| self.shared.manager.mempin(pointer, size_bytes, mapped))
            .map(Memory::from)
            .map_err(raised)
    }

    /// The finalizer of the allocation with this token.
    fn finalizer(&self, token: u64) -> Finalizer {
        Finalizer::new(Arc::clone(&self.shared), Token(token))
    }

    /// (free, total) bytes of device memory.
    fn get_memory_info(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        let info = py.detach(|| self.shared.manager.get_memory_info()).map_err(raised)?;
        Ok((info.free_bytes, info.total_bytes))
    }

    fn get_ipc_handle(&self, py: Python<'_>, token: u64, offset_bytes: u64) -> PyResult<IpcHandle> {
        py.detach(|| self.shared.manager.get_ipc_handle(Token(token), offset_bytes))
            .map(IpcHandle::from)
            .map_err(raised)
    }

    fn reset(&self, py: Python<'_>) {
        py.detach(|| self.shared.manager.reset());
    }

    fn defer_begin(&self, py: Python<'_>) {
        py.detach(|| self.shared.manager.defer_begin());
    }

    fn defer_end(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.shared.manager.defer_end()).map_err(raised)
    }
}
