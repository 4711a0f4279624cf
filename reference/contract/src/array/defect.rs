//! What can be wrong with a description, one variant for each atomic rule.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defect {
    /// The rule that is broken.
    pub kind: DefectKind,
    /// Where: `shape[1]`, `descr[0].b`, `mask.typestr`. Empty for the object itself.
    pub path: String,
    /// One sentence for people.
    pub message: String,
}

impl Defect {
    /// Whether the defect is one of the mask, which is an array of its own.
    #[must_use]
    pub fn of_mask(&self) -> bool {
        self.path.starts_with("mask.")
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

/// The rule that is broken.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, VariantArray, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum DefectKind {
    /// The object does not have the attribute.
    NoInterface,
    /// Reading the attribute raised something else than `AttributeError`.
    InterfaceRaised,
    /// The attribute is no dict.
    NotDict,
    /// The attribute is of a class derived from dict; see [`super::DictSubclass`].
    DictSubclass,
    /// A value was too long or too deep to be carried whole: what it says cannot be checked, so
    /// nothing is said against it.
    NotCarried,
    /// There is no entry `version`.
    VersionMissing,
    /// The version is no int.
    VersionNotInt,
    /// The version is a bool.
    VersionBool,
    /// No version of the interface has this number.
    VersionUnknown,
    /// There is no entry `shape`.
    ShapeMissing,
    /// The shape is no tuple.
    ShapeNotTuple,
    /// An extent is no int.
    ExtentNotInt,
    /// An extent is a bool.
    ExtentBool,
    /// An extent is negative.
    ExtentNegative,
    /// An extent is above 2^63 - 1.
    ExtentTooLarge,
    /// All extents together make more than 2^63 - 1 bytes.
    SizeOverflow,
    /// There are more than 64 axes.
    TooManyAxes,
    /// There is no entry `typestr`.
    TypestrMissing,
    /// The typestr is no str.
    TypestrNotStr,
    /// The typestr is not byte order, kind, count and (for `m` and `M`) unit.
    TypestrGrammar,
    /// NumPy has no type of that kind and count.
    TypestrCount,
    /// What follows the count of `m` or `M` is no unit.
    TypestrUnit,
    /// The byte order is `|` where it matters.
    TypestrNoOrder,
    /// ElementKind `O`: Python objects.
    TypestrObject,
    /// The descr is no list.
    DescrNotList,
    /// A field is not a tuple of two or three.
    DescrField,
    /// A name is no string, or a title's tuple is no pair of them.
    DescrName,
    /// Two fields have one name.
    DescrNameTwice,
    /// A field's type is neither a string nor a list.
    DescrType,
    /// A field's own typestr is broken in one of the ways above.
    DescrTypestr,
    /// A sub-array's shape is no tuple of non-negative integers.
    DescrShape,
    /// A field holds Python objects.
    DescrObject,
    /// The fields of the descr have another size than the typestr says.
    DescrSize,
    /// There is no entry `data`.
    DataMissing,
    /// The data entry is no tuple.
    DataNotTuple,
    /// The data entry has not two items.
    DataLength,
    /// The pointer is no int.
    PointerNotInt,
    /// The pointer is a bool.
    PointerBool,
    /// The pointer is not in 0 to 2^64 - 1.
    PointerRange,
    /// The second item of the data entry is no bool.
    ReadOnlyNotBool,
    /// An array of no size has a pointer other than 0, from version 2 on.
    ZeroSizePointer,
    /// An array with elements has the pointer 0.
    NullPointer,
    /// An element lies below address 0 or beyond 2^64.
    OutsideAddresses,
    /// The strides are no tuple.
    StridesNotTuple,
    /// There are more or fewer strides than axes.
    StridesLength,
    /// A stride is no int.
    StrideNotInt,
    /// A stride is a bool.
    StrideBool,
    /// A stride does not fit 64 bits.
    StrideTooLarge,
    /// The strides are those that the array would have without; see
    /// [`super::ExplicitContiguous`].
    StridesExplicit,
    /// There is a mask in version 0, which has none.
    MaskInVersion0,
    /// The mask is an interface itself instead of an object that has one.
    MaskIsDict,
    /// The mask is neither None nor an object that has the interface.
    MaskNotExporter,
    /// The mask's shape cannot be broadcast to that of the data.
    MaskNotBroadcastable,
    /// There is a stream in versions 0 to 2, which have none; see [`super::EarlyStream`].
    StreamEarly,
    /// The stream is no int.
    StreamNotInt,
    /// The stream is a bool.
    StreamBool,
    /// The stream is 0, which the interface does not allow.
    StreamZero,
    /// The stream is negative.
    StreamNegative,
    /// The stream does not fit a pointer.
    StreamTooLarge,
}

impl fmt::Display for DefectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The serialized name, spelled by the same derive.
        self.serialize(f)
    }
}
