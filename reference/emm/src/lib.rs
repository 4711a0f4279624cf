//! The reference managers of the EMM interface (NBEP 7 and the later Numba EMM documentation).
//!
//! [`Manager`] is the trait that all three managers implement. They differ in device memory, and
//! treat host memory alike:
//!
//! - [`HostOnly`] over [`Direct`] makes one driver allocation for each request and frees it at
//!   release. During `defer_cleanup` frees wait for its end. It refuses to give memory information.
//! - [`Deferred`] makes one driver allocation for each request. Frees queue up as in Numba; during
//!   `defer_cleanup` nothing is freed. Memory information is the driver's.
//! - [`Pool`] divides large driver allocations, the chunks, by the pool of the reference allocator
//!   of `place`. During `defer_cleanup` no chunk is freed, and the pool works on. Free memory is
//!   the driver's and what is free in the chunks.
//!
//! # Promises of all three
//! * Tokens are never reused. A token from before a `reset` is a silent no-op for `release`, so a
//!   late finalizer cannot free an address that was handed out again.
//! * Size 0 gives a valid allocation of no bytes with an address of its own (at least one byte is
//!   behind it), which is released like any other.
//! * Running out of memory changes nothing.
//! * `release` and the `defer` pair wait for no driver call of another thread, so neither a host
//!   callback nor a garbage collector that calls them can deadlock. While a thread asks the driver
//!   for a chunk, another one that needs a chunk waits, and so does `reset` of [`Pool`].
//! * `release`, `reset` and the `defer` pair work on any thread, with or without a current context.
//! * Memory is ordered with the legacy default stream. `Pool` may give out a released address at
//!   once, so a program that uses another stream waits for that stream before it releases. The
//!   other two managers free through `cuMemFree`, which waits for the device.

#![forbid(unsafe_code)]

mod cuda;
mod deferred;
mod device;
mod direct;
mod driver;
mod error;
mod host;
mod hostonly;
mod ledger;
mod manager;
mod memory;
mod open;
mod pending;
mod pool;

pub use allocert_cuda::{Context, DriverError};

pub use cuda::Cuda;
pub use deferred::{Deferred, Queued};
pub use device::DeviceMemory;
pub use direct::Direct;
pub use driver::Driver;
pub use error::Error;
pub use hostonly::HostOnly;
pub use ledger::{Ledger, Taken};
pub use manager::Manager;
pub use memory::{HostFlags, IpcHandle, Memory, MemoryInfo, MemoryKind, Token};
pub use open::{Kind, open};
pub use pending::Pending;
pub use pool::{Chunks, Pool};

/// What a call of a manager answers.
pub type Result<T> = std::result::Result<T, Error>;
