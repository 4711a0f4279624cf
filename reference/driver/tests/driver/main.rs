//! The driver's rules, asked of the whole machine.

mod contexts;
mod host;
mod image;
mod ipc;
mod machine;
mod memory;
mod occupancy;
mod pools;
mod streams;
