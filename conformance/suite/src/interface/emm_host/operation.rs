//! The operations on a host, and on what it gives its user.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{IntoStaticStr, VariantNames};

use super::bound_type::HOST_OBJECT;
use super::fields::{ForeignHandle, HostObject, PluginShape};
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
    /// Makes the n-th call of a driver function fail.
    Fault(Fault),
    /// Calls of the driver fail no more.
    ClearFaults {},
    /// Collects garbage.
    Collect {},
    /// Sets a variable of the process environment.
    Environment(Environment),
    /// Lets a name go. The last name of a memory runs its finalizer.
    Drop(Drop),
    /// Says what the installed manager is.
    Describe {},
    /// Makes pageable memory of the host.
    HostBuffer(HostBuffer),
    /// Writes a byte to memory or to an array.
    Fill(Fill),
    /// Reads memory or an array back.
    Read(Read),
    /// Sends an IPC handle through `pickle`.
    Pickle(Pickle),
    /// Reads the memory of an IPC handle in a second process.
    PeerRead(PeerRead),
    /// `set_memory_manager(class)`
    Register {
        /// What the class says its version is; `null` is an answer too.
        #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
        interface_version: Option<Value>,
        #[serde(default, skip_serializing_if = "PluginShape::is_default")]
        plugin: PluginShape,
    },
    /// Registers by `NUMBA_CUDA_MEMORY_MANAGER`.
    RegisterByEnvironment {
        #[serde(default)]
        module: Option<String>,
    },
    /// Makes the host open the context of the current device.
    OpenContext {},
    /// `device_array(...)`
    DeviceArray { size: u64, r#as: Name },
    /// `pinned_array(...)`
    PinnedArray { size: u64, r#as: Name },
    /// `mapped_array(...)`
    MappedArray {
        size: u64,
        #[serde(default)]
        portable: bool,
        #[serde(default)]
        wc: bool,
        r#as: Name,
    },
    /// `managed_array(...)`
    ManagedArray { size: u64, r#as: Name },
    /// `to_device(...)` of an array of bytes that all have one value
    ToDevice { size: u64, byte: u8, r#as: Name },
    /// `copy_to_host()`
    CopyToHost { array: Name },
    /// `array[start:stop]`
    Slice { of: Name, start: u64, stop: u64, r#as: Name },
    /// `with pinned(...)`
    PinBlock {
        size: u64,
        #[serde(default)]
        mapped: bool,
        #[serde(default = "one")]
        times: u64,
        #[serde(default)]
        raising: bool,
    },
    /// Enters `defer_cleanup()`.
    HostDeferEnter { r#as: Name },
    /// Leaves it, `raising` by an exception.
    HostDeferExit {
        scope: Name,
        #[serde(default)]
        raising: bool,
    },
    /// `current_context().get_memory_info()`
    HostMemoryInfo {},
    /// `array.get_ipc_handle()`
    HostIpcHandle { array: Name, r#as: Name },
    /// `current_context().reset()`
    HostReset {},
    /// `close()`
    Close {},
    /// Says what the host is.
    DescribeHost {},
    /// Makes a method of the worker's plugin raise.
    PluginFails {
        method: plugin::Function,
        error: ErrorKind,
        #[serde(default = "one")]
        times: u64,
    },
    /// `select_device(...)`
    SelectDevice { device: u32 },
    /// `current_context().memhostalloc(...)`
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
    /// Makes a stream, an event or a module.
    HostObject { kind: HostObject, r#as: Name },
    /// `synchronize()`
    HostSynchronize {},
    /// A second process makes memory and a handle of it.
    ForeignHandle(ForeignHandle),
    /// `open()` of a handle
    OpenHandle { handle: Name, r#as: Name },
    /// `close()` of a handle
    CloseHandle { handle: Name },
    /// `with handle as array`
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
            Self::ClearFaults {}
            | Self::Collect {}
            | Self::Environment(_)
            | Self::Describe {}
            | Self::Fill(_)
            | Self::Read(_)
            | Self::Register { .. }
            | Self::RegisterByEnvironment { .. }
            | Self::OpenContext {}
            | Self::CopyToHost { .. }
            | Self::DescribeHost {}
            | Self::PluginFails { .. }
            | Self::SelectDevice { .. }
            | Self::HostSynchronize {}
            | Self::CloseHandle { .. }
            | Self::HandleBlock { .. } => none(),
            Self::Drop(drop) => drop.properties(),
            Self::HostBuffer(buffer) => buffer.properties(),
            Self::Pickle(pickle) => pickle.properties(),
            Self::PeerRead(read) => read.properties(),
            Self::DeviceArray { r#as, .. }
            | Self::ManagedArray { r#as, .. }
            | Self::ToDevice { r#as, .. } => none().binds(r#as, ARRAY).held(Gains),
            Self::PinnedArray { r#as, .. } | Self::MappedArray { r#as, .. } => {
                none().binds(r#as, ARRAY).held(Gains).capability(Need::HostMemory)
            }
            Self::Slice { of, r#as, .. } => none().binds(r#as, ARRAY).held(Shares { of }),
            Self::PinBlock { .. } => none().capability(Need::HostMemory),
            Self::HostDeferEnter { r#as } => none().binds(r#as, SCOPE),
            Self::HostDeferExit { scope, .. } => none().unbinds(scope),
            Self::HostMemoryInfo {} => none().capability(Need::MemoryInfo),
            Self::HostIpcHandle { r#as, .. } => none().binds(r#as, HANDLE).capability(Need::Ipc),
            Self::HostReset {} => none().held(DropsAll),
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
            | Self::HostReset {}
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
