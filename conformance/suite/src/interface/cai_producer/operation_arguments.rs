//! The fields of operations that have many.

use allocert_requirements::RefusalCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::interface::arguments::{Arguments, NameUse};
use crate::interface::shared::bound_type::{ARRAY, SUBJECT_STREAM};
use crate::invalid_word::InvalidWord;
use crate::nouns::Name;

/// The subject makes an array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// Elements of each axis; empty for one element without axes.
    pub shape: Vec<u64>,
    /// The element type, as in the interface.
    #[serde(default = "single")]
    pub typestr: String,
    /// Fields of a structure; `typestr` is then void.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// The order of the elements.
    #[serde(default)]
    pub layout: Layout,
    /// Where the data lie:
    #[serde(default)]
    pub memory: Memory,
    /// The subject's stream that belongs to the array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Name>,
    /// Whether the array must be read-only.
    #[serde(default)]
    pub read_only: bool,
    /// An array of the subject that says which elements are valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<Name>,
    /// The value of every byte.
    #[serde(default)]
    pub byte: u8,
    /// Instead of `byte`: each element holds its index in C order.
    #[serde(default)]
    pub counting: bool,
    /// The worker does not wait: the work that fills the array may be pending afterwards.
    #[serde(default)]
    pub pending: bool,
    pub r#as: Name,
}

impl Array {
    pub(crate) fn arguments(&self) -> Arguments<'_> {
        let twice = self.counting && self.byte != 0;
        let message = "`counting` and `byte` both say what the elements hold";
        let mask = self.mask.iter().map(|name| NameUse::of(name, &[ARRAY]));
        let stream = self.stream.iter().map(|name| NameUse::of(name, &[SUBJECT_STREAM]));
        Arguments::all(mask.chain(stream)).invalid_if(
            twice.then(|| InvalidWord::new(RefusalCode::InvalidArgument, "counting", message)),
        )
    }
}

/// One field of a structure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub name: String,
    /// The type of the field.
    pub typestr: String,
    /// The shape of a sub-array.
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
    /// Device memory.
    #[default]
    Device,
    /// Managed memory.
    Managed,
    /// Host memory with a device address.
    Mapped,
    /// Page-locked host memory.
    Pinned,
}

/// The subject makes an array of another one, as NumPy would: exactly one of the fields between
/// `of` and `as`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derive {
    pub of: Name,
    /// For each axis `[start, stop, step]` with null for a part that is left out, an index, or null
    /// for a new axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<Vec<Value>>,
    /// Reverse the axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transpose: Option<bool>,
    /// The new shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broadcast_to: Option<Vec<u64>>,
    /// The new shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reshape: Option<Vec<u64>>,
    /// Read the same bytes in the other byte order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byteswapped: Option<bool>,
    /// Read the same bytes as this type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    pub r#as: Name,
}

impl Derive {
    pub(crate) fn arguments(&self) -> Arguments<'_> {
        let ways = self.ways();
        let message =
            format!("`derive` makes an array of another one in one way, and {ways} are given");
        let invalid =
            (ways != 1).then(|| InvalidWord::new(RefusalCode::InvalidArgument, "derive", message));
        Arguments::one(&self.of, &[ARRAY]).invalid_if(invalid)
    }

    /// How many ways to derive it are given.
    fn ways(&self) -> usize {
        let Self { of: _, slice, transpose, broadcast_to, reshape, byteswapped, dtype, r#as: _ } =
            self;
        let given = [
            slice.is_some(),
            transpose.is_some(),
            broadcast_to.is_some(),
            reshape.is_some(),
            byteswapped.is_some(),
            dtype.is_some(),
        ];
        given.into_iter().filter(|given| *given).count()
    }
}

/// An object of the subject that is no array on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    /// An array whose data lie in pageable host memory.
    Host,
}

fn single() -> String {
    "<f4".to_owned()
}
