//! What the program and the cargo front end do with a suite: run it on a subject and judge what was
//! seen, sweep faults through it, explore, fill the matrix of libraries, run the mutants
//! and the variants.
//!
//! A front end translates what its user asks for into the options of one of these modules, gives
//! the [`Workers`] to run with, and shows the result. Nothing here prints.
#![forbid(unsafe_code)]

pub mod behaviour_files;
mod built_subjects;
pub mod case_filter;
pub mod certification;
mod clock;
pub mod debug;
pub mod exchange_matrix;
pub mod exploration;
mod failure;
pub mod fault_sweep;
pub mod find_side;
mod fixture_files;
mod judging;
pub mod kill_run;
mod left_out;
pub mod merge;
mod output_file;
mod partial_run;
pub mod profiles;
pub mod recorded_run;
mod rerun_shared;
pub mod run;
mod run_file;
mod spool;
mod subject_file;
mod suite;
mod text_file;
pub mod variant_run;
mod verdict_reports;
mod workers;
mod zstandard;

pub use built_subjects::SubjectOptions;
pub use failure::{Failure, tell};
pub use suite::Suite;
pub use verdict_reports::{VerdictOptions, Verdicts, read_expectations};
pub use workers::Workers;
