//! The driver calls that give memory back.

/// Driver calls that free host memory, or end its registration.
pub(crate) const HOST_FREES: &[&str] = &["cuMemFreeHost", "cuMemHostUnregister"];

/// Calls that give memory back or wait. Inside a scope a release makes none of them.
pub(crate) const DEVICE_FREES: &[&str] = &["cuMemFree", "cuMemRelease", "cuCtxSynchronize"];
/// Calls that a release after a reset does not make.
pub(crate) const FREES_AFTER_RESET: &[&str] = &["cuMemFree", "cuMemFreeAsync", "cuMemRelease"];
