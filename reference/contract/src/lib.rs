//! The nouns that both sides of the border share: device pointers, handles and the trace of driver
//! calls.
//!
//! No input or output, no knowledge of who judges and who is judged.
#![forbid(unsafe_code)]

pub mod array;
pub mod curesult;
mod handle;
pub mod trace;

pub use handle::{DevicePtr, StreamHandle};
