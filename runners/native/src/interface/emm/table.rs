//! A plugin behind the C contract of `allocert_emm.h`.

use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;

use allocert_abi::emm::{self, CAP_HOST_MEMORY, CAP_IPC, CAP_MEMORY_INFO, Plugin, PluginFn};
use allocert_cuda::Context;
use allocert_suite::observation::{self, Facts, Raised};
use serde_json::{Map, json};

use crate::c_table;
use crate::checked_memory;
use crate::interface::emm::subject::{EmmSubject, Manager};
use crate::interface::emm::table_manager::{STATUS, TableManager};
use crate::library;
use crate::protocol::{Refused, SubjectInfo};
use crate::step_result::{error_of_worker, facts};
use crate::table_guard::TableGuard;

/// What every table must hold before anything of it can be read: `size`, the version, the
/// capabilities.
const OPENING_BYTES: usize = std::mem::offset_of!(Plugin, name);

/// A plugin's table, copied: what lies beyond its own `size` is absent here.
pub(crate) struct Table {
    plugin: &'static Plugin,
    /// What answered the table, and where it lay with what in it.
    function: PluginFn,
    address: usize,
    bytes: Bytes,
    guard: Arc<TableGuard>,
    path: PathBuf,
    name: Option<String>,
    version: Option<String>,
}

impl Table {
    /// Loads the library and looks at the table behind `symbol`. The library is never closed.
    pub(crate) fn open(path: PathBuf, symbol: &str) -> Result<Self, Refused> {
        let file = path.display();
        let library = library::open(&path)?;
        let name = CString::new(symbol).unwrap_or_default();
        // SAFETY: a symbol of this name has this type by the contract; another type is the
        // library's lie.
        let function = unsafe { library.get::<PluginFn>(name.as_bytes_with_nul()) }
            .map_err(|error| library::no_symbol(&path, symbol, &error))?;
        let function: PluginFn = *function;
        // SAFETY: takes nothing and makes no driver call (header, allocert_emm_plugin_fn).
        let address = unsafe { function() }.addr();
        let bytes = c_table::copy(address, OPENING_BYTES).map_err(|why| {
            Refused::new(
                "table",
                format!("{file}: `{symbol}` answered no usable table: {why}"),
                String::new(),
            )
        })?;
        std::mem::forget(library);
        let plugin = plugin(&bytes);
        let name = checked_memory::text(plugin.name.addr());
        let version = checked_memory::text(plugin.version.addr());
        let (plugin, guard) = (Box::leak(Box::new(plugin)), Arc::default());
        Ok(Self { plugin, function, address, bytes, guard, path, name, version })
    }

    /// Whether the symbol still answers the same table, with the same in it.
    fn is_same(&self) -> bool {
        // SAFETY: as when it was loaded.
        let address = unsafe { (self.function)() }.addr();
        address == self.address
            && c_table::copy(address, OPENING_BYTES).is_ok_and(|bytes: Bytes| bytes == self.bytes)
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
        members
            .into_iter()
            .filter(|(_, needed, set)| *needed && !set)
            .map(|(name, ..)| name)
            .collect()
    }
}

/// As much of a table as its `size` says, and zeros.
type Bytes = [u8; size_of::<Plugin>()];

fn plugin(bytes: &Bytes) -> Plugin {
    // SAFETY: every bit pattern is a Plugin: numbers, raw pointers, and function pointers or NULL.
    unsafe { bytes.as_ptr().cast::<Plugin>().read_unaligned() }
}

impl EmmSubject for Table {
    fn describe(&self) -> Facts {
        let missing = self.missing();
        facts([
            ("interface_version", json!(self.plugin.interface_version)),
            ("interface_version_type", json!("int")),
            ("instantiable", json!(self.is_spoken() && missing.is_empty())),
            ("abstract", json!(missing)),
            ("name", json!(checked_memory::utf8(self.plugin.name.addr()))),
            ("version", json!(checked_memory::utf8(self.plugin.version.addr()))),
            ("same_table", json!(self.is_same())),
        ])
    }

    fn info(&self) -> SubjectInfo {
        SubjectInfo {
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
        let claims = [
            (CAP_HOST_MEMORY, "host_memory"),
            (CAP_HOST_MEMORY, "own_host_memory"),
            (CAP_HOST_MEMORY, "deferred_host_memory"),
            (CAP_MEMORY_INFO, "memory_info"),
            (CAP_IPC, "ipc"),
        ];
        let claimed = claims.into_iter().filter(|(bit, _)| self.plugin.capabilities & bit != 0);
        ["native", "table", "device_memory", "peer"]
            .into_iter()
            .chain(claimed.map(|(_, name)| name))
            .collect()
    }

    fn create(&self, context: Context, device: i32) -> Result<Box<dyn Manager>, Raised> {
        if !self.is_spoken() {
            let message = format!(
                "declined: the table's interface_version is {}, this host speaks {}",
                self.plugin.interface_version,
                emm::VERSION
            );
            return Err(Raised {
                status: Some("VERSION_MISMATCH".into()),
                ..error_of_worker(STATUS, message, None)
            });
        }
        Ok(Box::new(TableManager::create(self.plugin, Arc::clone(&self.guard), context, device)?))
    }

    fn table_calls(&self) -> Option<observation::TableCalls> {
        self.guard.take()
    }
}
