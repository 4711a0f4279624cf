//! Tests only: what the compiler cannot check about this workspace. See `tests/tidy.rs`.
#![forbid(unsafe_code)]
