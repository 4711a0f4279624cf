//! Calls of the C table as they are written, right or wrong. Every other operation asks only for
//! what the contract allows.

use serde::{Deserialize, Serialize};

use crate::nouns::Name;

/// The member that is called, and with what. A token is that of the memory `of` names or named, or
/// 0, and `plus` more. `room` is what the size of the structure that is handed over differs by from
/// the version 1 structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TableCall {
    /// For the manager's context or NULL, with room for the result or NULL.
    Create {
        #[serde(default)]
        device: i32,
        #[serde(default = "yes")]
        context: bool,
        #[serde(default = "yes")]
        out: bool,
    },
    /// Of NULL.
    Destroy {},
    Memalloc {
        size: u64,
        #[serde(default)]
        room: i64,
    },
    Memhostalloc {
        size: u64,
        #[serde(default)]
        flags: u32,
        #[serde(default)]
        room: i64,
    },
    /// Of the first bytes of a buffer, or of NULL.
    Mempin {
        #[serde(default)]
        buffer: Option<Name>,
        size: u64,
        #[serde(default)]
        flags: u32,
        #[serde(default)]
        room: i64,
    },
    Release {
        #[serde(default)]
        of: Option<Name>,
        #[serde(default)]
        plus: u64,
    },
    GetMemoryInfo {
        #[serde(default)]
        room: i64,
    },
    GetIpcHandle {
        #[serde(default)]
        of: Option<Name>,
        #[serde(default)]
        plus: u64,
        #[serde(default)]
        offset: u64,
        #[serde(default)]
        room: i64,
    },
    DeferEnd {},
}

/// How far `room` may go: so much lies behind each structure of a worker's.
pub const ROOM_BYTES: i64 = 256;

impl TableCall {
    /// The member that is called.
    #[must_use]
    pub fn member(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Destroy {} => "destroy",
            Self::Memalloc { .. } => "memalloc",
            Self::Memhostalloc { .. } => "memhostalloc",
            Self::Mempin { .. } => "mempin",
            Self::Release { .. } => "release",
            Self::GetMemoryInfo { .. } => "get_memory_info",
            Self::GetIpcHandle { .. } => "get_ipc_handle",
            Self::DeferEnd {} => "defer_end",
        }
    }

    #[must_use]
    pub fn room(&self) -> i64 {
        match self {
            Self::Memalloc { room, .. }
            | Self::Memhostalloc { room, .. }
            | Self::Mempin { room, .. }
            | Self::GetMemoryInfo { room }
            | Self::GetIpcHandle { room, .. } => *room,
            Self::Create { .. } | Self::Destroy {} | Self::Release { .. } | Self::DeferEnd {} => 0,
        }
    }

    /// The name whose token is meant.
    #[must_use]
    pub fn of(&self) -> Option<&str> {
        match self {
            Self::Release { of, .. } | Self::GetIpcHandle { of, .. } => of.as_deref(),
            _ => None,
        }
    }
}

fn yes() -> bool {
    true
}
