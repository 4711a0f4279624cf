//! What names of this side stand for, beside the shared types.

use crate::interface::properties::BoundType;

/// A stream, an event or a module of the host.
pub(crate) const HOST_OBJECT: BoundType = BoundType::new("an object of the host");
