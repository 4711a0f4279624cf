//! A case as its fixture states it. `fixtures/README.md` is the format; these types are its strict
//! reading.

use std::collections::BTreeMap;
use std::fmt;

use allocert_requirements::Side;
use allocert_requirements::yaml::Spanned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use smol_str::SmolStr;

use crate::few::Few;
use crate::operation::Operation;
use crate::predicate::Predicate;

/// One fixture with its axes already replaced.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// `emm/alloc/exact-size`, equal to the path of the file.
    pub case: String,
    /// What the subject must do, in one sentence.
    pub about: String,
    /// The side whose operations the steps use. Written only where it is not the case's own side;
    /// see [`Case::operations`].
    #[serde(default)]
    pub operations: Option<Side>,
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Names of the axes; their values are already in the text.
    #[serde(default)]
    pub axes: BTreeMap<String, Vec<Value>>,
    #[serde(default)]
    pub driver: DriverSettings,
    #[serde(default = "yes")]
    pub setup: bool,
    #[serde(default)]
    pub teardown: Teardown,
    #[serde(default = "ten")]
    pub timeout_s: u32,
    pub steps: Vec<Spanned<Step>>,
    #[serde(default)]
    pub r#finally: Expectations,
}

impl Case {
    /// The side that the case certifies: the first folder of its path. Fixtures outside of
    /// `cases/`, which only tests have, certify an EMM plugin.
    #[must_use]
    pub fn side(&self) -> Side {
        Side::of_path(&self.case).unwrap_or(Side::Emm)
    }

    /// The side whose operations the steps use: what is written, or the case's own side.
    #[must_use]
    pub fn operations(&self) -> Side {
        self.operations.unwrap_or_else(|| self.side())
    }
}

/// One step: an operation and what must come of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub r#do: Operation,
    /// The manager that is used.
    #[serde(default = "first_manager")]
    pub on: Name,
    #[serde(default)]
    pub thread: Option<Thread>,
    /// A name for `since`.
    #[serde(default)]
    pub label: Option<String>,
    /// Requirement id to what must hold.
    #[serde(default)]
    pub expect: Expectations,
}

/// Something a case asks of the subject, its worker or the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    Python,
    Native,
    /// A subject behind the C table of `allocert_emm.h`.
    Table,
    HostMemory,
    MemoryInfo,
    Ipc,
    Peer,
    TwoDevices,
}

impl Need {
    pub const ALL: [Self; 8] = [
        Self::Python,
        Self::Native,
        Self::Table,
        Self::HostMemory,
        Self::MemoryInfo,
        Self::Ipc,
        Self::Peer,
        Self::TwoDevices,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Native => "native",
            Self::Table => "table",
            Self::HostMemory => "host_memory",
            Self::MemoryInfo => "memory_info",
            Self::Ipc => "ipc",
            Self::Peer => "peer",
            Self::TwoDevices => "two_devices",
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
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

/// The thread that a step runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thread {
    /// A new one without a current context, joined before the next step.
    Fresh,
}

/// What a fixture calls a thing of its case: a manager, an allocation, a stream.
pub type Name = SmolStr;

/// Requirement id to what must hold.
pub type Expectations = Few<SmolStr, Expectation>;

/// Fact to what must hold of it.
pub type Wanted = Few<SmolStr, Predicate>;

/// What must hold under one requirement; all given fields together, `returns` and `raises` as
/// alternatives.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// What must be the case for the rest to be asked: `name.fact` to what holds of it.
    #[serde(default, skip_serializing_if = "Few::is_empty")]
    pub given: Wanted,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Wanted>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raises: Option<Vec<Kind>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Box<Calls>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered: Option<Ordered>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered_by: Option<CoveredBy>,
}

impl Expectation {
    /// Whether it asks for anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let given = self.given.clone();
        *self == Self { given, ..Self::default() }
    }
}

/// The kind of an error, the same for natively returned and Python errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    OutOfMemory,
    InvalidValue,
    NotSupported,
    DriverError,
    State,
    VersionMismatch,
    /// Only in an expectation: whatever it is.
    Any,
}

impl Kind {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OutOfMemory => "out_of_memory",
            Self::InvalidValue => "invalid_value",
            Self::NotSupported => "not_supported",
            Self::DriverError => "driver_error",
            Self::State => "state",
            Self::VersionMismatch => "version_mismatch",
            Self::Any => "any",
        }
    }
}

/// Demands on the calls of a window: driver calls, and on the side of a host its calls into the
/// plugin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub none_of: Vec<SmolStr>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub count: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at_least: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at_most: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_order: Vec<String>,
    /// Function to the one that undoes it: as many calls of this as of the other that succeeded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub balanced: BTreeMap<String, String>,
    /// Plugin method to what holds of each of its calls, of which there is at least one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub with: BTreeMap<String, Wanted>,
    /// The label of the step at whose beginning the window opens, instead of this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// All accesses to memory of this step that conflict with one of the labelled step come after it,
/// whatever the device is free to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ordered {
    /// The label of the earlier step.
    pub after: String,
}

/// At the end of the step, all work on the memory is over for whoever synchronizes with the stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoveredBy {
    /// A name whose facts have an address and a size.
    pub memory: String,
    /// `name.fact`: a stream's handle, 1 and 2 the default streams. Where there is none, all work
    /// is over for the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
}

impl CoveredBy {
    /// The names that it refers to.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let stream = self.stream.as_deref().map(|text| text.split('.').next().unwrap_or(text));
        [self.memory.as_str()].into_iter().chain(stream)
    }
}

/// What the subject may have written to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    Empty,
}

fn yes() -> bool {
    true
}

fn ten() -> u32 {
    10
}

fn first_manager() -> Name {
    Name::new_static("m")
}
