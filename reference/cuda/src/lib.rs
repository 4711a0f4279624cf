//! Safe calls to whichever `libcuda` the process loads, through cudarc.
//!
//! Everything hangs off [`Driver`], which exists only once the library was found: a machine without
//! a driver gets an error, not a panic. One method is one driver call of the same name; nothing is
//! cached or retried here, so that a recorded trace reads like the caller's code. [`Stream`],
//! [`Event`] and [`Span`] own what they name, so that work in order of streams is safe as well.

#![expect(unsafe_code, reason = "this crate connects safe Rust and the CUDA driver")]

mod c_char;
mod context;
mod device;
mod driver;
mod error;
mod event;
mod host;
mod ipc;
mod live;
mod memory;
mod span;
mod stream;

pub use context::Context;
pub use driver::Driver;
pub use error::DriverError;
pub use event::Event;
pub use host::HostAllocFlags;
pub use ipc::IPC_HANDLE_BYTES;
pub use live::Live;
pub use memory::MemoryInfo;
pub use span::Span;
pub use stream::{Keep, Stream};
