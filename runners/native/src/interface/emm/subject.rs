//! What a loaded subject can be asked, whichever language it is written in.

use allocert_cuda::Context;
use allocert_suite::interface::emm::TableCall;
use allocert_suite::observation::{Facts, Raised, TableCalls};

use crate::protocol::SubjectInfo;

/// A loaded subject.
pub(crate) trait EmmSubject: Send + Sync {
    /// What `describe` reports.
    fn describe(&self) -> Facts;
    fn info(&self) -> SubjectInfo;
    /// Bindings of the fixture format's `needs`.
    fn capabilities(&self) -> Vec<&'static str>;
    fn create(&self, context: Context, device: i32) -> Result<Box<dyn Manager>, Raised>;
    /// What calls of a C table did besides answering since this was last asked; nothing where no
    /// member was called.
    fn table_calls(&self) -> Option<TableCalls> {
        None
    }
}

/// One manager. Everything that can fail answers with what the subject said, unchecked.
pub(crate) trait Manager: Send + Sync {
    fn initialize(&self) -> Result<(), Raised>;
    fn memalloc(&self, size_bytes: u64) -> Result<Memory, Raised>;
    fn memhostalloc(&self, size_bytes: u64, flags: HostFlags) -> Result<Memory, Raised>;
    /// Pins memory of the worker's, which stays mapped until the token is released or forgotten.
    fn mempin(&self, pointer: usize, size_bytes: u64, mapped: bool) -> Result<Memory, Raised>;
    fn release(&self, token: u64) -> Result<(), Raised>;
    fn get_memory_info(&self) -> Result<(u64, u64), Raised>;
    fn get_ipc_handle(&self, token: u64, offset_bytes: u64) -> Result<IpcHandle, Raised>;
    fn reset(&self) -> Result<(), Raised>;
    fn defer_begin(&self) -> Result<(), Raised>;
    fn defer_end(&self) -> Result<(), Raised>;
    /// The last call on this manager.
    fn destroy(&self);
    /// A call as it is written, with its facts; `None` without a table.
    fn call(&self, _call: &TableCall, _given: &CallArguments) -> Option<Result<Facts, Raised>> {
        None
    }
}

/// What a step's names stand for in a [`TableCall`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallArguments {
    pub(crate) context: Context,
    pub(crate) token: u64,
    /// 0 is NULL.
    pub(crate) pointer: usize,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct HostFlags {
    pub(crate) mapped: bool,
    pub(crate) portable: bool,
    pub(crate) write_combined: bool,
}

/// Memory as the subject described it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// `ALLOCERT_EMM_KIND_*`, or any other number.
    pub(crate) kind: u32,
    pub(crate) pointer: u64,
    pub(crate) host_pointer: u64,
    pub(crate) size_bytes: u64,
    pub(crate) token: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct IpcHandle {
    pub(crate) handle: [u8; 64],
    pub(crate) size_bytes: u64,
    pub(crate) offset_bytes: u64,
    pub(crate) device_uuid: [u8; 16],
}
