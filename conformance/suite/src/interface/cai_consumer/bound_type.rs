//! What names of this side stand for, beside the shared types.

use crate::interface::properties::BoundType;

/// An object of the worker that has the interface.
pub(crate) const PRODUCED: BoundType = BoundType::new("an object of the worker");
/// What the subject made of one.
pub(crate) const IMPORTED: BoundType = BoundType::new("an imported array");
