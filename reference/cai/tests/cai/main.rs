//! The exporter and the importer against the software driver, whose work runs as late as the order
//! of streams allows: what was not waited for has not happened.
//!
//! A test plays a role in a process of its own that finds that driver: the role checks data, the
//! test the calls.

#![forbid(unsafe_code)]

mod both;
mod calls;
mod exporter;
mod importer;
mod role;
mod subject;
