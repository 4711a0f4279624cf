use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;

use allocert_abi::emm::{self, CAP_HOST_MEMORY, CAP_IPC, CAP_MEMORY_INFO};
use allocert_abi::plugin::{CudaContext, EmmPlugin, Failure};
use allocert_emm::{Context, Kind, Manager, Token};

use crate::convert::{failure, host_flags, ipc_handle, memory, memory_info};

/// One of the reference managers behind the C contract.
pub(crate) struct Reference<D> {
    manager: Box<dyn Manager>,
    _description: PhantomData<D>,
}

/// Which manager a table stands for.
pub(crate) trait Described: Send + Sync + 'static {
    const KIND: Kind;
    const NAME: &'static CStr;
}

impl<D: Described> EmmPlugin for Reference<D> {
    const NAME: &'static CStr = D::NAME;
    const VERSION: &'static CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    const CAPABILITIES: u32 = match D::KIND {
        Kind::Pool | Kind::Deferred => CAP_HOST_MEMORY | CAP_MEMORY_INFO | CAP_IPC,
        Kind::HostOnly => CAP_HOST_MEMORY | CAP_IPC,
    };

    fn create(context: CudaContext, device: i32) -> Result<Self, Failure> {
        // SAFETY: the host promises a CUcontext of the driver (allocert_emm.h, create).
        let context = unsafe { Context::from_raw(context.as_non_null()) };
        let manager = allocert_emm::open(D::KIND, context, device).map_err(failure("create"))?;
        Ok(Self { manager, _description: PhantomData })
    }

    fn initialize(&self) -> Result<(), Failure> {
        self.manager.initialize().map_err(failure("initialize"))
    }

    fn memalloc(&self, size_bytes: u64) -> Result<emm::Memory, Failure> {
        self.manager.memalloc(size_bytes).map(memory).map_err(failure("memalloc"))
    }

    fn memhostalloc(&self, size_bytes: u64, flags: u32) -> Result<emm::Memory, Failure> {
        let flags = host_flags(flags).map_err(failure("memhostalloc"))?;
        self.manager.memhostalloc(size_bytes, flags).map(memory).map_err(failure("memhostalloc"))
    }

    fn mempin(
        &self,
        pointer: NonNull<c_void>,
        size_bytes: u64,
        flags: u32,
    ) -> Result<emm::Memory, Failure> {
        let mapped = match flags {
            0 => false,
            emm::HOST_MAPPED => true,
            _ => {
                return Err(Failure::new(
                    emm::Status::INVALID_VALUE,
                    format!("mempin: flags {flags:#x}: only MAPPED"),
                ));
            }
        };
        let address = pointer.as_ptr().expose_provenance();
        self.manager.mempin(address, size_bytes, mapped).map(memory).map_err(failure("mempin"))
    }

    fn release(&self, token: u64) -> Result<(), Failure> {
        self.manager.release(Token(token)).map_err(failure("release"))
    }

    fn get_memory_info(&self) -> Result<emm::MemoryInfo, Failure> {
        self.manager.get_memory_info().map(memory_info).map_err(failure("get_memory_info"))
    }

    fn get_ipc_handle(&self, token: u64, offset_bytes: u64) -> Result<emm::IpcHandle, Failure> {
        let handle = self.manager.get_ipc_handle(Token(token), offset_bytes);
        handle.map(ipc_handle).map_err(failure("get_ipc_handle"))
    }

    fn reset(&self) -> Result<(), Failure> {
        self.manager.reset();
        Ok(())
    }

    fn defer_begin(&self) -> Result<(), Failure> {
        self.manager.defer_begin();
        Ok(())
    }

    fn defer_end(&self) -> Result<(), Failure> {
        self.manager.defer_end().map_err(failure("defer_end"))
    }
}
