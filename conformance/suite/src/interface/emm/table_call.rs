//! Calls of the C table as they are written, right or wrong. Every other operation asks only for
//! what the contract allows.

use allocert_requirements::RefusalCode;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::interface::arguments::{Arguments, NameUse};
use crate::interface::shared::bound_type::{BUFFER, MEMORY};
use crate::invalid_word::InvalidWord;
use crate::nouns::Name;

/// The member that is called, and with what. A token is that of the memory that `of` stands or
/// stood for, or 0, and `plus` more. `extra_bytes` is how much larger the structure that is handed
/// over says it is than the version 1 structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
pub enum TableCall {
    /// `false` passes NULL for the context, or for the place of the result.
    Create {
        #[serde(default)]
        device: i32,
        #[serde(default = "yes")]
        context: bool,
        #[serde(default = "yes")]
        out: bool,
    },
    /// Passes NULL.
    Destroy {},
    Memalloc {
        size: u64,
        #[serde(default)]
        extra_bytes: i64,
    },
    Memhostalloc {
        size: u64,
        #[serde(default)]
        flags: u32,
        #[serde(default)]
        extra_bytes: i64,
    },
    /// Without `buffer` it passes NULL.
    Mempin {
        #[serde(default)]
        buffer: Option<Name>,
        size: u64,
        #[serde(default)]
        flags: u32,
        #[serde(default)]
        extra_bytes: i64,
    },
    /// The token is that of the memory `of`, or 0 without it, and `plus` more. The memory may
    /// already be released.
    Release {
        #[serde(default)]
        of: Option<Name>,
        #[serde(default)]
        plus: u64,
    },
    GetMemoryInfo {
        #[serde(default)]
        extra_bytes: i64,
    },
    /// The token is as in `release`.
    GetIpcHandle {
        #[serde(default)]
        of: Option<Name>,
        #[serde(default)]
        plus: u64,
        #[serde(default)]
        offset: u64,
        #[serde(default)]
        extra_bytes: i64,
    },
    DeferEnd {},
    /// Returns the fact `text`, which is null if it is no text.
    LastError {},
}

/// The largest `extra_bytes`: a worker keeps so much memory behind each structure.
pub const MAX_EXTRA_BYTES: i64 = 256;

impl TableCall {
    /// The member that is called.
    #[must_use]
    pub fn member(&self) -> &'static str {
        self.into()
    }

    pub(crate) fn arguments(&self) -> Arguments<'_> {
        match self {
            Self::Mempin { buffer, .. } => {
                Arguments::all(buffer.iter().map(|name| NameUse::of(name, &[BUFFER])))
            }
            Self::Release { of, .. } | Self::GetIpcHandle { of, .. } => {
                Arguments::all(of.iter().map(|name| NameUse::of(name, &[MEMORY]).or_gone()))
            }
            Self::Create { .. }
            | Self::Destroy {}
            | Self::Memalloc { .. }
            | Self::Memhostalloc { .. }
            | Self::GetMemoryInfo { .. }
            | Self::DeferEnd {}
            | Self::LastError {} => Arguments::none(),
        }
        .invalid_if(self.invalid_extra_bytes())
    }

    fn invalid_extra_bytes(&self) -> Option<InvalidWord> {
        let extra_bytes = match self {
            Self::Memalloc { extra_bytes, .. }
            | Self::Memhostalloc { extra_bytes, .. }
            | Self::Mempin { extra_bytes, .. }
            | Self::GetMemoryInfo { extra_bytes }
            | Self::GetIpcHandle { extra_bytes, .. } => *extra_bytes,
            Self::Create { .. }
            | Self::Destroy {}
            | Self::Release { .. }
            | Self::DeferEnd {}
            | Self::LastError {} => 0,
        };
        let limit = -MAX_EXTRA_BYTES..=MAX_EXTRA_BYTES;
        let message =
            format!("`extra_bytes` must lie between -{MAX_EXTRA_BYTES} and {MAX_EXTRA_BYTES}");
        (!limit.contains(&extra_bytes))
            .then(|| InvalidWord::new(RefusalCode::InvalidArgument, "extra_bytes", message))
    }
}

fn yes() -> bool {
    true
}
