//! What cases, plans and observations are made of: names, needs, kinds of errors, settings.

use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// What a fixture calls a thing of its case: a manager, an allocation, a stream.
pub type Name = SmolStr;

/// Something a case asks of the subject, its worker or the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    Python,
    Native,
    /// A subject behind the C table of `allocert_emm.h` or `allocert_place.h`.
    Table,
    HostMemory,
    /// Host memory that the subject manages itself, not a base class of the host.
    OwnHostMemory,
    /// A driver that reports the flags of each piece of host memory by itself.
    HostFlags,
    /// Host memory whose clean-up the subject must defer: that of a C table, and that of a subclass
    /// of the host's class for host memory.
    DeferredHostMemory,
    /// Device memory that ends with the device: not managed memory, which the host's memory backs.
    /// A subject of `place` without a table has this, or host memory.
    DeviceMemory,
    MemoryInfo,
    Ipc,
    Peer,
    TwoDevices,
    /// A subject that NumPy can use in this process.
    Numpy,
    /// The function `release` of the table of `allocert_place.h`.
    Release,
    /// A function that says how much memory of a place is in use.
    Used,
    /// Functions of a place that take a stream.
    Streams,
    /// A worker that stops a thread between two instructions.
    StopsThreads,
}

impl Need {
    pub const ALL: [Self; 17] = [
        Self::Python,
        Self::Native,
        Self::Table,
        Self::HostMemory,
        Self::OwnHostMemory,
        Self::HostFlags,
        Self::DeferredHostMemory,
        Self::DeviceMemory,
        Self::MemoryInfo,
        Self::Ipc,
        Self::Peer,
        Self::TwoDevices,
        Self::Numpy,
        Self::Release,
        Self::Used,
        Self::Streams,
        Self::StopsThreads,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Native => "native",
            Self::Table => "table",
            Self::HostMemory => "host_memory",
            Self::OwnHostMemory => "own_host_memory",
            Self::HostFlags => "host_flags",
            Self::DeferredHostMemory => "deferred_host_memory",
            Self::DeviceMemory => "device_memory",
            Self::MemoryInfo => "memory_info",
            Self::Ipc => "ipc",
            Self::Peer => "peer",
            Self::TwoDevices => "two_devices",
            Self::Numpy => "numpy",
            Self::Release => "release",
            Self::Used => "used",
            Self::Streams => "streams",
            Self::StopsThreads => "stops_threads",
        }
    }

    /// Whether it is among the words that a subject and its worker declare.
    #[must_use]
    pub fn is_declared(self, words: &[String]) -> bool {
        words.iter().any(|word| word == self.name())
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The thread that a step runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thread {
    /// A new one without a current context, joined before the next step.
    Fresh,
    /// The second thread of the case. It starts without a current context, and lives until the last
    /// step is done.
    Second,
}

/// How a case ends after its last step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Teardown {
    /// All names dropped, managers reset and destroyed, the context detached.
    #[default]
    Clean,
    /// The process ends normally with everything still alive.
    Exit,
    /// Nothing more.
    None,
}

/// Settings of the software driver for one case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverSettings {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// As `cuDriverGetVersion` reports it: 13000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// Whether devices reach each other's memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_access: Option<bool>,
}

impl DriverSettings {
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The kind of an error, the same for natively returned and Python errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    OutOfMemory,
    InvalidValue,
    NotSupported,
    DriverError,
    State,
    VersionMismatch,
    /// There is no such place, or the subject does not serve it.
    NoPlace,
    /// Every kind. Only an expectation has it.
    Any,
}

impl ErrorKind {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OutOfMemory => "out_of_memory",
            Self::InvalidValue => "invalid_value",
            Self::NotSupported => "not_supported",
            Self::DriverError => "driver_error",
            Self::State => "state",
            Self::VersionMismatch => "version_mismatch",
            Self::NoPlace => "no_place",
            Self::Any => "any",
        }
    }
}
