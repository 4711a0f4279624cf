//! The pool under the reference allocator by place and under the pool manager of `emm`.
//!
//! A [`Pool`] takes memory from a [`System`] in chunks and cuts them into blocks. It keeps its
//! books on the host and touches no memory that it hands out: [`System`] says whether blocks have a
//! guard behind them, and writes and reads it.
//!
//! A caller names a block by its address, or by its [`Name`], which no other block ever has.

#![forbid(unsafe_code)]

mod address_map;
mod blocks;
mod cache;
mod classes;
mod error;
mod pool;
mod settings;
mod streams;
mod system;
mod thread;

pub use allocert_fit::Region;

pub use blocks::Name;
pub use cache::Cache;
pub use error::Error;
pub use pool::{Ended, Given, Pool, Stopped};
pub use settings::Settings;
pub use streams::StreamKey;
pub use system::System;
