//! The rules of ARCHITECTURE.md that cargo does not enforce.
#![forbid(unsafe_code)]

mod book;
mod crate_dependencies;
mod embedded;
mod expectation_files;
mod file_circles;
mod format_versions;
mod generated;
mod line_length;
mod links;
mod mutants;
mod operation_pages;
mod order_judge_against_driver;
mod refusals;
mod requirement_pages;
mod requirement_sets;
mod results;
mod sources;
mod test_switches;
mod topic_tables;
mod topics;
mod traceability;
mod variants;
mod workspace;
