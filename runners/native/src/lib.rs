//! The worker for shared libraries and for the built-in reference (`runners/PROTOCOL.md`).
//!
//! It performs steps and reports what happened; it knows no expectation. Whatever a
//! subject hands back is data: addresses are probed by the kernel before they are touched, text is
//! bounded, unknown numbers are passed on.
//!
//! [`server`] speaks with the harness and forks; [`child`] runs the cases of one batch in a fork;
//! [`scene`] performs one case's steps, one module a noun; [`subject`] is what a subject can be
//! asked, answered by a C [`table`], whose [`border`] is watched, or by the [`builtin`] reference.

#![expect(
    unsafe_code,
    reason = "this crate calls foreign libraries, forks, and shares memory with its forks"
)]

mod batch;
mod border;
mod builtin;
mod call;
mod capture;
mod child;
mod churn;
mod context;
mod error;
mod facts;
mod host;
mod ipc;
mod load;
mod manager;
mod memory;
mod names;
mod outbox;
mod peek;
mod peer;
mod protocol;
mod recorder;
mod scene;
mod server;
mod subject;
mod table;

pub use error::WorkerError;
pub use facts::driver_facts;
pub use peer::peer;
pub use server::worker;
