//! A manager behind the C contract, called by way of its table.

use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::Arc;

use allocert_abi::emm::{
    self, CAP_HOST_MEMORY, CAP_IPC, CAP_MEMORY_INFO, HOST_MAPPED, HOST_PORTABLE,
    HOST_WRITE_COMBINED, KIND_DEVICE, KIND_MAPPED, KIND_PINNED, Plugin, Status,
};
use allocert_cuda::Context;
use allocert_suite::interface::emm::TableCall;
use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::checked_memory;
use crate::interface::emm::subject::{CallArguments, HostFlags, IpcHandle, Manager, Memory};
use crate::interface::emm::table_guard::{Out, Tokens};
use crate::step_result::{error_of_worker, facts};
use crate::table_guard::TableGuard;

pub(crate) const STATUS: &str = "allocert_emm_status";
/// What *out holds before create(): no address that anybody has.
const UNWRITTEN: usize = 0xa5a5;

/// A manager that a plugin made.
pub(crate) struct TableManager {
    plugin: &'static Plugin,
    handle: *mut emm::Manager,
    guard: Arc<TableGuard>,
    tokens: Tokens,
}

// SAFETY: the contract lets any thread call on one manager, several at once (header, Threads).
unsafe impl Send for TableManager {}
// SAFETY: as for Send.
unsafe impl Sync for TableManager {}

/// Calls a member of the table that answers with a status: `call!(self.member(arguments))`. The
/// manager comes first by itself.
macro_rules! call {
    ($self:ident.$member:ident($($argument:expr),*)) => {{
        let plugin = $self.plugin;
        let function = plugin.$member.ok_or_else(|| absent(plugin, stringify!($member)))?;
        // SAFETY: a manager that create() gave and destroy() did not end; pointers are valid for
        // the call and `out` structures carry their size, as the header asks.
        let status = unsafe { function($self.handle $(, $argument)*) };
        $self.check(stringify!($member), status)
    }};
}

/// As `call!`, with an `out` structure behind the arguments, which it yields.
macro_rules! answer {
    ($self:ident.$member:ident($($argument:expr),*), $extra_bytes:expr) => {{
        let mut out = Out::new($extra_bytes);
        let plugin = $self.plugin;
        let function = plugin.$member.ok_or_else(|| absent(plugin, stringify!($member)))?;
        // SAFETY: as in `call!`.
        let status = unsafe { function($self.handle $(, $argument)*, out.pointer()) };
        $self.guard.out(stringify!($member), &out, status);
        $self.check(stringify!($member), status)?;
        out.value()
    }};
}

impl TableManager {
    pub(crate) fn create(
        plugin: &'static Plugin,
        guard: Arc<TableGuard>,
        context: Context,
        device: i32,
    ) -> Result<Self, Raised> {
        let mut manager =
            Self { plugin, handle: ptr::null_mut(), guard, tokens: Tokens::default() };
        let handle = manager.made(context.as_ptr().cast(), device, true)?;
        if handle.is_null() || handle.addr() == UNWRITTEN {
            return Err(error_of_worker(
                "NullManager",
                "create answered OK and gave no manager",
                None,
            ));
        }
        manager.handle = handle;
        Ok(manager)
    }

    /// What create() gives for this context, with a place for it or none.
    fn made(
        &self,
        context: *mut c_void,
        device: i32,
        has_out: bool,
    ) -> Result<*mut emm::Manager, Raised> {
        let create = self.plugin.create.ok_or_else(|| absent(self.plugin, "create"))?;
        let mut handle = ptr::without_provenance_mut(UNWRITTEN);
        let out = if has_out { &raw mut handle } else { ptr::null_mut() };
        // SAFETY: a context of the driver and an out pointer that is valid for a write, or NULL,
        // which the header says is INVALID_VALUE (create).
        let status = unsafe { create(context, device, out) };
        self.guard.manager(status, UNWRITTEN, handle.addr());
        self.check_of("create", ptr::null_mut(), status)?;
        Ok(handle)
    }

