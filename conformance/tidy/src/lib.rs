//! Tests only: what the compiler cannot check about this workspace. See `tests/tidy`.
#![forbid(unsafe_code)]
