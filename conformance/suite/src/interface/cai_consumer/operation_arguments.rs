//! The fields of operations that have many.

use allocert_requirements::RefusalCode;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bound_type::PRODUCED;
use crate::interface::arguments::{Arguments, NameUse};
use crate::interface::shared::bound_type::{STREAM, SUBJECT_STREAM};
use crate::interface::shared::is_zero;
use crate::invalid_word::InvalidWord;
use crate::nouns::Name;

/// The worker makes an object whose interface says what is asked, true or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Produce {
    /// Elements of each axis; empty for one element without axes.
    pub shape: Vec<u64>,
    /// The element type, as in the interface.
    #[serde(default = "single")]
    pub typestr: String,
    /// Bytes from one element to the next, for each axis. Without them `layout` says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strides: Option<Vec<i64>>,
    /// Where the elements lie:
    #[serde(default)]
    pub layout: Layout,
    /// The version of the interface.
    #[serde(default = "three")]
    pub version: i64,
    /// The worker's stream that consumers must wait for. Without it, the interface gives no stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Name>,
    /// What the interface says.
    #[serde(default)]
    pub read_only: bool,
    /// Where the data lie:
    #[serde(default)]
    pub memory: Memory,
    /// An earlier object of the worker: the data lie where its data do, `offset_bytes` behind their
    /// lowest byte, and replace them. It lives as long as this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_of: Option<Name>,
    /// An earlier object of the worker: it exports this array from now on, as an object does whose
    /// array is resized in place. Its earlier data stay for as long as it lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_of: Option<Name>,
    /// An earlier object of the worker: each read of the attribute after the first gives its
    /// entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub becomes: Option<Name>,
    /// Bytes of the allocation in front of the lowest byte of the data.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset_bytes: u64,
    /// An object of the worker that says which elements are valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<Name>,
    /// The value of every byte.
    #[serde(default)]
    pub byte: u8,
    /// Instead of `byte`: each element holds its index in C order.
    #[serde(default)]
    pub counting: bool,
    /// Entries that the interface leaves out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omit: Vec<String>,
    /// Entries of the interface, in place of the true ones. A plain value stands for itself, a list
    /// for a tuple. Other values: `{type: list, items: [...]}`; `{type: pointer, plus: 0}`, the
    /// true pointer and `plus` more; `{type: int, value: "..."}`, an integer of any size;
    /// `{type: itself}`, the object; `{type: object}`, one without the interface;
    /// `{type: dict, entries: {...}}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, Value>,
    /// What reading the attribute gives:
    #[serde(default)]
    pub attribute: Attribute,
    pub r#as: Name,
}

impl Produce {
    pub(crate) fn arguments(&self) -> Arguments<'_> {
        let axes = self.shape.len();
        let differs = self.strides.as_ref().is_some_and(|strides| strides.len() != axes);
        let message = "`strides` and `shape` differ in length; write a false entry under `set`";
        let objects = [&self.mask, &self.memory_of, &self.object_of, &self.becomes];
        let objects = objects.into_iter().flatten().map(|name| NameUse::of(name, &[PRODUCED]));
        let stream = self.stream.iter().map(|name| NameUse::of(name, &[STREAM]));
        Arguments::all(objects.chain(stream)).invalid_if(
            differs.then(|| InvalidWord::new(RefusalCode::InvalidArgument, "strides", message)),
        )
    }
}

/// Where the elements of an array lie, whatever its shape is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// In C order without gaps. The interface gives no strides.
    #[default]
    C,
    /// In Fortran order without gaps.
    Fortran,
    /// In C order, with a gap of one element behind each.
    Spaced,
    /// In C order, with a gap of four elements behind each row.
    Pitched,
    /// In C order, backwards along every axis.
    Reversed,
    /// In C order, backwards along the first axis.
    ReversedRows,
    /// The same elements for each index of the first axis, whose stride is 0.
    Broadcast,
}

/// What data lie in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// Device memory.
    #[default]
    Device,
    /// Managed memory.
    Managed,
    /// Host memory with a device address.
    Mapped,
    /// Pageable host memory, which no device reaches.
    Host,
    /// Memory of the driver's pool, which `release` can free in the order of a stream.
    Pool,
    /// No memory: the pointer is 0.
    None,
}

/// How the attribute is come by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attribute {
    /// A new dictionary at each read.
    #[default]
    Plain,
    /// A dictionary of a subclass of `dict`.
    Subclass,
    /// A list of pairs.
    Pairs,
    /// A `RuntimeError`.
    Raises,
    /// An `AttributeError`.
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

impl Pend {
    pub(crate) fn arguments(&self) -> Arguments<'_> {
        Arguments::all([NameUse::of(&self.on, &[PRODUCED]), NameUse::of(&self.stream, &[STREAM])])
    }
}

/// The subject takes an object for an array of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Import {
    pub of: Name,
    /// Use the library's option to ignore the stream.
    #[serde(default)]
    pub ignore_stream: bool,
    /// If the adapter does not tell the shape of the import, the worker reads the elements in the
    /// same step: a library that has not looked at the entries yet may refuse them then.
    #[serde(default)]
    pub first_use: bool,
    pub r#as: Name,
}

/// The subject's library reads or writes an imported array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    pub on: Name,
    /// The byte to write. Without it the subject reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<u8>,
}

/// The subject's library is given the worker's objects themselves, as arguments of one operation on
/// the device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// A list of objects of the worker.
    pub on: Vec<Name>,
    /// The subject's stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Name>,
    /// Ask how the library understood the objects. An adapter that cannot tell declines.
    #[serde(default)]
    pub believed: bool,
}

impl Launch {
    pub(crate) fn arguments(&self) -> Arguments<'_> {
        let on = self.on.iter().map(|name| NameUse::of(name, &[PRODUCED]));
        let stream = self.stream.iter().map(|name| NameUse::of(name, &[SUBJECT_STREAM]));
        Arguments::all(on.chain(stream))
    }
}

fn single() -> String {
    "<f4".to_owned()
}

fn three() -> i64 {
    3
}
