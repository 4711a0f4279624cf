//! What a manager returns, as plain Python objects.

use pyo3::prelude::*;

/// What `memhostalloc` and `mempin` return: one page-locked allocation or pinned region. Addresses
/// are integers.
#[pyclass(frozen, get_all, module = "allocert._allocert")]
#[derive(Debug)]
pub(crate) struct Memory {
    /// Device address; 0 for memory that is not mapped.
    device_pointer: u64,
    /// Host address.
    host_pointer: usize,
    /// The size of the request, never rounded.
    size_bytes: u64,
    /// Identifies the allocation. It is never 0, and a manager never uses one twice.
    token: u64,
}

impl From<allocert_emm::Memory> for Memory {
    fn from(memory: allocert_emm::Memory) -> Self {
        Self {
            device_pointer: memory.device_pointer,
            host_pointer: memory.host_pointer,
            size_bytes: memory.size_bytes,
            token: memory.token.0,
        }
    }
}

/// What another process needs to open device memory.
#[pyclass(frozen, get_all, module = "allocert._allocert")]
#[derive(Debug)]
pub(crate) struct IpcHandle {
    /// The 64 bytes of a `CUipcMemHandle`.
    handle: Vec<u8>,
    /// Size of the whole allocation.
    size_bytes: u64,
    /// Bytes from the start of the opened memory to the requested address.
    offset_bytes: u64,
}

impl From<allocert_emm::IpcHandle> for IpcHandle {
    fn from(handle: allocert_emm::IpcHandle) -> Self {
        Self {
            handle: handle.handle.to_vec(),
            size_bytes: handle.size_bytes,
            offset_bytes: handle.offset_bytes,
        }
    }
}
