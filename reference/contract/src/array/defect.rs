//! What can be wrong with a description, one variant for each atomic rule.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Defect {
    pub kind: DefectKind,
    /// Where: `shape[1]`, `descr[0].b`, `mask.typestr`. Empty for the object itself.
    pub place: String,
    /// One sentence for people.
    pub message: String,
}

impl Defect {
    /// Whether the defect is one of the mask, which is an array of its own.
    #[must_use]
    pub fn of_mask(&self) -> bool {
        self.place.starts_with("mask.")
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_str() {
            "" => f.write_str(&self.message),
            place => write!(f, "{place}: {}", self.message),
        }
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident)*) => {
        /// The rule that is broken.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum DefectKind {
            $($(#[$doc])* $kind,)*
        }

        impl DefectKind {
            /// Every kind, in the order in which a description is read.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];
        }
    };
}

kinds! {
    /// The object does not have the attribute.
    NoInterface
    /// Reading the attribute raised something else than `AttributeError`.
    InterfaceRaised
    NotDict
    /// See [`super::DictSubclass`].
    DictSubclass
    /// A value was too long or too deep to be carried whole: what it says cannot be checked, so
    /// nothing is said against it.
    NotCarried

    VersionMissing
    VersionNotInt
    VersionBool
    VersionUnknown

    ShapeMissing
    ShapeNotTuple
    ExtentNotInt
    ExtentBool
    ExtentNegative
    /// One extent above 2^63 - 1.
    ExtentTooLarge
    /// All extents together make more than 2^63 - 1 bytes.
    SizeOverflow
    /// More than 64 axes.
    TooManyAxes

    TypestrMissing
    TypestrNotStr
    /// Not byte order, kind, count and (for `m` and `M`) unit.
    TypestrGrammar
    /// NumPy has no type of that kind and count.
    TypestrCount
    TypestrUnit
    /// `|` where the order of bytes matters.
    TypestrNoOrder
    /// Kind `O`: Python objects.
    TypestrObject

    DescrNotList
    /// A field is not a tuple of two or three.
    DescrField
    /// A name is no string, or a title's tuple is no pair of them.
    DescrName
    DescrNameTwice
    /// A field's type is neither a string nor a list.
    DescrType
    /// A field's own typestr is broken in one of the ways above.
    DescrTypestr
    /// A sub-array's shape is no tuple of non-negative integers.
    DescrShape
    DescrObject
    /// Its fields take not as many bytes as the typestr says.
    DescrSize

    DataMissing
    DataNotTuple
    DataLength
    PointerNotInt
    PointerBool
    /// Not in 0 to 2^64 - 1.
    PointerRange
    ReadOnlyNotBool
    /// From version 2 on.
    ZeroSizePointer
    NullPointer
    /// An element lies below address 0 or beyond 2^64.
    OutsideAddresses

    StridesNotTuple
    StridesLength
    StrideNotInt
    StrideBool
    /// Does not fit 64 bits.
    StrideTooLarge
    /// See [`super::ExplicitContiguous`].
    StridesExplicit

    /// Version 0 has no masks.
    MaskInVersion0
    /// The mask is an interface itself instead of an object that has one.
    MaskIsDict
    /// Neither None nor an object that has the interface.
    MaskNotExporter
    MaskNotBroadcastable

    /// Versions 0 to 2 have no stream; see [`super::EarlyStream`].
    StreamEarly
    StreamNotInt
    StreamBool
    StreamZero
    StreamNegative
    /// Does not fit a pointer.
    StreamTooLarge
}

impl fmt::Display for DefectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The serialized name, spelled by the same derive.
        self.serialize(f)
    }
}
