//! The operations on an EMM plugin: each is a call of one manager, or what a case needs besides.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use super::bound_type::{INFO, MANAGER, MEMORIES};
use super::table_call::TableCall;
use crate::interface::arguments::Arguments;
use crate::interface::definition::OperationSet;
use crate::interface::properties::HeldMemory::{
    DropsAllOfContext, Frees, Gains, Pins, Serves, Shares,
};
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
    /// Makes calls of a driver function fail: `count` calls, from the `nth` call on.
    Fault(Fault),
    /// Ends all faults.
    ClearFaults {},
    /// Runs a full garbage collection. A native worker does nothing.
    Collect {},
    /// Sets an environment variable for the later steps.
    Environment(Environment),
    /// Drops the host's reference to a name. If it is the last reference to memory, the finalizer
    /// must run now.
    ///
    /// Facts: `finalized`.
    Drop(Drop),
    /// Makes the primary context of a device current on the step's thread.
    Attach(Attach),
    /// Leaves the step's thread without a current context.
    Detach {},
    /// Describes the subject without a context: the C table of a native subject,
    /// `cls(context=None)` of a Python one.
    ///
    /// Facts: `interface_version`, `interface_version_type` (such as `int`), `abstract` (names of
    /// methods that are not implemented), `instantiable`, `name`, `version`. A native subject also
    /// has `same_table`: whether the symbol returns the same table as at load time, with the same
    /// content. A text that is missing or not UTF-8 is null. In Python also `bases` (class names)
    /// and `error` (why no instance can be made, if so); the interface version is that of the
    /// step's manager, if the case has made it.
    Describe {},
    /// Makes a pageable buffer of the worker, in pages of its own.
    ///
    /// Facts: `host_pointer`, `size_bytes`.
    HostBuffer(HostBuffer),
    /// Writes a byte to memory: to device memory through the driver, to host memory directly.
    Fill(Fill),
    /// Reads memory.
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
    /// Makes another manager, for the context of a device.
    ///
    /// Facts: `type`, `holds_context`, `bases` (class names).
    Create {
        r#as: Name,
        #[serde(default)]
        device: u32,
    },
    /// Drops the host's reference to this manager.
    Destroy {},
    /// Calls `initialize()`.
    ///
    /// Facts: `none` (whether it returned None; always true of a native subject).
    Initialize {},
    /// Calls `memalloc(size)`.
    ///
    /// Facts: memory facts.
    Memalloc { size: i128, r#as: Name },
    /// Calls `memalloc(size)` `times` times, and keeps all of the memory under one name. `drop`
    /// lets all of it go in one step.
    ///
    /// Facts: `failed`, `out_of_memory` (whether the first request that failed was said to be out
    /// of memory). In Python also `first_failure`.
    MemallocMany { size: u64, times: u64, r#as: Name },
    /// Calls `memhostalloc(size, mapped, portable, wc)`.
    ///
    /// Facts: memory facts, and `portable` and `write_combined`: the flags that the driver reports
    /// for the memory. They are null if the driver neither allocated nor registered it.
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
    /// Pins a whole buffer by `mempin(owner, pointer, size, mapped)`. The owner is the worker's
    /// buffer object.
    ///
    /// Facts: memory facts.
    Mempin {
        buffer: Name,
        #[serde(default)]
        mapped: bool,
        r#as: Name,
    },
    /// Calls `get_memory_info()`.
    ///
    /// Facts: `type`, `free_bytes`, `total_bytes`, `named` (whether the result has `.free` and
    /// `.total`).
    GetMemoryInfo {
        #[serde(default)]
        r#as: Option<Name>,
    },
    /// Calls `get_ipc_handle(memory)`.
    ///
    /// Facts: `type`, `handle` (hexadecimal), `handle_bytes` (its length), `size_bytes`,
    /// `offset_bytes`, `source_matches` (null if the handle names no device). In Python also
    /// `bases` (class names) and `base_is_memory`.
    GetIpcHandle { memory: Name, r#as: Name },
    /// Calls `reset()`.
    ///
    /// Facts: `none` (whether it returned None).
    Reset {},
    /// Calls `defer_cleanup()` and enters the scope that it returns.
    ///
    /// Facts: `type`.
    DeferEnter { r#as: Name },
    /// Leaves such a scope; with `raising` through an exception.
    ///
    /// Facts: `type`; in Python also `swallowed` (whether the scope swallowed the exception).
    DeferExit {
        scope: Name,
        #[serde(default)]
        raising: bool,
    },
    /// Calls `MemoryPointer.free()`. Python only.
    Free { name: Name },
    /// Makes a view of a part of memory. The view shares the ownership.
    ///
    /// Facts: memory facts.
    View { of: Name, offset: u64, size: u64, r#as: Name },
    /// Allocates and drops memory `times` times, with `hold` allocations alive at a time.
    ///
    /// Facts: `failed`, `overlaps`, `misaligned`, `out_of_memory` as above; with `mixed` also
    /// `changed` (how many allocations did not hold their byte at the end). In Python also
    /// `first_failure`.
    Churn {
        size: u64,
        times: u64,
        /// How many allocations are alive at a time.
        #[serde(default = "one")]
        hold: u64,
        /// Use sizes from 1 to `size`, drop in random order, and fill each allocation with a byte
        /// of its own.
        #[serde(default, skip_serializing_if = "is_false")]
        mixed: bool,
    },
    /// Makes a call again and again. Each time a garbage collection runs the finalizer of another
    /// block at the next moment of the call. Python only.
    ///
    /// Facts: `moments` (how many there were), `failed`, `overlaps`, `first_failure`.
    Reenter {
        size: u64,
        /// The call of the manager.
        #[serde(default, skip_serializing_if = "ReenteredCall::is_memalloc")]
        during: ReenteredCall,
        /// Run the finalizer on another thread. The call goes on when the finalizer has returned,
        /// or soon if the manager makes it wait for the end of the call.
        #[serde(default, skip_serializing_if = "is_false")]
        other_thread: bool,
    },
    /// Allocates and drops memory on several threads at once.
    ///
    /// Facts: `failed`, `overlaps`, `out_of_memory` as above; in Python also
    /// `first_failure`.
    Stress { threads: u32, size: u64, times: u64 },
    /// Calls a member of the C table with exactly these arguments, allowed or not. A case with this
    /// operation needs `table`. Memory that the call returns has no name; the next reset releases
    /// it. `flags` are those of `allocert_emm.h`. With `extra_bytes`, the structure that the call
    /// passes says that it is so many bytes larger than version 1, or smaller.
    ///
    /// Facts: `text` (what the member `last_error` returned; no other member has it).
    Call(TableCall),
}

/// The call that a finalizer runs in the middle of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReenteredCall {
    /// An allocation, which the operation drops again.
    #[default]
    Memalloc,
    /// `reset()`, and then two allocations.
    Reset,
}

impl ReenteredCall {
    fn is_memalloc(&self) -> bool {
        *self == Self::Memalloc
    }
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
            Self::ClearFaults {} => none().clears_driver_faults(),
            Self::Collect {} | Self::Environment(_) | Self::Describe {} => none(),
            Self::Fill(_) | Self::Read(_) => none().touches_memory(),
            Self::Drop(drop) => drop.properties(),
            Self::Attach(attach) => attach.properties(),
            Self::Detach {} => none().attachment(DETACH),
            Self::HostBuffer(buffer) => buffer.properties(),
            Self::Pickle(_) | Self::PeerRead(_) => none().capability(Need::Ipc),
            Self::Create { r#as, device } => {
                none().binds(r#as, MANAGER).held(Serves { device: *device })
            }
            Self::Destroy {} => none().on(MANAGER).unbinds_on().held(DropsAllOfContext),
            Self::Initialize {} => call(),
            Self::Memalloc { r#as, size } => {
                let size_bytes = u64::try_from(*size).unwrap_or_default();
                call().binds(r#as, MEMORY).held(Gains).returns_memory().asks_bytes(size_bytes)
            }
            Self::MemallocMany { r#as, size, times } => {
                call().binds(r#as, MEMORIES).asks_bytes(size.saturating_mul(*times))
            }
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
            Self::Reset {} => call().held(DropsAllOfContext),
            Self::DeferEnter { r#as } => call().binds(r#as, SCOPE),
            Self::DeferExit { scope, .. } => call().unbinds(scope),
            Self::Free { name } => none().keeps_context().held(Frees { name }),
            Self::View { of, r#as, .. } => {
                none().binds(r#as, MEMORY).held(Shares { of }).returns_memory()
            }
            Self::Reenter { during: ReenteredCall::Reset, .. } => call().held(DropsAllOfContext),
            Self::Churn { size, hold, .. } => call().asks_bytes(size.saturating_mul(*hold)),
            Self::Reenter { .. } => call(),
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
            | Self::MemallocMany { .. }
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
