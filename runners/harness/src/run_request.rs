//! What the harness is asked to run, and how.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use allocert_suite::interface::interface;
use allocert_suite::observation::{Ending, Observation};
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

/// The end of the time that a run may take.
#[derive(Debug, Clone, Copy)]
pub struct RunEnd {
    at: Instant,
    limit_s: u32,
}

impl RunEnd {
    /// So many seconds from now.
    #[must_use]
    pub fn after(limit_s: u32) -> Self {
        Self { at: Instant::now() + Duration::from_secs(limit_s.into()), limit_s }
    }
}

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
    /// When no further case begins; nothing where a run may take as long as it does.
    pub end: Option<RunEnd>,
    /// Shared with the harnesses that run beside this one; nothing where none does.
    pub alone: Option<AloneLock>,
    pub interrupt: Interrupt,
}

impl Request {
    /// A limit of the harness itself, which a debugger does not have.
    pub(crate) fn limit(&self, limit: Duration) -> Duration {
        if self.launch.debugger.is_some() { NO_LIMIT } else { limit }
    }

    /// The observation of a case that does not begin, because the time of the run is over.
    pub(crate) fn out_of_time(&self, case: &str) -> Option<Observation> {
        let end = self.end.filter(|end| end.at <= Instant::now())?;
        Some(Observation::silent(case, Ending::OutOfTime { limit_s: end.limit_s }))
    }

    /// The seconds that a call of the subject may take, unless somebody gave all cases a limit.
    pub(crate) fn longest_call_s(&self, case: &PlannedCase) -> Option<u32> {
        let side = interface(case.operations)?;
        side.facts.longest_call_s.filter(|_| self.timeout_s.is_none())
    }
}
