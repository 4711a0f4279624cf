//! NumPy's data allocation (NEP 49): which handler NumPy uses, and handlers.
//!
//! [`api`] calls NumPy's C functions, [`handlers`] gives the reference handlers, [`recording`] is a
//! handler that records, and [`trace`] writes its calls into the trace. [`gil`] watches what a
//! handler does without the GIL.

pub(crate) mod api;
pub(crate) mod gil;
pub(crate) mod handlers;
pub(crate) mod recording;
mod trace;
