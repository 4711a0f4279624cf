//! The trace: the calls of a process across every recorded boundary, in order, in memory that
//! outlives the process.

pub mod boundary;
pub mod cuda;
mod define_functions;
pub mod event;
pub mod function;
pub mod handler;
pub mod marker;
pub mod parameter;
pub mod place;
pub mod plugin;
pub mod record;
pub mod ring;

pub use boundary::Boundary;
pub use event::{Call, Event, What};
pub use function::Function;
pub use marker::{Marker, MarkerKind};
pub use parameter::Parameter;
