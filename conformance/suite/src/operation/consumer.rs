//! The operations on a subject that takes the arrays of others. The worker is the producer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::nouns::Name;

/// The worker makes an object whose interface says what is asked, true or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Produce {
    /// Elements of each axis; empty for an array of one element without axes.
    pub shape: Vec<u64>,
    #[serde(default = "single")]
    pub typestr: String,
    /// Bytes from one element to the next, for each axis. Without them the data lie in C order and
    /// no strides are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strides: Option<Vec<i64>>,
    #[serde(default = "three")]
    pub version: i64,
    /// The worker's stream that consumers must wait for; without one the entry is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Name>,
    #[serde(default)]
    pub read_only: bool,
    #[serde(default)]
    pub memory: Memory,
    /// An object of the worker that says which elements are valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<Name>,
    /// What every byte of the memory holds.
    #[serde(default)]
    pub byte: u8,
    /// Instead: each element holds its index, counted in C order, and bytes between elements hold
    /// 0xEE.
    #[serde(default)]
    pub counting: bool,
    /// Entries that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omit: Vec<String>,
    /// Entries as they shall be, whatever follows from the above.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, Value>,
    #[serde(default)]
    pub attribute: Attribute,
    pub r#as: Name,
}

/// What data lie in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    #[default]
    Device,
    Managed,
    /// Of the host, with a device address.
    Mapped,
    /// Pageable memory of the host, which no device reaches.
    Host,
    /// Of the driver's pool, so that it can be freed in the order of a stream.
    Pool,
    /// Nowhere: the pointer is 0.
    None,
}

/// How the attribute is come by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attribute {
    /// A new dict at each read.
    #[default]
    Plain,
    /// Reads after the first give another array: one element of type `|u1`.
    Changing,
    /// A dict of a subclass.
    Subclass,
    /// The entries as a list of pairs.
    Pairs,
    /// Reading it raises a `RuntimeError`.
    Raises,
    /// Reading it raises an `AttributeError`.
    Missing,
}

/// The worker enqueues an asynchronous write of the whole memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pend {
    pub on: Name,
    pub stream: Name,
    pub byte: u8,
}

/// The subject takes an object for an array of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Import {
    pub of: Name,
    /// With the subject's option to ignore the stream.
    #[serde(default)]
    pub ignore_stream: bool,
    pub r#as: Name,
}

/// The subject's library reads or writes an imported array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    pub on: Name,
    /// Written to every byte; without it the data are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<u8>,
}

/// The subject's library is given the worker's objects themselves, as arguments of one operation on
/// the device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    pub on: Vec<Name>,
    /// The subject's stream that it is launched on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Name>,
    /// Whether the step needs what the library took its arguments for; an adapter that does not say
    /// it declines.
    #[serde(default)]
    pub believed: bool,
}

fn single() -> String {
    "<f4".to_owned()
}

fn three() -> i64 {
    3
}
