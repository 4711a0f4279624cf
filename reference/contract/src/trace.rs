//! The trace: every driver call of a process, in order, in memory that outlives the process.

pub mod event;
pub mod function;
pub mod launch;
pub mod misuse;
pub mod ring;
mod table;

pub use event::{Call, Event, Mark, What};
pub use function::Function;
pub use launch::Launch;
pub use misuse::Misuse;
