//! The recorder in processes that have no CUDA: through its Rust functions and through those for C.
#![expect(unsafe_code, reason = "calls the recorder's C functions and fork")]

mod c_api;
mod rust_api;
mod worker_process;
