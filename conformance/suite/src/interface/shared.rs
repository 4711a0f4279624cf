//! Operations that several sides have. A side embeds those that it wants in its own enum.

mod array;
pub mod bound_type;
mod context;
mod every_side;
mod memory;

use serde::Deserialize;
use serde_json::Value;

use crate::nouns::Name;

pub(crate) use array::ADAPTER_NAME;
pub use array::{Alive, Consume, Instantiate, Stream, StreamKind, SubjectStream, Synchronize};
pub use context::Attach;
pub(crate) use context::DETACH;
pub use every_side::{Drop, Environment, Fault};
pub use memory::{Fill, HostBuffer, PeerRead, Pickle, Read};

/// What `on` is in steps that are done on no manager.
pub(crate) const NO_MANAGER: Name = Name::new_static("m");

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
pub(crate) fn is_false(flag: &bool) -> bool {
    !flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

pub(crate) fn one() -> u64 {
    1
}

/// Reads a value that is there, even where it is `null`.
pub(crate) fn given<'de, D>(deserializer: D) -> Result<Option<Value>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    Value::deserialize(deserializer).map(Some)
}
