//! The faithful manager that every mutant breaks in one place: the reference plugin, called through
//! its own C table.

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};

use allocert_abi::emm::{IpcHandle, Manager, Memory, MemoryInfo, Plugin, Status};
use allocert_abi::plugin::{CudaContext, Failure};
use allocert_cuda::{Context, Driver};

/// What a plugin function answers.
pub(crate) type Answer<T = ()> = Result<T, Failure>;

/// Which reference manager a mutant is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Memory out of slabs: a release frees nothing at the driver.
    Pool,
    /// One driver allocation each, freed at once by a release outside of `defer`.
    Direct,
}

/// A manager of the reference plugin.
#[derive(Debug)]
pub(crate) struct Base {
    table: &'static Plugin,
    manager: *mut Manager,
    pub(crate) driver: Driver,
    pub(crate) context: Context,
    pub(crate) device: i32,
}

// SAFETY: the contract lets any thread call on one manager, several at once (header, Threads).
unsafe impl Send for Base {}
// SAFETY: as for Send.
unsafe impl Sync for Base {}

/// Calls a member of the table that answers with a status, the manager first.
macro_rules! call {
    ($base:ident.$member:ident($($argument:expr),*)) => {{
        let function = $base.table.$member.expect("the reference plugin's table is complete");
        // SAFETY: a live manager of this table; arguments are the host's own or `out` structures
        // that carry their size.
        $base.check(unsafe { function($base.manager $(, $argument)*) })
    }};
}

impl Base {
    pub(crate) fn open(kind: Kind, context: CudaContext, device: i32) -> Answer<Self> {
        let table = match kind {
            Kind::Pool => allocert_emm_reference::allocert_emm_plugin_v1(),
            Kind::Direct => allocert_emm_reference::allocert_emm_host_only(),
        };
        // SAFETY: the reference plugin answers a static table.
        let table = unsafe { &*table };
        let driver = Driver::load()
            .map_err(|error| Failure::new(Status::DRIVER_ERROR, error.to_string()))?;
        // SAFETY: the host promises a CUcontext of the driver (allocert_emm.h, create).
        let context = unsafe { Context::from_raw(context.as_non_null()) };
        Self { table, manager: ptr::null_mut(), driver, context, device }.created()
    }

    /// A second faithful manager for the same context, which knows nothing of this one.
    pub(crate) fn twin(&self) -> Answer<Self> {
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

    pub(crate) fn mempin(
        &self,
        pointer: NonNull<c_void>,
        size_bytes: u64,
        flags: u32,
    ) -> Answer<Memory> {
        let mut out = Memory::empty();
        call!(self.mempin(pointer.as_ptr(), size_bytes, flags, &raw mut out))?;
        Ok(out)
    }

    pub(crate) fn release(&self, token: u64) -> Answer {
        call!(self.release(token))
    }

    /// What the context's device has. Every mutant reports it, also one of a reference that does
    /// not.
    pub(crate) fn get_memory_info(&self) -> Answer<MemoryInfo> {
        let info = self
            .driver
            .mem_get_info()
            .map_err(|error| fail(Status::DRIVER_ERROR, error.to_string()))?;
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

impl Drop for Base {
    fn drop(&mut self) {
        let destroy = self.table.destroy.expect("the reference plugin's table is complete");
        // SAFETY: this manager's last call; NULL is ignored.
        unsafe { destroy(self.manager) }
    }
}

pub(crate) fn fail(status: Status, message: impl Into<String>) -> Failure {
    Failure::new(status, message)
}
