//! The reference sides of the CUDA Array Interface: [`Array`], which exports, and [`Importer`],
//! which consumes.
//!
//! # Promises of the exporter
//! * Waiting for the exported stream is enough to wait for all work on the data, whichever streams
//!   that is in. Where there is none, the stream is None. Versions before 3 have no stream, so that
//!   the export itself waits.
//! * Work that the array starts is ordered after earlier work on the same bytes, and after what a
//!   consumer may have put into the stream that it was given.
//! * A stream that it exports lives as long as the array or a view of it, unless it is one that the
//!   user named as the array's own without anything that keeps it.
//! * An array without elements has pointer 0 and makes no driver call.
//!
//! # Promises of the importer
//! * It takes every layout of the interface, and refuses what is not valid with everything that is
//!   wrong.
//! * Its work begins after the work in the given stream, and the given stream goes on after its
//!   work ([`Order`] says how). Without a stream, an operation returns after its work.
//! * An array without bytes makes no driver call.

#![forbid(unsafe_code)]

mod accesses;
mod array;
mod error;
mod export;
mod imported;
mod importer;
mod pieces;
mod view;

pub use allocert_cuda::{Driver, DriverError, Keep, Live, Stream};

pub use array::{Array, MemoryOrder};
pub use error::Error;
pub use export::Export;
pub use imported::Imported;
pub use importer::{Importer, Options, Order};

/// What a call of an array or an importer answers.
pub type Result<T> = std::result::Result<T, Error>;
