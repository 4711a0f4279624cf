//! EMM plugins: each is the manager of [`manager`] with one choice, behind a C symbol of its own.

mod answers;
mod choice;
mod device_memory;
mod host_memory;
mod later_table;
mod manager;
mod manager_records;
mod release_thread;
