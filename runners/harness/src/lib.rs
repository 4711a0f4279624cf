//! Starts workers, has them run cases and collects what they observed. Judges nothing.
//!
//! ```no_run
//! # fn main() -> Result<(), allocert_harness::Error> {
//! # let (cases, subject) = (Vec::new(), allocert_harness::Subject::library("libpool.so"));
//! use allocert_harness::{Artifact, Harness, Interrupt, Isolation, Launch, Request, RunDir};
//!
//! let run = RunDir::create(&Artifact::Driver.find()?)?;
//! let launch = Launch::native("allocert".into());
//! let (interface, jobs) = ("emm".to_owned(), std::num::NonZeroUsize::MIN);
//! let (isolation, interrupt) = (Isolation::Case, Interrupt::default());
//! let (timeout_s, end, alone) = (None, None, None);
//! let request =
//!     Request {
//!         run, launch, interface, subject, isolation, jobs, timeout_s, end, alone, interrupt
//!     };
//! let output = Harness::load(&request.into())?.run(&cases, &mut ())?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod alone_lock;
mod artifact;
mod batch;
mod call_limit;
mod capture;
mod channel;
mod error;
mod harness;
mod interrupt_flag;
mod launch;
mod machine;
mod message;
mod own_time;
pub mod parallel;
mod process_table;
mod progress;
mod rerun_timeouts;
mod ring;
mod run_dir;
mod run_output;
mod run_request;
mod search_path;
mod session;
mod subject;
mod timeouts;
mod warning;
mod worker;

pub use alone_lock::AloneLock;
pub use artifact::Artifact;
pub use error::{AtFault, Error, Started};
pub use harness::Harness;
pub use interrupt_flag::Interrupt;
pub use launch::{Debugger, Launch};
pub use machine::Machine;
pub use message::{Loaded, LoadedAgain};
pub use progress::Progress;
pub use run_dir::RunDir;
pub use run_output::RunOutput;
pub use run_request::{Isolation, Request, RunEnd};
pub use subject::{Subject, SubjectError};
pub use warning::Warning;
