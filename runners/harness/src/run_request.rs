//! What the harness is asked to run, and how.

use std::num::NonZeroUsize;
use std::time::Duration;

use allocert_suite::plan::PlannedCase;

use crate::alone_lock::AloneLock;
use crate::interrupt_flag::Interrupt;
use crate::launch::Launch;
use crate::run_dir::RunDir;
use crate::subject::Subject;

/// Which cases share a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Each case has a process of its own.
    #[default]
    Case,
    /// The cases of one group, such as `emm/alloc`, share a process.
    Group,
    /// All cases share a process that need the same machine.
    None,
}

/// More than any person takes.
pub(crate) const NO_LIMIT: Duration = Duration::from_secs(1 << 31);

/// What to run, and how.
#[derive(Debug)]
pub struct Request {
    pub run: RunDir,
    pub launch: Launch,
    /// `emm`
    pub interface: String,
    pub subject: Subject,
    pub isolation: Isolation,
    /// Workers side by side.
    pub jobs: NonZeroUsize,
    /// For every case, instead of its own.
    pub timeout_s: Option<u32>,
    /// Shared with the harnesses that run beside this one; nothing where none does.
    pub alone: Option<AloneLock>,
    pub interrupt: Interrupt,
}

impl Request {
    /// A limit of the harness itself, which a debugger does not have.
    pub(crate) fn limit(&self, limit: Duration) -> Duration {
        if self.launch.debugger.is_some() { NO_LIMIT } else { limit }
    }

    /// The limit of a case.
    pub(crate) fn case_limit(&self, case: &PlannedCase) -> Duration {
        let seconds = self.timeout_s.unwrap_or(case.timeout_s);
        self.limit(Duration::from_secs(seconds.into()))
    }
}
