//! The header against compilers and against its twin, and the border against hostile plugins.

#![expect(unsafe_code, reason = "calls a table as a C host does")]

mod border;
mod compiler;
mod header;
