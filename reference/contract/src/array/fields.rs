//! The fields of a record, which the entry `descr` of the NumPy array interface lists. [`read`]
//! makes them of an entry.
//!
//! [`read`]: super::read

use super::{Description, Typestr};

/// One field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Empty for padding, and for the only field of a type that is no record.
    pub name: String,
    /// The full name, where there is one.
    pub title: Option<String>,
    /// The type of its elements.
    pub element: Element,
    /// The extents of a sub-array; empty for one element.
    pub shape: Vec<u32>,
}

/// What one element of a field is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// A value without fields.
    Scalar(Typestr),
    /// A record of these fields.
    Record(Vec<Field>),
}

impl Element {
    /// Bytes of one element; `None` if that is more than a u64 counts.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        match self {
            Self::Scalar(typestr) => Some(typestr.size_bytes()),
            Self::Record(fields) => record_bytes(fields),
        }
    }
}

impl Field {
    /// Bytes of the field with all its elements; `None` if that is more than a u64 counts.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        self.shape.iter().try_fold(self.element.size_bytes()?, |bytes, extent| {
            bytes.checked_mul(u64::from(*extent))
        })
    }

    /// Whether it only fills a gap: `('', '|V4')`.
    #[must_use]
    pub fn is_padding(&self) -> bool {
        let void = matches!(
            &self.element,
            Element::Scalar(Typestr { kind: super::ElementKind::Void, .. })
        );
        self.name.is_empty() && self.title.is_none() && void
    }

    pub(super) fn describe(&self) -> Description {
        let name = match &self.title {
            None => Description::str(&self.name),
            Some(title) => {
                Description::tuple([Description::str(title), Description::str(&self.name)])
            }
        };
        let element = match &self.element {
            Element::Scalar(typestr) => Description::str(typestr.to_string()),
            Element::Record(fields) => describe(fields),
        };
        let shape = Description::tuple(self.shape.iter().map(|extent| Description::int(*extent)));
        match self.shape.as_slice() {
            [] => Description::tuple([name, element]),
            _ => Description::tuple([name, element, shape]),
        }
    }
}

/// Bytes of a record: its fields follow each other without gaps other than those spelled out.
pub(super) fn record_bytes(fields: &[Field]) -> Option<u64> {
    fields.iter().try_fold(0_u64, |bytes, field| bytes.checked_add(field.size_bytes()?))
}

pub(super) fn describe(fields: &[Field]) -> Description {
    Description::list(fields.iter().map(Field::describe))
}
