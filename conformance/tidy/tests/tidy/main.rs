//! The rules of ARCHITECTURE.md that cargo does not enforce.
#![forbid(unsafe_code)]

mod circles;
mod columns;
mod edges;
mod expectation_files;
mod links;
mod mutants;
mod operation_pages;
mod order;
mod sources;
mod traceability;
mod workspace;
