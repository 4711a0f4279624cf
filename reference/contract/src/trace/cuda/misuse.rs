//! What the software driver survives and a real one does not promise to.

use serde::{Deserialize, Serialize};
use strum::FromRepr;

/// A use of the API that is undefined on a real driver (it crashes there, or corrupts data),
/// noticed by the software driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, FromRepr, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u16)]
pub enum Misuse {
    /// A stream handle that no call returned. Args: the handle.
    UnknownStream = 1,
    /// A stream handle after `cuStreamDestroy` or after its context ended. Args: the handle.
    DestroyedStream = 2,
    /// An event handle that no call returned. Args: the handle.
    UnknownEvent = 3,
    /// An event handle after `cuEventDestroy` or after its context ended. Args: the handle.
    DestroyedEvent = 4,
    /// A context handle that no call returned. Args: the handle.
    UnknownContext = 5,
    /// A context handle after `cuCtxDestroy`. Args: the handle.
    DestroyedContext = 6,
    /// Work that was queued on a stream ran after its memory was freed. Args: address, size in
    /// bytes.
    WorkAfterFree = 7,
    /// A driver call from inside a stream callback. Args: none.
    CallInCallback = 8,
    /// A memory pool, module or function handle that is not alive. Args: the handle.
    UnknownObject = 9,
}
