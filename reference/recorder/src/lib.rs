//! Writes the trace: calls of every boundary and the markers of a worker, into a ring in shared
//! memory that outlives the process.
//!
//! The environment variable `ALLOCERT_TRACE` names the ring's file, which the harness makes
//! (`allocert_contract::trace::ring`). Writing takes no system call and no lock. Without the
//! variable everything here does nothing.
//!
//! Three ways in:
//!
//! - [`marker`] and [`begin_call`] are for a worker in Rust.
//! - The C functions of [`c_api`] are for any other worker. `libcuda.so.1` of this project exports
//!   them beside the CUDA API; none of them calls a driver.
//! - [`Ring`] is for the CUDA driver, which knows the thread and its context already.
#![expect(unsafe_code, reason = "maps the ring, asks libc for numbers, exports C functions")]
#![warn(missing_docs)]

pub mod c_api;
mod call;
mod context;
mod ids;
mod ring;

pub use call::{OpenCall, begin_call, marker};
pub use context::set_context_source;
pub use ids::thread_id;
pub use ring::{Entry, Origin, Range, Ring, ring};
