//! Between the nouns of `allocert_emm` and those of the C contract.

use std::ptr;

use allocert_abi::emm::{self, HOST_MAPPED, HOST_PORTABLE, HOST_WRITE_COMBINED, Status};
use allocert_abi::plugin::Failure;
use allocert_emm::{Error, HostFlags, IpcHandle, Memory, MemoryInfo, MemoryKind};

pub(crate) fn memory(memory: Memory) -> emm::Memory {
    emm::Memory {
        kind: match memory.kind {
            MemoryKind::Device => emm::KIND_DEVICE,
            MemoryKind::Pinned => emm::KIND_PINNED,
            MemoryKind::Mapped => emm::KIND_MAPPED,
        },
        device_pointer: memory.device_pointer,
        host_pointer: ptr::with_exposed_provenance_mut(memory.host_pointer),
        size_bytes: memory.size_bytes,
        token: memory.token.0,
        ..emm::Memory::empty()
    }
}

pub(crate) fn memory_info(info: MemoryInfo) -> emm::MemoryInfo {
    emm::MemoryInfo {
        free_bytes: info.free_bytes,
        total_bytes: info.total_bytes,
        ..emm::MemoryInfo::empty()
    }
}

pub(crate) fn ipc_handle(handle: IpcHandle) -> emm::IpcHandle {
    let IpcHandle { handle, size_bytes, offset_bytes, device_uuid } = handle;
    emm::IpcHandle { handle, size_bytes, offset_bytes, device_uuid, ..emm::IpcHandle::empty() }
}

pub(crate) fn host_flags(flags: u32) -> allocert_emm::Result<HostFlags> {
    match flags & !(HOST_MAPPED | HOST_PORTABLE | HOST_WRITE_COMBINED) {
        0 => Ok(HostFlags {
            mapped: flags & HOST_MAPPED != 0,
            portable: flags & HOST_PORTABLE != 0,
            write_combined: flags & HOST_WRITE_COMBINED != 0,
        }),
        unknown => Err(Error::InvalidValue(format!("flags {unknown:#x} are not defined"))),
    }
}

/// A failure of `call`, for `last_error`.
pub(crate) fn failure(call: &'static str) -> impl FnOnce(Error) -> Failure {
    move |error| {
        let status = match error {
            Error::OutOfMemory(_) => Status::OUT_OF_MEMORY,
            Error::InvalidValue(_) => Status::INVALID_VALUE,
            Error::NotSupported(_) => Status::NOT_SUPPORTED,
            Error::Driver(_) => Status::DRIVER_ERROR,
            Error::State(_) => Status::STATE,
        };
        Failure::new(status, format!("{call}: {error}"))
    }
}
