//! Starts workers, has them run cases and collects what they observed. Judges nothing.
//!
//! ```no_run
//! # fn main() -> Result<(), allocert_harness::Error> {
//! # let (cases, subject) = (Vec::new(), allocert_harness::Subject::library("libpool.so"));
//! use allocert_harness::{Asset, Harness, Interrupt, Isolation, Launch, Request, RunDir};
//!
//! let run = RunDir::create(&Asset::Driver.find()?)?;
//! let launch = Launch::native("allocert".into());
//! let (interface, jobs) = ("emm".to_owned(), std::num::NonZeroUsize::MIN);
//! let (isolation, interrupt) = (Isolation::Case, Interrupt::default());
//! let request = Request { run, launch, interface, subject, isolation, jobs, timeout_s: None, interrupt };
//! let sighting = Harness::load(&request.into())?.run(&cases, &mut ())?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod assets;
mod batch;
mod capture;
mod channel;
mod error;
mod harness;
mod interrupt;
mod machine;
mod message;
mod observer;
mod overtime;
mod process;
mod remark;
mod ring;
mod rundir;
mod session;
mod subject;
mod worker;

pub use assets::Asset;
pub use error::{Error, Fault};
pub use harness::{Harness, Isolation, Request, Sighting};
pub use interrupt::Interrupt;
pub use machine::Machine;
pub use message::Loaded;
pub use observer::Observer;
pub use remark::Remark;
pub use rundir::RunDir;
pub use subject::{Subject, SubjectError};
pub use worker::Launch;