    fn mempin_flags(
        &self,
        pointer: usize,
        size_bytes: u64,
        flags: u32,
        extra_bytes: i64,
    ) -> Result<Memory, Raised> {
        let pointer = ptr::with_exposed_provenance_mut::<c_void>(pointer);
        let out = answer!(self.mempin(pointer, size_bytes, flags), extra_bytes);
        Ok(self.memory("mempin", out, host_kind(flags)))
    }

    fn memory(&self, call: &'static str, out: emm::Memory, kind: u32) -> Memory {
        self.guard.memory(call, &self.tokens, &out, kind);
        Memory {
            kind: out.kind,
            pointer: out.device_pointer,
            host_pointer: out.host_pointer.addr() as u64,
            size_bytes: out.size_bytes,
            token: out.token,
        }
    }

    /// The text of this thread's last failed call.
    fn last_error(&self, manager: *mut emm::Manager) -> Result<*const c_char, Raised> {
        let last_error = self.plugin.last_error.ok_or_else(|| absent(self.plugin, "last_error"))?;
        // SAFETY: a manager that create() gave, or NULL, on any thread (header, last_error).
        Ok(unsafe { last_error(manager) })
    }

    fn check(&self, call: &'static str, status: Status) -> Result<(), Raised> {
        self.check_of(call, self.handle, status)
    }

    /// Turns a status into a result, with the plugin's own words.
    fn check_of(
        &self,
        call: &'static str,
        manager: *mut emm::Manager,
        status: Status,
    ) -> Result<(), Raised> {
        self.guard.called();
        if status == Status::OK {
            return Ok(());
        }
        self.guard.status(call, status);
        let name = status.name().map_or_else(|| format!("UNKNOWN({})", status.0), str::to_owned);
        let text = self.last_error(manager).ok();
        if let Some(text) = text {
            self.guard.text(call, text.addr());
        }
        let message = match text {
            None => format!("{call} answered {name}"),
            Some(text) if text.is_null() => format!("{call} answered {name}, and last_error NULL"),
            Some(text) => match checked_memory::text(text.addr()) {
                Some(text) => text,
                None => {
                    format!("{call} answered {name}, and last_error {text:p}, which cannot be read")
                }
            },
        };
        Err(Raised { status: Some(name.into()), ..error_of_worker(STATUS, message, None) })
    }
}

impl Manager for TableManager {
    fn initialize(&self) -> Result<(), Raised> {
        call!(self.initialize())
    }

    fn memalloc(&self, size_bytes: u64) -> Result<Memory, Raised> {
        let out = answer!(self.memalloc(size_bytes), 0);
        Ok(self.memory("memalloc", out, KIND_DEVICE))
    }

    fn memhostalloc(&self, size_bytes: u64, flags: HostFlags) -> Result<Memory, Raised> {
        let bit = |set, bit| if set { bit } else { 0 };
        let flags = bit(flags.mapped, HOST_MAPPED)
            | bit(flags.portable, HOST_PORTABLE)
            | bit(flags.write_combined, HOST_WRITE_COMBINED);
        let out = answer!(self.memhostalloc(size_bytes, flags), 0);
        Ok(self.memory("memhostalloc", out, host_kind(flags)))
    }

    fn mempin(&self, pointer: usize, size_bytes: u64, mapped: bool) -> Result<Memory, Raised> {
        self.mempin_flags(pointer, size_bytes, if mapped { HOST_MAPPED } else { 0 }, 0)
    }

    fn release(&self, token: u64) -> Result<(), Raised> {
        call!(self.release(token))
    }

    fn get_memory_info(&self) -> Result<(u64, u64), Raised> {
        let out: emm::MemoryInfo = answer!(self.get_memory_info(), 0);
        Ok((out.free_bytes, out.total_bytes))
    }

