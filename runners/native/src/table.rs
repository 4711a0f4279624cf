//! A plugin behind the C contract of `allocert_emm.h`.

use std::ffi::{CString, c_void};
use std::path::PathBuf;
use std::ptr;

use allocert_abi::emm::{
    self, CAP_HOST_MEMORY, CAP_IPC, CAP_MEMORY_INFO, HOST_MAPPED, HOST_PORTABLE, HOST_WRITE_COMBINED, Plugin, PluginFn,
    Status,
};
use allocert_cuda::Context;
use allocert_suite::observation::{Facts, Raised};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde_json::{Map, json};

use crate::load::refused;
use crate::peek;
use crate::protocol::{Portrait, Refused};
use crate::subject::{HostFlags, IpcHandle, Manager, Memory, Subject, facts, trouble};

/// What every table must hold before anything of it can be read: `size`, the version, the capabilities.
const OPENING_BYTES: usize = std::mem::offset_of!(Plugin, name);

/// A plugin's table, copied: what lies beyond its own `size` is absent here.
pub(crate) struct Table {
    plugin: &'static Plugin,
    path: PathBuf,
    name: Option<String>,
    version: Option<String>,
}

impl Table {
    /// Loads the library and looks at the table behind `symbol`. The library is never closed.
    pub(crate) fn open(path: PathBuf, symbol: &str) -> Result<Self, Refused> {
        let file = path.display();
        // SAFETY: runs the initialisers of a library that the user asked to have loaded and run.
        let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|error| refused("open", format!("{file}: cannot be loaded"), reason(&error)))?;
        let name = CString::new(symbol).unwrap_or_default();
        // SAFETY: a symbol of this name has this type by the contract; another type is the library's lie.
        let function = unsafe { library.get::<PluginFn>(name.as_bytes_with_nul()) }
            .map_err(|error| refused("symbol", format!("{file}: has no symbol `{symbol}`"), reason(&error)))?;
        // SAFETY: takes nothing and makes no driver call (header, allocert_emm_plugin_fn).
        let table = unsafe { function() };
        let plugin = copy(table.addr()).map_err(|why| {
            refused("table", format!("{file}: `{symbol}` answered no usable table: {why}"), String::new())
        })?;
        std::mem::forget(library);
        let name = peek::text(plugin.name.addr());
        let version = peek::text(plugin.version.addr());
        Ok(Self { plugin: Box::leak(Box::new(plugin)), path, name, version })
    }

    fn is_spoken(&self) -> bool {
        self.plugin.interface_version == emm::VERSION
    }

    /// Members that must be set and are not.
    fn missing(&self) -> Vec<&'static str> {
        let plugin = self.plugin;
        let has = |capability| plugin.capabilities & capability != 0;
        let members = [
            ("create", true, plugin.create.is_some()),
            ("destroy", true, plugin.destroy.is_some()),
            ("initialize", true, plugin.initialize.is_some()),
            ("memalloc", true, plugin.memalloc.is_some()),
            ("memhostalloc", has(CAP_HOST_MEMORY), plugin.memhostalloc.is_some()),
            ("mempin", has(CAP_HOST_MEMORY), plugin.mempin.is_some()),
            ("release", true, plugin.release.is_some()),
            ("get_memory_info", has(CAP_MEMORY_INFO), plugin.get_memory_info.is_some()),
            ("get_ipc_handle", has(CAP_IPC), plugin.get_ipc_handle.is_some()),
            ("reset", true, plugin.reset.is_some()),
            ("defer_begin", true, plugin.defer_begin.is_some()),
            ("defer_end", true, plugin.defer_end.is_some()),
            ("last_error", true, plugin.last_error.is_some()),
        ];
        members.into_iter().filter(|(_, needed, set)| *needed && !set).map(|(name, ..)| name).collect()
    }
}

