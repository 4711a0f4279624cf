//! The worker for shared libraries and for the built-in reference (`runners/PROTOCOL.md`).
//!
//! It performs steps and reports what happened; it knows no expectation. Whatever a subject hands
//! back is data: the kernel checks an address before it is touched, text is bounded, unknown
//! numbers are passed on.
//!
//! The files of this folder know no interface: [`server`] speaks with the harness,
//! [`forked_batch`] forks, [`reload`] starts the server anew for a subject with threads, [`child`]
//! runs the cases of one batch in the fork, [`subject`] is what an interface provides. Each
//! interface has a folder in [`interface`], which is also where it registers.

#![expect(
    unsafe_code,
    reason = "this crate calls foreign libraries, forks, and shares memory with its forks"
)]

mod c_table;
mod capture;
mod checked_memory;
mod child;
mod child_signal;
mod churn_and_stress;
mod contexts;
mod device_bytes;
mod driver_facts;
mod error;
mod exceptions;
mod forked_batch;
mod host_buffer;
mod host_bytes;
mod interface;
mod interleave;
mod ipc_peer;
mod library;
mod live_blocks;
mod named_blocks;
mod protocol;
mod recorder;
mod reload;
mod server;
mod shared_lines;
mod shared_operations;
mod step_result;
mod step_threads;
mod subject;
mod table_guard;
mod worker_state;

pub use driver_facts::driver_facts;
pub use error::WorkerError;
pub use ipc_peer::peer;
pub use server::worker;
