//! The operations on an EMM plugin: each is a call of one manager, or what a case needs besides.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use super::bound_type::{INFO, MANAGER};
use super::table_call::TableCall;
use crate::interface::arguments::Arguments;
use crate::interface::definition::OperationSet;
use crate::interface::properties::HeldMemory::{DropsAllOfManager, Frees, Gains, Pins, Shares};
use crate::interface::properties::Properties;
use crate::interface::shared::bound_type::{BUFFER, HANDLE, MEMORY, SCOPE};
use crate::interface::shared::{
    Attach, DETACH, Drop, Environment, Fault, Fill, HostBuffer, PeerRead, Pickle, Read, is_false,
    one,
};
use crate::nouns::{Name, Need};

/// What one step does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
pub enum Operation {
    /// Makes the n-th call of a driver function fail.
    Fault(Fault),
    /// Calls of the driver fail no more.
    ClearFaults {},
    /// Collects garbage, where the worker has a collector.
    Collect {},
    /// Sets a variable of the process environment.
    Environment(Environment),
    /// Lets a name go. The last name of a memory runs its finalizer.
    Drop(Drop),
    /// Makes the primary context of a device current on the step's thread.
    Attach(Attach),
    /// Leaves the step's thread without a current context.
    Detach {},
    /// Says what the subject is: its class, or the members of its table.
    Describe {},
    /// Makes pageable memory of the host.
    HostBuffer(HostBuffer),
    /// Writes a byte to memory.
    Fill(Fill),
    /// Reads memory back.
    Read(Read),
    /// Sends an IPC handle through `pickle`.
    Pickle(Pickle),
    /// Reads the memory of an IPC handle in a second process.
    PeerRead(PeerRead),
    /// Makes a manager for the context of a device.
    Create {
        r#as: Name,
        #[serde(default)]
        device: u32,
    },
    /// Ends a manager.
    Destroy {},
    /// `initialize()`
    Initialize {},
    /// `memalloc(size)`
    Memalloc { size: i128, r#as: Name },
    /// `memhostalloc(size, mapped, portable, wc)`
    Memhostalloc {
        size: u64,
        #[serde(default)]
        mapped: bool,
        #[serde(default)]
        portable: bool,
        #[serde(default)]
        wc: bool,
        r#as: Name,
    },
    /// `mempin(owner, pointer, size, mapped)` of a whole buffer
    Mempin {
        buffer: Name,
        #[serde(default)]
        mapped: bool,
        r#as: Name,
    },
    /// `get_memory_info()`
    GetMemoryInfo {
        #[serde(default)]
        r#as: Option<Name>,
    },
    /// `get_ipc_handle(memory)`
    GetIpcHandle { memory: Name, r#as: Name },
    /// `reset()`
    Reset {},
    /// Enters the scope that `defer_cleanup()` returns.
    DeferEnter { r#as: Name },
    /// Leaves such a scope, `raising` by an exception.
    DeferExit {
        scope: Name,
        #[serde(default)]
        raising: bool,
    },
    /// Frees memory by its own method, whoever holds it.
    Free { name: Name },
    /// Makes a view of a part of memory.
    View { of: Name, offset: u64, size: u64, r#as: Name },
    /// Takes memory and drops it, `times` times, with `hold` memories held at a time.
    Churn {
        size: u64,
        times: u64,
        #[serde(default = "one")]
        hold: u64,
        /// Sizes between 1 byte and `size`, and what each memory holds is checked.
        #[serde(default, skip_serializing_if = "is_false")]
        mixed: bool,
    },
    /// Takes memory inside a finalizer of the subject.
    Reenter { size: u64 },
    /// Takes and drops memory on several threads at once.
    Stress { threads: u32, size: u64, times: u64 },
    /// Calls a member of the C table, rightly or wrongly.
    Call(TableCall),
}

impl OperationSet for Operation {
    fn name(&self) -> &'static str {
        self.into()
    }

    fn properties(&self) -> Properties<'_> {
        let none = Properties::none;
        let call = || none().on(MANAGER).keeps_context();
        match self {
            Self::Fault(fault) => fault.properties(),
            Self::ClearFaults {}
            | Self::Collect {}
            | Self::Environment(_)
            | Self::Describe {}
            | Self::Fill(_)
            | Self::Read(_) => none(),
            Self::Drop(drop) => drop.properties(),
            Self::Attach(attach) => attach.properties(),
            Self::Detach {} => none().attachment(DETACH),
            Self::HostBuffer(buffer) => buffer.properties(),
            Self::Pickle(_) | Self::PeerRead(_) => none().capability(Need::Ipc),
            Self::Create { r#as, .. } => none().binds(r#as, MANAGER),
            Self::Destroy {} => none().on(MANAGER).unbinds_on().held(DropsAllOfManager),
            Self::Initialize {} => call(),
            Self::Memalloc { r#as, .. } => call().binds(r#as, MEMORY).held(Gains).returns_memory(),
            Self::Memhostalloc { r#as, .. } => {
                call().binds(r#as, MEMORY).held(Gains).returns_memory().capability(Need::HostMemory)
            }
            Self::Mempin { r#as, .. } => {
                call().binds(r#as, MEMORY).held(Pins).returns_memory().capability(Need::HostMemory)
            }
            Self::GetMemoryInfo { r#as } => match r#as {
                Some(name) => call().binds(name, INFO).capability(Need::MemoryInfo),
                None => call().capability(Need::MemoryInfo),
            },
            Self::GetIpcHandle { r#as, .. } => call().binds(r#as, HANDLE).capability(Need::Ipc),
            Self::Reset {} => call().held(DropsAllOfManager),
            Self::DeferEnter { r#as } => call().binds(r#as, SCOPE),
            Self::DeferExit { scope, .. } => call().unbinds(scope),
            Self::Free { name } => none().keeps_context().held(Frees { name }),
            Self::View { of, r#as, .. } => {
                none().binds(r#as, MEMORY).held(Shares { of }).returns_memory()
            }
            Self::Churn { .. } | Self::Reenter { .. } => call(),
            Self::Stress { .. } => none().on(MANAGER).is_threaded(),
            Self::Call(_) => none().on(MANAGER).requires(Need::Table),
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
            Self::Mempin { buffer, .. } => Arguments::one(buffer, &[BUFFER]),
            Self::GetIpcHandle { memory: name, .. } | Self::Free { name } => {
                Arguments::one(name, &[MEMORY])
            }
            Self::View { of, .. } => Arguments::one(of, &[MEMORY]),
            Self::DeferExit { scope, .. } => Arguments::one(scope, &[SCOPE]),
            Self::Call(call) => call.arguments(),
            Self::ClearFaults {}
            | Self::Collect {}
            | Self::Environment(_)
            | Self::Attach(_)
            | Self::Detach {}
            | Self::Describe {}
            | Self::HostBuffer(_)
            | Self::Create { .. }
            | Self::Destroy {}
            | Self::Initialize {}
            | Self::Memalloc { .. }
            | Self::Memhostalloc { .. }
            | Self::GetMemoryInfo { .. }
            | Self::Reset {}
            | Self::DeferEnter { .. }
            | Self::Churn { .. }
            | Self::Reenter { .. }
            | Self::Stress { .. } => Arguments::none(),
        }
    }
}