/// The table at an address that a plugin gave.
fn copy(address: usize) -> Result<Plugin, String> {
    if address == 0 {
        return Err("NULL".to_owned());
    }
    let mut size = [0; size_of::<usize>()];
    if peek::read(address, &mut size) < size.len() {
        return Err(format!("an address that cannot be read, {address:#x}"));
    }
    let size = usize::from_ne_bytes(size);
    if size < OPENING_BYTES {
        return Err(format!("its size is {size}, too little for an interface_version"));
    }
    let mut bytes = [0; size_of::<Plugin>()];
    let known = size.min(bytes.len());
    if peek::read(address, &mut bytes[..known]) < known {
        return Err(format!("its size is {size}, and that much cannot be read"));
    }
    // SAFETY: every bit pattern is a Plugin: numbers, raw pointers, and function pointers or NULL.
    Ok(unsafe { bytes.as_ptr().cast::<Plugin>().read_unaligned() })
}

fn reason(error: &libloading::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

impl Subject for Table {
    fn describe(&self) -> Facts {
        let missing = self.missing();
        facts([
            ("interface_version", json!(self.plugin.interface_version)),
            ("interface_version_type", json!("int")),
            ("instantiable", json!(self.is_spoken() && missing.is_empty())),
            ("abstract", json!(missing)),
            ("name", json!(self.name)),
            ("version", json!(self.version)),
        ])
    }

    fn portrait(&self) -> Portrait {
        Portrait {
            name: self.name.clone(),
            version: self.version.clone(),
            file: self.path.display().to_string(),
            interface_version: self.plugin.interface_version,
            host: Map::new(),
        }
    }

    fn capabilities(&self) -> Vec<&'static str> {
        if !self.is_spoken() {
            return vec!["native"];
        }
        let claims = [(CAP_HOST_MEMORY, "host_memory"), (CAP_MEMORY_INFO, "memory_info"), (CAP_IPC, "ipc")];
        let claimed = claims.into_iter().filter(|(bit, _)| self.plugin.capabilities & bit != 0);
        ["native", "peer"].into_iter().chain(claimed.map(|(_, name)| name)).collect()
    }

    fn create(&self, context: Context, device: i32) -> Result<Box<dyn Manager>, Raised> {
        if !self.is_spoken() {
            let message = format!(
                "declined: the table's interface_version is {}, this host speaks {}",
                self.plugin.interface_version,
                emm::VERSION
            );
            return Err(Raised { status: Some("VERSION_MISMATCH".to_owned()), ..trouble(STATUS, message, None) });
        }
        let create = self.plugin.create.ok_or_else(|| absent("create"))?;
        let mut handle = ptr::null_mut();
        // SAFETY: a context of the driver, and an out pointer that is valid for a write (header, create).
        let status = unsafe { create(context.as_ptr().cast::<c_void>(), device, &raw mut handle) };
        check(self.plugin, ptr::null_mut(), "create", status)?;
        if handle.is_null() {
            return Err(trouble("NullManager", "create answered OK and left *out NULL", None));
        }
        Ok(Box::new(TableManager { plugin: self.plugin, handle }))
    }
}

const STATUS: &str = "allocert_emm_status";

/// A manager that a plugin made.
struct TableManager {
    plugin: &'static Plugin,
    handle: *mut emm::Manager,
}

// SAFETY: the contract lets any thread call on one manager, several at once (header, Threads).
unsafe impl Send for TableManager {}
// SAFETY: as for Send.
unsafe impl Sync for TableManager {}

/// An `out` structure with room behind it, so that a plugin that writes too much hits nothing else.
#[repr(C)]
struct Out<T> {
    value: T,
    spare: [u64; 32],
}

impl<T: Default> Out<T> {
    fn new() -> Self {
        Self { value: T::default(), spare: [0; 32] }
    }
}

/// Calls a member of the table that answers with a status: `call!(self.member(arguments))`. The manager
/// comes first by itself.
macro_rules! call {
    ($self:ident.$member:ident($($argument:expr),*)) => {{
        let function = $self.plugin.$member.ok_or_else(|| absent(stringify!($member)))?;
        // SAFETY: a manager that create() gave and destroy() did not end; pointers are valid for the
        // call and `out` structures carry their size, as the header asks.
        let status = unsafe { function($self.handle $(, $argument)*) };
        check($self.plugin, $self.handle, stringify!($member), status)
    }};
}

impl Manager for TableManager {
    fn initialize(&self) -> Result<(), Raised> {
        call!(self.initialize())
    }

