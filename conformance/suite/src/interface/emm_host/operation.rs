//! The operations on a host, and on what it gives its user.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{IntoStaticStr, VariantNames};

use super::bound_type::HOST_OBJECT;
use super::operation_arguments::{ForeignHandle, HostObject, PluginShape};
use crate::interface::arguments::Arguments;
use crate::interface::definition::OperationSet;
use crate::interface::properties::HeldMemory::{DropsAll, Gains, Shares};
use crate::interface::properties::Properties;
use crate::interface::shared::bound_type::{ARRAY, HANDLE, MEMORY, SCOPE};
use crate::interface::shared::{
    Drop, Environment, Fault, Fill, HostBuffer, PeerRead, Pickle, Read, given, one,
};
use crate::nouns::{ErrorKind, Name, Need};
use allocert_contract::trace::plugin;

/// What one step does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
pub enum Operation {
    /// Makes calls of a driver function fail: `count` calls, from the `nth` call on.
    Fault(Fault),
    /// Ends all faults.
    ClearFaults {},
    /// Runs a full garbage collection.
    Collect {},
    /// Sets an environment variable for the later steps.
    Environment(Environment),
    /// Drops the last reference to a name.
    ///
    /// Facts: `finalized`.
    Drop(Drop),
    /// Describes the installed manager.
    ///
    /// Facts: those of `describe` of `emm`.
    Describe {},
    /// Makes a pageable buffer of the worker, in pages of its own.
    ///
    /// Facts: `host_pointer`, `size_bytes`.
    HostBuffer(HostBuffer),
    /// Writes a byte to memory or to an array.
    Fill(Fill),
    /// Reads memory or an array.
    ///
    /// Facts: `uniform` (the value of all bytes, or null if they differ), `bytes_read`.
    Read(Read),
    /// Pickles and unpickles an IPC handle. Python only.
    ///
    /// Facts: `same_handle`, `same_offset`, `same_size`.
    Pickle(Pickle),
    /// A second process opens the handle, reads `size` bytes and closes the handle.
    ///
    /// Facts: `uniform` (the value of all bytes, or null if they differ).
    PeerRead(PeerRead),
    /// Calls `set_memory_manager(class)`. In a case of `emm` the class is the subject's. In a case
    /// of `emm-host` it is the worker's plugin.
    ///
    /// Facts: `warned`.
    Register {
        /// Register a class that claims this version; `null` is a version too.
        #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
        interface_version: Option<Value>,
        /// How the worker's plugin differs from the usual one.
        #[serde(default, skip_serializing_if = "PluginShape::is_default")]
        plugin: PluginShape,
    },
    /// Registers the manager through the variable `NUMBA_CUDA_MEMORY_MANAGER`.
    RegisterByEnvironment {
        /// The module that the variable names. Without it, the variable names a module that exposes
        /// the manager.
        #[serde(default)]
        module: Option<String>,
        /// As in `register`.
        #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
        interface_version: Option<Value>,
    },
    /// Calls `cuda.current_context()`.
    ///
    /// Facts: `manager_type`, `same_manager`, `closed_contexts` (how many earlier contexts of the
    /// case are not freed). In a case of `emm` also `manager_is_subject`; in a case of `emm-host`
    /// also `manager_is_plugin` and `registration` (which registration made the manager, from 1).
    OpenContext {},
    /// Calls `cuda.device_array()` for an array of bytes.
    ///
    /// Facts: array facts.
    DeviceArray {
        size: u64,
        /// Ask for a matrix of so many rows, which has `size` bytes altogether.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rows: Option<u64>,
        r#as: Name,
    },
    /// Calls `cuda.pinned_array()` for an array of bytes.
    ///
    /// Facts: array facts.
    PinnedArray { size: u64, r#as: Name },
    /// Calls `cuda.mapped_array()` for an array of bytes.
    ///
    /// Facts: array facts.
    MappedArray {
        size: u64,
        #[serde(default)]
        portable: bool,
        #[serde(default)]
        wc: bool,
        r#as: Name,
    },
    /// Calls `cuda.managed_array()` for an array of bytes.
    ///
    /// Facts: array facts.
    ManagedArray { size: u64, r#as: Name },
    /// Calls `cuda.to_device()` with an array of bytes.
    ///
    /// Facts: array facts.
    ToDevice { size: u64, byte: u8, r#as: Name },
    /// Calls `array.copy_to_host()`.
    ///
    /// Facts: `uniform` (the value of all bytes, or null if they differ), `bytes_read`.
    CopyToHost { array: Name },
    /// Makes the array `array[start:stop]`.
    ///
    /// Facts: array facts.
    Slice { of: Name, start: u64, stop: u64, r#as: Name },
    /// Enters `with cuda.pinned(buffer)`, or `with cuda.mapped(buffer)`, `times` times for one
    /// buffer, and leaves it; with `raising` through an exception.
    PinBlock {
        size: u64,
        /// Use `cuda.mapped`.
        #[serde(default)]
        mapped: bool,
        #[serde(default = "one")]
        times: u64,
        #[serde(default)]
        raising: bool,
    },
    /// Enters `cuda.defer_cleanup()`.
    ///
    /// Facts: `type`.
    HostDeferEnter { r#as: Name },
    /// Leaves that scope; with `raising` through an exception.
    ///
    /// Facts: `type`, `swallowed` (whether the scope swallowed the exception).
    HostDeferExit {
        scope: Name,
        #[serde(default)]
        raising: bool,
    },
    /// Calls `current_context().get_memory_info()`.
    ///
    /// Facts: those of `get_memory_info` of `emm`.
    HostMemoryInfo {},
    /// Calls `array.get_ipc_handle()`.
    ///
    /// Facts: those of `get_ipc_handle` of `emm`.
    HostIpcHandle { array: Name, r#as: Name },
    /// Calls `current_context().reset()`.
    HostReset {
        /// Reset the context of this device instead, as `cuda.gpus[device].get_primary_context()`
        /// gives it. That makes no context current.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<u32>,
    },
    /// Calls `cuda.close()`.
    Close {},
    /// Describes the host.
    ///
    /// Facts: `public` (the names of the interface that the host offers), `abstract` (the members
    /// of BaseCUDAMemoryManager without which a class has no instances), `bases` (texts such as
    /// `MappedMemory is MemoryPointer`), `constructible` (the classes that take the arguments that
    /// the texts name), `initialized_driver` (whether importing it initialized the driver).
    DescribeHost {},
    /// Makes the next `times` calls of a method of the worker's plugin raise. With 0 it raises no
    /// more.
    PluginFails {
        /// A method of the plugin, such as `memalloc`.
        method: plugin::Function,
        /// `out_of_memory`, `not_supported`, `invalid_value` or `state`.
        error: ErrorKind,
        #[serde(default = "one")]
        times: u64,
    },
    /// Calls `cuda.select_device(device)`.
    SelectDevice { device: u32 },
    /// Calls `current_context().memhostalloc()`.
    ///
    /// Facts: memory facts.
    HostMemory {
        size: u64,
        #[serde(default)]
        mapped: bool,
        #[serde(default)]
        portable: bool,
        #[serde(default)]
        wc: bool,
        r#as: Name,
    },
    /// Makes an object of the host: `cuda.stream()`, `cuda.event()`, or a module, as the host loads
    /// a compiled function.
    HostObject { kind: HostObject, r#as: Name },
    /// Calls `cuda.synchronize()`.
    HostSynchronize {},
    /// A second process allocates memory on a device and makes an IPC handle for it. The process
    /// lives until the handle is dropped.
    ///
    /// Facts: `handle`, `size_bytes`, `offset_bytes`.
    ForeignHandle(ForeignHandle),
    /// Calls `IpcHandle.open_array()` in the current context.
    ///
    /// Facts: array facts.
    OpenHandle { handle: Name, r#as: Name },
    /// Calls `IpcHandle.close()`.
    CloseHandle { handle: Name },
    /// Enters `with cuda.open_ipc_array()`, reads the array, and leaves; with `raising` through an
    /// exception.
    ///
    /// Facts: `uniform` (the value of all bytes, or null if they differ), `bytes_read`.
    HandleBlock {
        handle: Name,
        #[serde(default)]
        raising: bool,
    },
}

impl OperationSet for Operation {
    fn name(&self) -> &'static str {
        self.into()
    }

    fn properties(&self) -> Properties<'_> {
        let none = Properties::none;
        match self {
            Self::Fault(fault) => fault.properties(),
            Self::ClearFaults {} => none().clears_driver_faults(),
            Self::Collect {}
            | Self::Environment(_)
            | Self::Describe {}
            | Self::Fill(_)
            | Self::Read(_)
            | Self::RegisterByEnvironment { .. }
            | Self::OpenContext {}
            | Self::CopyToHost { .. }
            | Self::DescribeHost {}
            | Self::PluginFails { .. }
            | Self::SelectDevice { .. }
            | Self::HostSynchronize {}
            | Self::CloseHandle { .. }
            | Self::HandleBlock { .. } => none(),
            Self::Register { .. } => none().installs_plugin(),
            Self::Drop(drop) => drop.properties(),
            Self::HostBuffer(buffer) => buffer.properties(),
            Self::Pickle(pickle) => pickle.properties(),
            Self::PeerRead(read) => read.properties(),
            Self::DeviceArray { r#as, size, .. } => {
                none().binds(r#as, ARRAY).held(Gains).asks_bytes(*size)
            }
            Self::ManagedArray { r#as, .. } | Self::ToDevice { r#as, .. } => {
                none().binds(r#as, ARRAY).held(Gains)
            }
            Self::PinnedArray { r#as, .. } | Self::MappedArray { r#as, .. } => {
                none().binds(r#as, ARRAY).held(Gains).capability(Need::HostMemory)
            }
            Self::Slice { of, r#as, .. } => none().binds(r#as, ARRAY).held(Shares { of }),
            Self::PinBlock { .. } => none().capability(Need::HostMemory),
            Self::HostDeferEnter { r#as } => none().binds(r#as, SCOPE),
            Self::HostDeferExit { scope, .. } => none().unbinds(scope),
            Self::HostMemoryInfo {} => none().capability(Need::MemoryInfo),
            Self::HostIpcHandle { r#as, .. } => none().binds(r#as, HANDLE).capability(Need::Ipc),
            Self::HostReset { .. } => none().held(DropsAll),
            Self::Close {} => none().held(DropsAll).closes_host(),
            Self::HostMemory { r#as, .. } => none().binds(r#as, MEMORY),
            Self::HostObject { r#as, .. } => none().binds(r#as, HOST_OBJECT),
            Self::ForeignHandle(ForeignHandle { r#as, .. }) => {
                none().binds(r#as, HANDLE).capability(Need::Peer)
            }
            Self::OpenHandle { r#as, .. } => none().binds(r#as, ARRAY),
        }
    }

    fn arguments(&self) -> Arguments<'_> {
        match self {
            Self::Fault(fault) => fault.arguments(),
            Self::Drop(drop) => drop.arguments(),
            Self::Fill(fill) => fill.arguments(),
            Self::Read(read) => read.arguments(),
            Self::Pickle(pickle) => pickle.arguments(),
            Self::PeerRead(read) => read.arguments(),
            Self::CopyToHost { array: name }
            | Self::HostIpcHandle { array: name, .. }
            | Self::Slice { of: name, .. } => Arguments::one(name, &[ARRAY]),
            Self::HostDeferExit { scope, .. } => Arguments::one(scope, &[SCOPE]),
            Self::OpenHandle { handle, .. }
            | Self::CloseHandle { handle }
            | Self::HandleBlock { handle, .. } => Arguments::one(handle, &[HANDLE]),
            Self::ClearFaults {}
            | Self::Collect {}
            | Self::Environment(_)
            | Self::Describe {}
            | Self::HostBuffer(_)
            | Self::Register { .. }
            | Self::RegisterByEnvironment { .. }
            | Self::OpenContext {}
            | Self::DeviceArray { .. }
            | Self::PinnedArray { .. }
            | Self::MappedArray { .. }
            | Self::ManagedArray { .. }
            | Self::ToDevice { .. }
            | Self::PinBlock { .. }
            | Self::HostDeferEnter { .. }
            | Self::HostMemoryInfo {}
            | Self::HostReset { .. }
            | Self::Close {}
            | Self::DescribeHost {}
            | Self::PluginFails { .. }
            | Self::SelectDevice { .. }
            | Self::HostMemory { .. }
            | Self::HostObject { .. }
            | Self::HostSynchronize {}
            | Self::ForeignHandle(_) => Arguments::none(),
        }
    }
}
