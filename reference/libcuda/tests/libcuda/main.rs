//! The library as programs meet it: loaded, configured by environment, crossed by calls, shared by
//! processes.
#![expect(unsafe_code, reason = "calls the C functions under test")]

mod address_window;
mod answers;
mod child_process;
mod control;
mod fork;
mod forward;
mod host_functions;
mod instrument;
mod launches;
mod library;
mod order;
mod probe;
mod sequences;
mod settings;
mod sharing;
mod symbols;
mod trace;
