//! Makes random sequences of operations that the specification allows, states what each must result
//! in, and shortens a sequence that shows a finding.
//!
//! 1. [`Exploration`] draws a [`Sequence`] from a seed. A model of what a host knows admits only
//!    steps that a host may make, and says what must come of each.
//! 2. [`Sequence::planned`] is a case like any other. The caller runs and judges it; this crate
//!    runs nothing.
//! 3. A [`Summary`] counts the judgements and keeps the requirements that were broken.
//! 4. [`shrink`] leaves out what a sequence does not need to break its requirement, and
//!    [`fixture`] writes the rest as a file that can be committed.

#![forbid(unsafe_code)]

mod demand;
mod expected;
pub mod findings;
mod model;
mod random_numbers;
mod random_part;
mod renumber_names;
pub mod report;
mod seeded_sequences;
mod sequence;
mod shrink;
mod simpler_steps;
mod step;
mod summary;
pub mod write_fixture;
mod written_bytes;

pub use demand::{RequirementIds, UnmetDemand};
pub use model::Machine;
pub use seeded_sequences::{Exploration, LENGTH, Unexplorable, demand_names, sides};
pub use sequence::Sequence;
pub use shrink::{Run, Shrunk, shrink};
pub use summary::{BrokenRequirement, Summary, declined};
