//! The operations a step can ask for. The names, fields and defaults are the fixture format (`fixtures/README.md`) and,
//! serialised, the worker protocol: a worker is sent exactly these.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::case::Through;

/// What one step does. Externally tagged: `{memalloc: {size: 64, as: a}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    Describe {},
    Attach {
        #[serde(default)]
        device: u32,
    },
    Detach {},
    Create {
        r#as: String,
        #[serde(default)]
        device: u32,
    },
    Destroy {},
    Initialize {},
    Memalloc {
        size: i128,
        r#as: String,
    },
    Memhostalloc {
        size: u64,
        #[serde(default)]
        mapped: bool,
        #[serde(default)]
        portable: bool,
        #[serde(default)]
        wc: bool,
        r#as: String,
    },
    HostBuffer {
        size: u64,
        r#as: String,
    },
    Mempin {
        buffer: String,
        #[serde(default)]
        mapped: bool,
        r#as: String,
    },
    GetMemoryInfo {
        #[serde(default)]
        r#as: Option<String>,
    },
    GetIpcHandle {
        memory: String,
        r#as: String,
    },
    Pickle {
        handle: String,
    },
    PeerRead {
        handle: String,
        size: u64,
    },
    Reset {},
    DeferEnter {
        r#as: String,
    },
    DeferExit {
        scope: String,
        #[serde(default)]
        raising: bool,
    },
    Drop {
        name: String,
    },
    Free {
        name: String,
    },
    View {
        of: String,
        offset: u64,
        size: u64,
        r#as: String,
    },
    Fill {
        memory: String,
        byte: u8,
        #[serde(default)]
        offset: u64,
        #[serde(default)]
        size: Option<u64>,
    },
    Read {
        memory: String,
        #[serde(default)]
        offset: u64,
        #[serde(default)]
        size: Option<u64>,
    },
    Churn {
        size: u64,
        times: u64,
        #[serde(default = "one")]
        hold: u64,
    },
    Stress {
        threads: u32,
        size: u64,
        times: u64,
    },
    Fault {
        call: String,
        #[serde(default = "one")]
        nth: u64,
        #[serde(default = "one")]
        count: u64,
        error: i32,
    },
    ClearFaults {},
    Collect {},
    Environment {
        name: String,
        value: String,
    },
    Register {
        #[serde(default)]
        interface_version: Option<Value>,
    },
    RegisterByEnvironment {
        #[serde(default)]
        module: Option<String>,
    },
    OpenContext {},
    DeviceArray {
        size: u64,
        r#as: String,
    },
    PinnedArray {
        size: u64,
        r#as: String,
    },
    MappedArray {
        size: u64,
        #[serde(default)]
        portable: bool,
        #[serde(default)]
        wc: bool,
        r#as: String,
    },
    ManagedArray {
        size: u64,
        r#as: String,
    },
    ToDevice {
        size: u64,
        byte: u8,
        r#as: String,
    },
    CopyToHost {
        array: String,
    },
    Slice {
        of: String,
        start: u64,
        stop: u64,
        r#as: String,
    },
    PinBlock {
        size: u64,
        #[serde(default)]
        mapped: bool,
        #[serde(default = "one")]
        times: u64,
        #[serde(default)]
        raising: bool,
    },
    HostDeferEnter {
        r#as: String,
    },
    HostDeferExit {
        scope: String,
        #[serde(default)]
        raising: bool,
    },
    HostMemoryInfo {},
    HostIpcHandle {
        array: String,
        r#as: String,
    },
    HostReset {},
    Close {},
}

/// What a bound name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noun {
    Manager,
    Memory,
    Buffer,
    Info,
    Handle,
    Scope,
    Array,
}

