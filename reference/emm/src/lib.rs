//! The reference managers of the EMM interface (NBEP 7 and the later Numba EMM documentation).
//!
//! [`Manager`] is the contract. There are three managers behind it, all with the same host side:
//!
//! | | device memory | `defer_cleanup` | memory info |
//! |---|---|---|---|
//! | [`HostOnly`] over [`Direct`] | one driver allocation each, freed at release | frees wait for its end | refused |
//! | [`Deferred`] | the same, frees queue up as in Numba | nothing is freed | the driver's |
//! | [`Pool`] | cut from slabs | nothing is freed, the pool works on | the driver's plus the pool's |
//!
//! # Promises of all three
//! * Tokens are never reused. A token from before a `reset` is a silent no-op for `release`, so a
//!   late finalizer cannot free an address that was handed out again.
//! * Size 0 gives a valid allocation of no bytes with an address of its own (at least one byte is
//!   behind it), which is released like any other.
//! * Running out of memory changes nothing.
//! * No lock is held during a driver call, so neither a host callback nor a garbage collector that
//!   calls `release` can deadlock.
//! * `release`, `reset` and the `defer` pair work on any thread, with or without a current context.
//! * Memory is ordered with the legacy default stream. `Pool` hands a released address out again at
//!   once: who uses another stream waits for it before the release. The other two free through
//!   `cuMemFree`, which waits for the device.

#![forbid(unsafe_code)]

mod cuda;
mod deferred;
mod device;
mod direct;
mod driver;
mod error;
mod fit;
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
pub use pool::{Pool, Slabs};

/// What a call of a manager answers.
pub type Result<T> = std::result::Result<T, Error>;
