//! What the folder of an interface provides.

use allocert_cuda::Driver;
use allocert_suite::observation::{Outcome, TableCalls};

use crate::protocol::{Step, SubjectInfo};
use crate::recorder::Recorder;

/// A loaded subject.
pub(crate) trait Subject: Send + Sync {
    fn info(&self) -> SubjectInfo;

    /// Names of the fixture format's `needs`.
    fn capabilities(&self) -> Vec<&'static str>;

    /// Begins a case.
    fn begin<'a>(&'a self, recorder: &'a Recorder, driver: Option<Driver>)
    -> Box<dyn CaseRun + 'a>;
}

/// One case in progress.
pub(crate) trait CaseRun: Send {
    /// An operation of a side that the subject does not implement is unsupported.
    fn perform(&mut self, step: &Step) -> Outcome;

    /// What the calls of a C table did since it was last asked; nothing where no member was called.
    fn table_calls(&self) -> Option<TableCalls>;
}
