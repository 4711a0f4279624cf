//! The C contracts that a native subject implements.
//!
//! `include/allocert_emm.h` is the text; [`emm`] holds its `repr(C)` twin for those who call a plugin,
//! and `plugin` turns a safe Rust type into the table for those who write one.

#![expect(
    unsafe_code,
    reason = "this crate is the border between the C contract and Rust"
)]

pub mod emm;

/// Text of `allocert_emm.h`, for who hands it to a C compiler.
pub const EMM_HEADER: &str = include_str!("../include/allocert_emm.h");
