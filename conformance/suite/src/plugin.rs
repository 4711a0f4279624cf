//! What a host calls on a plugin. A worker that stands in as the plugin of a host under test writes
//! each such call into the trace.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One way into a plugin. The number is what the marks of the call carry (`runners/PROTOCOL.md`),
/// the name what fixtures write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    Create = 1,
    InterfaceVersion,
    Initialize,
    Memalloc,
    Memhostalloc,
    Mempin,
    GetMemoryInfo,
    GetIpcHandle,
    Reset,
    DeferCleanup,
    /// The scope that `defer_cleanup` returned is entered, and left.
    DeferEnter,
    DeferExit,
    /// The finalizer of memory that the plugin gave.
    Finalize,
}

impl Method {
    pub const ALL: [Self; 13] = [
        Self::Create,
        Self::InterfaceVersion,
        Self::Initialize,
        Self::Memalloc,
        Self::Memhostalloc,
        Self::Mempin,
        Self::GetMemoryInfo,
        Self::GetIpcHandle,
        Self::Reset,
        Self::DeferCleanup,
        Self::DeferEnter,
        Self::DeferExit,
        Self::Finalize,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::InterfaceVersion => "interface_version",
            Self::Initialize => "initialize",
            Self::Memalloc => "memalloc",
            Self::Memhostalloc => "memhostalloc",
            Self::Mempin => "mempin",
            Self::GetMemoryInfo => "get_memory_info",
            Self::GetIpcHandle => "get_ipc_handle",
            Self::Reset => "reset",
            Self::DeferCleanup => "defer_cleanup",
            Self::DeferEnter => "defer_enter",
            Self::DeferExit => "defer_exit",
            Self::Finalize => "finalize",
        }
    }

    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    #[must_use]
    pub fn from_code(code: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|method| *method as u64 == code)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
