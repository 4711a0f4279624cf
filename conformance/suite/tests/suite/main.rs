//! The suite's own tests, from fixture files to reports. Observations are made by hand: no subject
//! runs here.

mod always;
mod applicability;
mod calls;
mod error_kinds;
mod expectation_file;
mod exports;
mod fixtures;
mod kills;
mod ledger_boundaries;
mod matrix;
mod order;
mod ordered;
mod plan;
mod plugin;
mod predicates;
mod profiles;
mod race;
mod record;
mod reports;
mod runfile;
mod sweep;
mod table_defects;
mod taken;
mod trace_builder;
mod verdicts;
