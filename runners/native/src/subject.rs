//! What the folder of an interface provides.

use allocert_cuda::Driver;
use allocert_suite::Side;
use allocert_suite::observation::{Outcome, TableCalls};
use serde_json::Value;

use crate::protocol::{Step, SubjectInfo};
use crate::recorder::Recorder;

/// A loaded subject.
pub(crate) trait Subject: Send + Sync {
    fn info(&self) -> SubjectInfo;

    /// Names of the fixture format's `needs`.
    fn capabilities(&self) -> Vec<&'static str>;

    /// The side whose operations it performs.
    fn operations(&self) -> Side;

    /// Whether an operation of that side is one, with the fields that it has.
    fn check(&self, operation: &Value) -> Result<(), serde_json::Error>;

    /// Begins a case.
    fn begin<'a>(&'a self, recorder: &'a Recorder, driver: Option<Driver>)
    -> Box<dyn CaseRun + 'a>;
}

/// One case in progress.
pub(crate) trait CaseRun: Send {
    fn perform(&mut self, step: &Step) -> Outcome;

    /// What the calls of a C table did since it was last asked; nothing where no member was called.
    fn table_calls(&self) -> Option<TableCalls>;
}
