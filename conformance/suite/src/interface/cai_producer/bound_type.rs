//! What names of this side stand for, beside the shared types.

use crate::interface::properties::BoundType;

/// An object of the subject without data on a device.
pub(crate) const OBJECT: BoundType = BoundType::new("an object without the interface");
