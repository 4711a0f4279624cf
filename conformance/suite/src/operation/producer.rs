//! The operations on a subject that makes arrays.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::nouns::Name;

/// The subject makes an array, and no work on it is left when it returns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// Elements of each axis; empty for an array of one element without axes.
    pub shape: Vec<u64>,
    #[serde(default = "single")]
    pub typestr: String,
    /// Of a structure, whose typestr is then void.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    #[serde(default)]
    pub layout: Layout,
    #[serde(default)]
    pub memory: Memory,
    /// The subject's stream that belongs to the array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Name>,
    #[serde(default)]
    pub read_only: bool,
    /// An array of the subject that says which elements are valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<Name>,
    /// What every byte of it holds.
    #[serde(default)]
    pub byte: u8,
    /// Instead: each element holds its index, counted in C order.
    #[serde(default)]
    pub counting: bool,
    pub r#as: Name,
}

/// One field of a structure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub name: String,
    pub typestr: String,
    /// Of a sub-array.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shape: Vec<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    #[default]
    C,
    Fortran,
}

/// What an array of the subject lies in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    #[default]
    Device,
    Managed,
    /// Of the host, with a device address.
    Mapped,
    Pinned,
}

/// The subject makes an array of another one, as NumPy would: exactly one of the fields between
/// `of` and `as`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derive {
    pub of: Name,
    /// For each axis `[start, stop, step]` with null for what is left out, an index, or null for a
    /// new axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<Vec<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transpose: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broadcast_to: Option<Vec<u64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reshape: Option<Vec<u64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byteswapped: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    pub r#as: Name,
}

impl Derive {
    /// How many ways to derive it names.
    #[must_use]
    pub fn ways(&self) -> usize {
        let Self { of: _, slice, transpose, broadcast_to, reshape, byteswapped, dtype, r#as: _ } =
            self;
        [
            slice.is_some(),
            transpose.is_some(),
            broadcast_to.is_some(),
            reshape.is_some(),
            byteswapped.is_some(),
            dtype.is_some(),
        ]
        .into_iter()
        .filter(|given| *given)
        .count()
    }
}

/// A stream, the worker's or the subject's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamKind {
    Legacy,
    PerThread,
    /// Made by the worker; it and the legacy stream wait for each other.
    Blocking,
    NonBlocking,
    /// Made by the subject.
    New,
    /// What the subject calls its default stream.
    Default,
}

/// An object of the subject that is no array on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    /// An array of the library whose data lie in pageable host memory.
    Host,
}

fn single() -> String {
    "<f4".to_owned()
}
