//! Tests of the header, with compilers and against its Rust types, and of the call table, with
//! plugins that fail.

#![expect(unsafe_code, reason = "calls a table as a C host does")]

mod compiler;
mod emm_table_of_failing_plugin;
mod header;
