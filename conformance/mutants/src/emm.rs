//! EMM plugins: each is the reference plugin with one mutation, behind a C symbol of its own.
//!
//! A file holds the mutations of one function or topic, and exports their symbols at its top. The
//! first sentence of a mutation says what it does wrong. All mutations are made of [`base_manager`]
//! and [`mutation`], in whose folder are the state and the second manager that some of them need.

mod base_manager;
mod call_table;
mod constant_answer;
mod context;
mod crash_hang_output;
mod create_destroy;
mod defer_cleanup;
mod driver_fault;
mod initialize;
mod ipc_handle;
mod memalloc;
mod memhostalloc;
mod memory_info;
mod mempin;
mod mutation;
mod out_of_memory;
mod release;
mod reset;
mod threads;
mod token;
mod zero_size;
