//! What names stand for that several sides bind.

use crate::interface::properties::BoundType;

pub(crate) const MEMORY: BoundType = BoundType::new("memory");
/// Pageable memory of the worker.
pub(crate) const BUFFER: BoundType = BoundType::new("a buffer");
/// An IPC handle.
pub(crate) const HANDLE: BoundType = BoundType::new("a handle");
/// What `defer_cleanup()` returned.
pub(crate) const SCOPE: BoundType = BoundType::new("a scope");
/// An array of the subject or of Numba.
pub(crate) const ARRAY: BoundType = BoundType::new("an array");

/// The subject's adapter, through which a library is called. It lives as long as its process.
pub(crate) const ADAPTER: BoundType = BoundType::kept("the subject's adapter");
pub(crate) const STREAM: BoundType = BoundType::new("a stream of the worker");
pub(crate) const SUBJECT_STREAM: BoundType = BoundType::new("a stream of the subject");
/// What an object said through `__cuda_array_interface__`, and nothing more.
pub(crate) const EXPORT: BoundType = BoundType::new("an export");
/// Whether an object was alive.
pub(crate) const ANSWER: BoundType = BoundType::kept("an answer");
