//! What a host calls on a plugin. A worker that stands in as the plugin of a host under test writes
//! each such call into the trace.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, FromRepr, IntoStaticStr};

/// One way into a plugin. The number is what the marks of the call carry (`runners/PROTOCOL.md`),
/// the name what fixtures write.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    FromRepr,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[repr(u64)]
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
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    #[must_use]
    pub fn from_code(code: u64) -> Option<Self> {
        Self::from_repr(code)
    }
}