    fn get_ipc_handle(&self, token: u64, offset_bytes: u64) -> Result<IpcHandle, Raised> {
        let emm::IpcHandle { handle, size_bytes, offset_bytes, device_uuid, .. } =
            answer!(self.get_ipc_handle(token, offset_bytes), 0);
        Ok(IpcHandle { handle, size_bytes, offset_bytes, device_uuid })
    }

    fn reset(&self) -> Result<(), Raised> {
        call!(self.reset())
    }

    fn defer_begin(&self) -> Result<(), Raised> {
        call!(self.defer_begin())
    }

    fn defer_end(&self) -> Result<(), Raised> {
        call!(self.defer_end())
    }

    fn destroy(&self) {
        if let Some(destroy) = self.plugin.destroy {
            self.guard.called();
            // SAFETY: the manager that create() gave; the caller calls nothing on it any more.
            unsafe { destroy(self.handle) }
        }
    }

    fn call(&self, call: &TableCall, arguments: &CallArguments) -> Option<Result<Facts, Raised>> {
        Some(self.written_call(call, arguments))
    }
}

impl TableManager {
    /// The call as it is written; what it gives is the manager's until a reset.
    fn written_call(&self, call: &TableCall, arguments: &CallArguments) -> Result<Facts, Raised> {
        let returned = match *call {
            TableCall::Create { device, context, out } => {
                let context =
                    if context { arguments.context.as_ptr().cast() } else { ptr::null_mut() };
                self.made(context, device, out).map(drop)
            }
            TableCall::Destroy {} => {
                let destroy = self.plugin.destroy.ok_or_else(|| absent(self.plugin, "destroy"))?;
                self.guard.called();
                // SAFETY: NULL is ignored (header, destroy).
                unsafe { destroy(ptr::null_mut()) };
                Ok(())
            }
            TableCall::Memalloc { size, extra_bytes } => {
                let out = answer!(self.memalloc(size), extra_bytes);
                self.memory("memalloc", out, KIND_DEVICE);
                Ok(())
            }
            TableCall::Memhostalloc { size, flags, extra_bytes } => {
                let out = answer!(self.memhostalloc(size, flags), extra_bytes);
                self.memory("memhostalloc", out, host_kind(flags));
                Ok(())
            }
            TableCall::Mempin { size, flags, extra_bytes, .. } => {
                self.mempin_flags(arguments.pointer, size, flags, extra_bytes).map(drop)
            }
            TableCall::Release { .. } => call!(self.release(arguments.token)),
            TableCall::GetMemoryInfo { extra_bytes } => {
                let _out: emm::MemoryInfo = answer!(self.get_memory_info(), extra_bytes);
                Ok(())
            }
            TableCall::GetIpcHandle { offset, extra_bytes, .. } => {
                let _out: emm::IpcHandle =
                    answer!(self.get_ipc_handle(arguments.token, offset), extra_bytes);
                Ok(())
            }
            TableCall::DeferEnd {} => call!(self.defer_end()),
            TableCall::LastError {} => {
                let text = self.last_error(self.handle)?;
                return Ok(facts([("text", json!(checked_memory::text(text.addr())))]));
            }
        };
        returned.map(|()| Facts::new())
    }
}

/// The kind of host memory that is asked for.
fn host_kind(flags: u32) -> u32 {
    if flags & HOST_MAPPED == 0 { KIND_PINNED } else { KIND_MAPPED }
}

/// Members of a capability that the plugin does not declare need not be there.
fn absent(plugin: &Plugin, member: &str) -> Raised {
    let capability = match member {
        "memhostalloc" | "mempin" => CAP_HOST_MEMORY,
        "get_memory_info" => CAP_MEMORY_INFO,
        "get_ipc_handle" => CAP_IPC,
        _ => 0,
    };
    if capability & !plugin.capabilities != 0 {
        let message = format!("the plugin does not declare the capability of {member}");
        return Raised {
            status: Some("NOT_SUPPORTED".into()),
            ..error_of_worker("NullMember", message, None)
        };
    }
    error_of_worker(
        "NullMember",
        format!("the table's {member} is NULL or beyond its size, so it was not called"),
        None,
    )
}
