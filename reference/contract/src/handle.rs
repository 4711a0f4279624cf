//! Values that CUDA passes as plain integers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An address as the driver hands it out: device, pinned host or managed memory (one address space,
/// CUDA "unified addressing").
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct DevicePtr(pub u64);

impl DevicePtr {
    /// No address.
    pub const NULL: Self = Self(0);
}

impl fmt::Display for DevicePtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// A `CUstream` value, the three reserved ones included (CUDA Driver API, "Stream synchronization
/// behavior").
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct StreamHandle(pub u64);

impl StreamHandle {
    /// 0: the legacy stream, or the thread's own stream when called through a `_ptsz` or `_ptds`
    /// symbol.
    pub const DEFAULT: Self = Self(0);
    /// `CU_STREAM_LEGACY`.
    pub const LEGACY: Self = Self(1);
    /// `CU_STREAM_PER_THREAD`.
    pub const PER_THREAD: Self = Self(2);
}