    fn memalloc(&self, size_bytes: u64) -> Result<Memory, Raised> {
        let mut out = Out::<emm::Memory>::new();
        call!(self.memalloc(size_bytes, &raw mut out.value))?;
        Ok(memory(&out.value))
    }

    fn memhostalloc(&self, size_bytes: u64, flags: HostFlags) -> Result<Memory, Raised> {
        let bit = |set, bit| if set { bit } else { 0 };
        let flags = bit(flags.mapped, HOST_MAPPED)
            | bit(flags.portable, HOST_PORTABLE)
            | bit(flags.write_combined, HOST_WRITE_COMBINED);
        let mut out = Out::<emm::Memory>::new();
        call!(self.memhostalloc(size_bytes, flags, &raw mut out.value))?;
        Ok(memory(&out.value))
    }

    fn mempin(&self, pointer: usize, size_bytes: u64, mapped: bool) -> Result<Memory, Raised> {
        let pointer = ptr::with_exposed_provenance_mut::<c_void>(pointer);
        let flags = if mapped { HOST_MAPPED } else { 0 };
        let mut out = Out::<emm::Memory>::new();
        call!(self.mempin(pointer, size_bytes, flags, &raw mut out.value))?;
        Ok(memory(&out.value))
    }

    fn release(&self, token: u64) -> Result<(), Raised> {
        call!(self.release(token))
    }

    fn get_memory_info(&self) -> Result<(u64, u64), Raised> {
        let mut out = Out::<emm::MemoryInfo>::new();
        call!(self.get_memory_info(&raw mut out.value))?;
        Ok((out.value.free_bytes, out.value.total_bytes))
    }

    fn get_ipc_handle(&self, token: u64, offset_bytes: u64) -> Result<IpcHandle, Raised> {
        let mut out = Out::<emm::IpcHandle>::new();
        call!(self.get_ipc_handle(token, offset_bytes, &raw mut out.value))?;
        let emm::IpcHandle { handle, size_bytes, offset_bytes, device_uuid, .. } = out.value;
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
            // SAFETY: the manager that create() gave; the caller calls nothing on it any more.
            unsafe { destroy(self.handle) }
        }
    }
}

fn memory(out: &emm::Memory) -> Memory {
    Memory {
        kind: out.kind,
        pointer: out.device_pointer,
        host_pointer: out.host_pointer.addr() as u64,
        size_bytes: out.size_bytes,
        token: out.token,
    }
}

fn absent(member: &str) -> Raised {
    trouble("NullMember", format!("the table's {member} is NULL or beyond its size, so it was not called"), None)
}

/// Turns a status into a result, with the plugin's own words.
fn check(plugin: &Plugin, manager: *mut emm::Manager, call: &str, status: Status) -> Result<(), Raised> {
    if status == Status::OK {
        return Ok(());
    }
    let name = status.name().map_or_else(|| format!("UNKNOWN({})", status.0), str::to_owned);
    let text = plugin.last_error.map(|last_error| {
        // SAFETY: the manager of the failed call or NULL, on the thread of that call (header, last_error).
        unsafe { last_error(manager) }
    });
    let message = match text {
        None => format!("{call} answered {name}"),
        Some(text) if text.is_null() => format!("{call} answered {name}, and last_error NULL"),
        Some(text) => match peek::text(text.addr()) {
            Some(text) => text,
            None => format!("{call} answered {name}, and last_error {text:p}, which cannot be read"),
        },
    };
    Err(Raised { status: Some(name), ..trouble(STATUS, message, None) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_copied_no_further_than_its_size() {
        assert_eq!(copy(0).err().as_deref(), Some("NULL"));
        assert_eq!(copy(64).err().as_deref(), Some("an address that cannot be read, 0x40"));
        let mut words = [usize::MAX; size_of::<Plugin>() / size_of::<usize>()];
        words[0] = 8;
        assert!(copy(words.as_ptr().addr()).is_err_and(|why| why.contains("its size is 8")));
        words[0] = std::mem::offset_of!(Plugin, memalloc);
        let plugin = copy(words.as_ptr().addr()).expect("readable");
        assert!(plugin.initialize.is_some() && plugin.memalloc.is_none());
    }
}
