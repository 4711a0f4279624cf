//! The base of every mutant: a manager of the reference plugin, called through its C table.

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};

use allocert_abi::emm::{IpcHandle, Manager, Memory, MemoryInfo, Plugin, Status};
use allocert_abi::plugin::{CudaContext, Failure};
use allocert_cuda::{Context, Driver};

/// What a plugin function returns.
pub(crate) type Answer<T = ()> = Result<T, Failure>;

/// The region of host memory that is to be pinned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PinRequest {
    pub(crate) pointer: NonNull<c_void>,
    pub(crate) size_bytes: u64,
    pub(crate) flags: u32,
}

/// A bit that the base manager sets in none of its tokens. A mutation sets it in the tokens that it
/// makes itself.
pub(crate) const OWN_TOKEN: u64 = 1 << 62;

/// The token of memory that a mutation returns in the place of an error.
pub(crate) const NULL_TOKEN: u64 = u64::MAX;

/// Which manager of the reference plugin a mutant is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BaseKind {
    /// Cuts blocks out of larger driver allocations; a release calls no driver function.
    Pool,
    /// Makes one driver allocation for each block and frees it at its release.
    Direct,
}

/// A manager of the reference plugin.
#[derive(Debug)]
pub(crate) struct BaseManager {
    table: &'static Plugin,
    manager: *mut Manager,
    pub(crate) driver: Driver,
    pub(crate) context: Context,
    pub(crate) device: i32,
}

// SAFETY: the contract lets any thread call on one manager, several at once (header, Threads).
unsafe impl Send for BaseManager {}
// SAFETY: as for Send.
unsafe impl Sync for BaseManager {}

/// Calls a member of the table that answers with a status, the manager first.
macro_rules! call {
    ($base:ident.$member:ident($($argument:expr),*)) => {{
        let function = $base.table.$member.expect("the reference plugin's table is complete");
        // SAFETY: a live manager of this table; arguments are the host's own or `out` structures
        // that carry their size.
        $base.check(unsafe { function($base.manager $(, $argument)*) })
    }};
}

impl BaseManager {
    pub(crate) fn open(kind: BaseKind, context: CudaContext, device: i32) -> Answer<Self> {
        let table = match kind {
            BaseKind::Pool => allocert_emm_reference::allocert_emm_plugin_v1(),
            BaseKind::Direct => allocert_emm_reference::allocert_emm_host_only(),
        };
        // SAFETY: the reference plugin answers a static table.
        let table = unsafe { &*table };
        let driver = Driver::load().map_err(driver_error)?;
        // SAFETY: the host promises a CUcontext of the driver (allocert_emm.h, create).
        let context = unsafe { Context::from_raw(context.as_non_null()) };
        Self { table, manager: ptr::null_mut(), driver, context, device }.created()
    }

    /// A second manager for the same context that shares nothing with this one.
    pub(crate) fn open_second(&self) -> Answer<Self> {
        let Self { table, driver, context, device, .. } = *self;
        Self { table, manager: ptr::null_mut(), driver, context, device }.created()
    }

    fn created(mut self) -> Answer<Self> {
        let create = self.table.create.expect("the reference plugin's table is complete");
        let context = self.context.as_ptr().cast::<c_void>();
        // SAFETY: a context of the driver and an out pointer that is valid for a write (header,
        // create).
        let status = unsafe { create(context, self.device, &raw mut self.manager) };
        self.check(status)?;
        Ok(self)
    }

    pub(crate) fn initialize(&self) -> Answer {
        call!(self.initialize())
    }

    pub(crate) fn memalloc(&self, size_bytes: u64) -> Answer<Memory> {
        let mut out = Memory::empty();
        call!(self.memalloc(size_bytes, &raw mut out))?;
        Ok(out)
    }

    pub(crate) fn memhostalloc(&self, size_bytes: u64, flags: u32) -> Answer<Memory> {
        let mut out = Memory::empty();
        call!(self.memhostalloc(size_bytes, flags, &raw mut out))?;
        Ok(out)
    }

    pub(crate) fn mempin(&self, request: PinRequest) -> Answer<Memory> {
        let PinRequest { pointer, size_bytes, flags } = request;
        let mut out = Memory::empty();
        call!(self.mempin(pointer.as_ptr(), size_bytes, flags, &raw mut out))?;
        Ok(out)
    }

    pub(crate) fn release(&self, token: u64) -> Answer {
        call!(self.release(token))
    }

    /// Asks the driver, because one of the reference managers offers no memory information.
    pub(crate) fn get_memory_info(&self) -> Answer<MemoryInfo> {
        let info = self.driver.mem_get_info().map_err(driver_error)?;
        Ok(MemoryInfo {
            free_bytes: info.free_bytes,
            total_bytes: info.total_bytes,
            ..MemoryInfo::empty()
        })
    }

    pub(crate) fn get_ipc_handle(&self, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        let mut out = IpcHandle::empty();
        call!(self.get_ipc_handle(token, offset_bytes, &raw mut out))?;
        Ok(out)
    }

    pub(crate) fn reset(&self) -> Answer {
        call!(self.reset())
    }

    pub(crate) fn defer_begin(&self) -> Answer {
        call!(self.defer_begin())
    }

    pub(crate) fn defer_end(&self) -> Answer {
        call!(self.defer_end())
    }

    /// Whether the calling thread has a current context.
    pub(crate) fn has_context(&self) -> bool {
        self.driver.ctx_get_current().is_ok_and(|context| context.is_some())
    }

    /// Allocates 1 MiB from the driver and frees it.
    pub(crate) fn allocate_and_free(&self) {
        if let Ok(block) = self.driver.mem_alloc(1 << 20) {
            let _ = self.driver.mem_free(block);
        }
    }

    fn check(&self, status: Status) -> Answer {
        if status == Status::OK {
            return Ok(());
        }
        let last_error = self.table.last_error.expect("the reference plugin's table is complete");
        // SAFETY: the manager of the failed call, or NULL after a failed create, on the same
        // thread.
        let text = unsafe { last_error(self.manager) };
        // SAFETY: never NULL, NUL-terminated, and valid until the next call on this thread
        // (header).
        let text = unsafe { CStr::from_ptr(text) };
        Err(fail(status, text.to_string_lossy()))
    }
}

impl Drop for BaseManager {
    fn drop(&mut self) {
        let destroy = self.table.destroy.expect("the reference plugin's table is complete");
        // SAFETY: this manager's last call; NULL is ignored.
        unsafe { destroy(self.manager) }
    }
}

/// The failure that a mutation returns in the place of the base manager.
pub(crate) fn fail(status: Status, message: impl Into<String>) -> Failure {
    Failure::new(status, message)
}

pub(crate) fn driver_error(error: impl ToString) -> Failure {
    fail(Status::DRIVER_ERROR, error.to_string())
}

pub(crate) fn failed_with<T>(answer: &Answer<T>, status: Status) -> bool {
    answer.as_ref().is_err_and(|failure| failure.status == status)
}

/// Memory at address 0.
pub(crate) fn null_memory(size_bytes: u64) -> Memory {
    Memory { size_bytes, token: NULL_TOKEN, ..Memory::empty() }
}

pub(crate) fn release_unless_null(base: &BaseManager, token: u64) -> Answer {
    if token == NULL_TOKEN { Ok(()) } else { base.release(token) }
}