impl Operation {
    /// The name that this operation binds, and to what.
    #[must_use]
    pub fn binds(&self) -> Option<(&str, Noun)> {
        let (name, noun) = match self {
            Self::Create { r#as, .. } => (r#as, Noun::Manager),
            Self::Memalloc { r#as, .. }
            | Self::Memhostalloc { r#as, .. }
            | Self::Mempin { r#as, .. }
            | Self::View { r#as, .. } => (r#as, Noun::Memory),
            Self::HostBuffer { r#as, .. } => (r#as, Noun::Buffer),
            Self::GetMemoryInfo { r#as } => (r#as.as_ref()?, Noun::Info),
            Self::GetIpcHandle { r#as, .. } | Self::HostIpcHandle { r#as, .. } => (r#as, Noun::Handle),
            Self::DeferEnter { r#as } | Self::HostDeferEnter { r#as } => (r#as, Noun::Scope),
            Self::DeviceArray { r#as, .. }
            | Self::PinnedArray { r#as, .. }
            | Self::MappedArray { r#as, .. }
            | Self::ManagedArray { r#as, .. }
            | Self::ToDevice { r#as, .. }
            | Self::Slice { r#as, .. } => (r#as, Noun::Array),
            _ => return None,
        };
        Some((name, noun))
    }

    /// The name that this operation uses, and what it may stand for; empty: anything but a manager.
    #[must_use]
    pub fn uses(&self) -> Option<(&str, &'static [Noun])> {
        Some(match self {
            Self::Mempin { buffer, .. } => (buffer, &[Noun::Buffer]),
            Self::GetIpcHandle { memory, .. } => (memory, &[Noun::Memory]),
            Self::Pickle { handle } | Self::PeerRead { handle, .. } => (handle, &[Noun::Handle]),
            Self::DeferExit { scope, .. } | Self::HostDeferExit { scope, .. } => (scope, &[Noun::Scope]),
            Self::Drop { name } => (name, &[]),
            Self::Free { name } => (name, &[Noun::Memory]),
            Self::View { of, .. } => (of, &[Noun::Memory]),
            Self::Fill { memory, .. } | Self::Read { memory, .. } => {
                (memory, &[Noun::Memory, Noun::Buffer, Noun::Array])
            }
            Self::CopyToHost { array } | Self::HostIpcHandle { array, .. } => (array, &[Noun::Array]),
            Self::Slice { of, .. } => (of, &[Noun::Array]),
            _ => return None,
        })
    }

    /// The name that stands for nothing afterwards.
    #[must_use]
    pub fn unbinds(&self) -> Option<&str> {
        match self {
            Self::Drop { name } => Some(name),
            Self::DeferExit { scope, .. } | Self::HostDeferExit { scope, .. } => Some(scope),
            _ => None,
        }
    }

    /// The only kind of case that this operation belongs to, if it does not belong to both.
    #[must_use]
    pub fn belongs(&self) -> Option<Through> {
        match self {
            Self::Describe {}
            | Self::Fault { .. }
            | Self::ClearFaults {}
            | Self::Collect {}
            | Self::Environment { .. }
            | Self::HostBuffer { .. }
            | Self::PeerRead { .. }
            | Self::Pickle { .. }
            | Self::Fill { .. }
            | Self::Read { .. }
            | Self::Drop { .. } => None,
            Self::Register { .. }
            | Self::RegisterByEnvironment { .. }
            | Self::OpenContext {}
            | Self::DeviceArray { .. }
            | Self::PinnedArray { .. }
            | Self::MappedArray { .. }
            | Self::ManagedArray { .. }
            | Self::ToDevice { .. }
            | Self::CopyToHost { .. }
            | Self::Slice { .. }
            | Self::PinBlock { .. }
            | Self::HostDeferEnter { .. }
            | Self::HostDeferExit { .. }
            | Self::HostMemoryInfo {}
            | Self::HostIpcHandle { .. }
            | Self::HostReset {}
            | Self::Close {} => Some(Through::Host),
            _ => Some(Through::Manager),
        }
    }

    /// Whether a manager is called, so that `on` has to name one.
    #[must_use]
    pub fn on_manager(&self) -> bool {
        matches!(
            self,
            Self::Destroy {}
                | Self::Initialize {}
                | Self::Memalloc { .. }
                | Self::Memhostalloc { .. }
                | Self::Mempin { .. }
                | Self::GetMemoryInfo { .. }
                | Self::GetIpcHandle { .. }
                | Self::Reset {}
                | Self::DeferEnter { .. }
                | Self::DeferExit { .. }
                | Self::Churn { .. }
                | Self::Stress { .. }
        )
    }

    /// The operation's name in a fixture.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Describe {} => "describe",
            Self::Attach { .. } => "attach",
            Self::Detach {} => "detach",
            Self::Create { .. } => "create",
            Self::Destroy {} => "destroy",
            Self::Initialize {} => "initialize",
            Self::Memalloc { .. } => "memalloc",
            Self::Memhostalloc { .. } => "memhostalloc",
            Self::HostBuffer { .. } => "host_buffer",
            Self::Mempin { .. } => "mempin",
            Self::GetMemoryInfo { .. } => "get_memory_info",
            Self::GetIpcHandle { .. } => "get_ipc_handle",
            Self::Pickle { .. } => "pickle",
            Self::PeerRead { .. } => "peer_read",
            Self::Reset {} => "reset",
            Self::DeferEnter { .. } => "defer_enter",
            Self::DeferExit { .. } => "defer_exit",
            Self::Drop { .. } => "drop",
            Self::Free { .. } => "free",
            Self::View { .. } => "view",
            Self::Fill { .. } => "fill",
            Self::Read { .. } => "read",
            Self::Churn { .. } => "churn",
            Self::Stress { .. } => "stress",
            Self::Fault { .. } => "fault",
            Self::ClearFaults {} => "clear_faults",
            Self::Collect {} => "collect",
            Self::Environment { .. } => "environment",
            Self::Register { .. } => "register",
            Self::RegisterByEnvironment { .. } => "register_by_environment",
            Self::OpenContext {} => "open_context",
            Self::DeviceArray { .. } => "device_array",
            Self::PinnedArray { .. } => "pinned_array",
            Self::MappedArray { .. } => "mapped_array",
            Self::ManagedArray { .. } => "managed_array",
            Self::ToDevice { .. } => "to_device",
            Self::CopyToHost { .. } => "copy_to_host",
            Self::Slice { .. } => "slice",
            Self::PinBlock { .. } => "pin_block",
            Self::HostDeferEnter { .. } => "host_defer_enter",
            Self::HostDeferExit { .. } => "host_defer_exit",
            Self::HostMemoryInfo {} => "host_memory_info",
            Self::HostIpcHandle { .. } => "host_ipc_handle",
            Self::HostReset {} => "host_reset",
            Self::Close {} => "close",
        }
    }
}

fn one() -> u64 {
    1
}
