//! The C contracts that a native subject implements.
//!
//! `include/allocert_emm.h` is the text; [`emm`] holds its `repr(C)` twin for those who call a
//! plugin, and [`plugin`] with [`export_emm_plugin!`] turns a safe Rust type into the table for
//! those who write one.
//!
//! `include/allocert_place.h` and [`place`] are the same for allocators of memory by place.
//!
//! [`nep49`] holds the structures of NumPy's allocation handlers, whose text is NumPy's own header.

#![expect(unsafe_code, reason = "this crate connects the C contract and Rust")]

mod call_table;
pub mod emm;
pub mod nep49;
pub mod place;
pub mod plugin;

pub use call_table::table;

/// Text of `allocert_emm.h`, for who hands it to a C compiler.
pub const EMM_HEADER: &str = include_str!("../include/allocert_emm.h");

/// Text of `allocert_place.h`, for who hands it to a C compiler.
pub const PLACE_HEADER: &str = include_str!("../include/allocert_place.h");
