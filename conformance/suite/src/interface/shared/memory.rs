//! Memory as the worker itself makes, writes and reads it.

use serde::{Deserialize, Serialize};

use super::bound_type::{ARRAY, BUFFER, HANDLE, MEMORY};
use super::{is_false, is_zero};
use crate::interface::arguments::Arguments;
use crate::interface::properties::{BoundType, Properties};
use crate::nouns::{Name, Need};

/// What can be written and read.
const BYTES: &[BoundType] = &[MEMORY, BUFFER, ARRAY];

/// Makes pageable memory of the host, in pages of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostBuffer {
    pub size: u64,
    /// How many bytes behind the beginning of its first page it begins.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset: u64,
    pub r#as: Name,
}

impl HostBuffer {
    pub(crate) fn properties(&self) -> Properties<'_> {
        Properties::none().binds(&self.r#as, BUFFER)
    }
}

/// Writes a byte to memory: to all of it from `offset` on, or to `size` bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    pub memory: Name,
    pub byte: u8,
    #[serde(default)]
    pub offset: u64,
    /// How many bytes; without it all bytes from `offset` on.
    #[serde(default)]
    pub size: Option<u64>,
}

impl Fill {
    pub(crate) fn arguments(&self) -> Arguments<'_> {
        Arguments::one(&self.memory, BYTES)
    }
}

/// Reads memory back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    pub memory: Name,
    #[serde(default)]
    pub offset: u64,
    /// How many bytes; without it all bytes from `offset` on.
    #[serde(default)]
    pub size: Option<u64>,
    /// Read by the device address, even if there is a host address.
    #[serde(default, skip_serializing_if = "is_false")]
    pub device: bool,
}

impl Read {
    pub(crate) fn arguments(&self) -> Arguments<'_> {
        Arguments::one(&self.memory, BYTES)
    }
}

/// Sends an IPC handle through `pickle` and back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pickle {
    pub handle: Name,
}

impl Pickle {
    pub(crate) fn properties(&self) -> Properties<'_> {
        Properties::none().capability(Need::Ipc)
    }

    pub(crate) fn arguments(&self) -> Arguments<'_> {
        Arguments::one(&self.handle, &[HANDLE])
    }
}

/// Opens an IPC handle in a second process and reads the memory there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerRead {
    pub handle: Name,
    pub size: u64,
}

impl PeerRead {
    pub(crate) fn properties(&self) -> Properties<'_> {
        Properties::none().capability(Need::Ipc)
    }

    pub(crate) fn arguments(&self) -> Arguments<'_> {
        Arguments::one(&self.handle, &[HANDLE])
    }
}
