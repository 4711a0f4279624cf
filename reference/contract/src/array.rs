//! The nouns of the CUDA Array Interface, versions 0 to 3: what an export said, and what it means
//! if it is valid.
//!
//! [`Description`] is data from outside and may be anything. [`ArrayInterface::read`] is the only
//! way from it to an [`ArrayInterface`], which is valid, or to every [`Defect`] that it has.

mod defect;
mod description;
mod fields;
mod interface;
mod interpretation;
mod json;
mod layout;
mod read;
mod typestr;
mod unit;

pub use defect::{Defect, DefectKind};
pub use description::{Content, Description, Entries, Items};
pub use fields::{Element, Field};
pub use interface::{ArrayInterface, Stream, Version};
pub use interpretation::{
    BitFields, DictSubclass, EarlyStream, ExplicitContiguous, Interpretation, LaterVersion,
    ZeroSize,
};
pub use typestr::{ByteOrder, ElementKind, Typestr, TypestrError};
pub use unit::{Multiple, Unit};
