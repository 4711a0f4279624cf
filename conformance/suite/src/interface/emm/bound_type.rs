//! What names of this side stand for, beside the shared types.

use crate::interface::properties::BoundType;

/// Teardown resets and destroys managers; they are not dropped.
pub(crate) const MANAGER: BoundType = BoundType::kept("a manager");
/// Pieces of device memory that are dropped together.
pub(crate) const MEMORIES: BoundType = BoundType::new("pieces of memory");
pub(crate) const INFO: BoundType = BoundType::new("memory information");
