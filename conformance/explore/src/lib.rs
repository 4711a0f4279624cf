//! Random sequences of operations that any host might make, what must come of each, and the
//! shortest one that shows a finding.
//!
//! [`Exploration`] draws; [`Sequence::planned`] is a case like any other, run and judged by whoever
//! runs and judges cases; a [`Tally`] counts what came of them; [`shrink`] and [`fixture`] make of
//! a sequence that breaks something a file that can be committed.

#![forbid(unsafe_code)]

mod bytes;
mod draw;
mod expect;
pub mod finding;
pub mod fixture;
mod model;
mod random;
mod rename;
pub mod report;
mod sequence;
mod shrink;
mod simpler;
mod step;
mod tally;

pub use model::Machine;
pub use sequence::{Exploration, LENGTH, Sequence};
pub use shrink::{Run, Shrunk, shrink};
pub use tally::{Broken, Tally, declined};
