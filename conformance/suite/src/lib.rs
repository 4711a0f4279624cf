//! The conformance suite: the cases, the record of a run, and the judgement on it.
//!
//! This crate never calls a subject. A run passes through these modules:
//!
//! 1. [`fixture`]: fixture files -> [`plan::PlannedCase`]s. The format is [`fixture_format`] and
//!    [`interface`]; [`predicate`] is what facts must satisfy
//! 2. [`applicability`]: capabilities x needs x driver -> run, or a typed reason why not
//! 3. a worker performs [`plan::PlannedCase::wire`]; a harness collects its
//!    [`observation::Observation`]
//! 4. [`judge`]: case x observation -> [`verdict::Judgement`], a pure function
//! 5. [`expectation_file`]: what a subject is known to violate
//! 6. [`sweep`]: the same cases again, with one driver call after the other made to fail
//! 7. [`run_format`]: the run file, from which a run can be judged and reported again
//! 8. [`causes`]: which findings come from one thing; [`report`]: one file a format; [`exit`]: the
//!    exit code
//! 9. [`behaviour`]: what a subject did, without what differs from run to run
//! 10. [`certificate`]: what a run of all cases says about a subject
//! 11. [`repeats`]: several runs of the same cases
//! 12. [`matrix`]: two libraries at a time, each with the arrays of the other

#![forbid(unsafe_code)]

pub mod applicability;
mod axes;
pub mod behaviour;
mod bindings;
mod call_name;
pub mod causes;
pub mod certificate;
mod effect;
pub mod exit;
pub mod expectation;
pub mod expectation_conditions;
pub mod expectation_file;
pub mod expectation_subject;
pub mod expectation_update;
mod fact_names;
pub mod fixture;
pub mod fixture_format;
pub mod interface;
mod invalid_word;
pub mod judge;
mod marker_depth;
pub mod matrix;
pub mod nouns;
pub mod observation;
pub mod offer;
pub mod plan;
pub mod predicate;
pub mod reason;
pub mod repeats;
pub mod report;
pub mod run_format;
mod setup_and_teardown;
pub mod sweep;
mod validate;
pub mod vec_map;
pub mod verdict;

pub use allocert_requirements::{
    Catalogue, Interface, Level, Refusal, RefusalCode, Requirement, Side,
};
