//! The suite's own tests, from fixture files to reports. Observations are made by hand: no subject
//! runs here.

mod always_on_checks;
mod applicability;
mod behaviour;
mod c_table_defects;
mod call_expectations;
mod causes;
mod consumer_imports;
mod error_kinds;
mod expectation_file;
mod exported_arrays;
mod fixtures;
mod freed_bytes;
mod kill_matrix;
mod ledger_boundaries;
mod matrix;
mod measured_order;
mod observation_builder;
mod order_expectations;
mod order_rules;
mod page_locked;
mod plan;
mod plugin_calls;
mod predicates;
mod profiles;
mod race_findings;
mod reports;
mod run_file;
mod sweep;
mod trace_builder;
mod variant_matrix;
mod verdicts;
