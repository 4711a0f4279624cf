//! NumPy's data allocation (NEP 49): which handler NumPy uses, and a handler that records.
//!
//! [`api`] calls NumPy's C functions, [`recording`] is the handler, and [`trace`] writes its calls
//! into the trace.

pub(crate) mod api;
pub(crate) mod recording;
mod trace;
