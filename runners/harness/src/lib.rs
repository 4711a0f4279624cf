//! Starts workers, has them run cases and collects what they observed. Judges nothing.
#![forbid(unsafe_code)]

mod assets;
mod capture;
mod channel;
mod error;
mod interrupt;
mod message;
mod process;
mod ring;
mod rundir;
mod worker;

pub use assets::Asset;
pub use error::{Error, Fault};
pub use interrupt::Interrupt;
pub use rundir::RunDir;
pub use worker::Launch;
