//! Safe calls to whichever `libcuda` the process loads, through cudarc.
//!
//! Everything hangs off [`Driver`], which exists only once the library was found: a machine without a
//! driver gets an error, not a panic. One method is one driver call of the same name; nothing is
//! cached or retried here, so that a recorded trace reads like the caller's code.

#![expect(unsafe_code, reason = "this crate is the border between safe Rust and the CUDA driver")]

mod context;
mod device;
mod driver;
mod error;
mod host;
mod ipc;
mod memory;

pub use context::Context;
pub use driver::Driver;
pub use error::DriverError;
pub use host::HostAllocFlags;
pub use ipc::IPC_HANDLE_BYTES;
pub use memory::MemoryInfo;
