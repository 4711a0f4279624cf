//! What a boundary call does, one file a boundary.

pub(crate) mod cuda;
