//! A run: one loaded subject, workers side by side, observations in the order of the plan.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use allocert_suite::Side;
use allocert_suite::observation::Observation;
use allocert_suite::plan::{Part, PlannedCase};
use rustix::process::{Resource, getrlimit};

use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::message::Loaded;
use crate::parallel;
use crate::process_table::become_subreaper;
use crate::progress::Progress;
use crate::rerun_alone::{AloneLock, timed_out};
use crate::run_dir::RunDir;
use crate::session::Session;
use crate::subject::Subject;
use crate::warning::Warning;
use crate::worker::Launch;

/// Ample for the devices of every case; only what is used takes memory.
pub(crate) const ADDRESS_SPACE_BYTES: u64 = 128 << 30;

/// Which cases share a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Isolation {
    /// None do.
    #[default]
    Case,
    /// Those of one group, such as `emm/alloc`.
    Group,
    /// All neighbours that want the same machine.
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

/// A subject that is loaded and not used yet.
#[derive(Debug)]
pub struct Harness {
    request: Arc<Request>,
    subject: Subject,
    first: Session,
    loaded: Loaded,
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct RunOutput {
    /// One for each case, in the order of the plan.
    pub observations: Vec<Observation>,
    pub warnings: Vec<Warning>,
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

impl Harness {
    /// Starts a worker and has it load the subject.
    ///
    /// # Errors
    /// Whatever keeps the subject from being run; [`Error::at_fault`] says whose fault it is.
    pub fn load(request: &Arc<Request>) -> Result<Self, Error> {
        become_subreaper();
        if let Some(limit_bytes) =
            getrlimit(Resource::As).current.filter(|&limit| limit < ADDRESS_SPACE_BYTES)
        {
            return Err(Error::AddressSpace { limit_bytes });
        }
        let subject = request.subject.clone();
        let (first, loaded) = Session::open(request, &subject)?;
        Ok(Self { request: Arc::clone(request), subject, first, loaded })
    }

    /// Goes on with another subject of the same file, which the worker that is there loads without
    /// starting anew. What the file did to the process when it was loaded stays done, so another
    /// file wants a harness of its own.
    ///
    /// # Errors
    /// As [`Harness::load`].
    pub fn load_other(&mut self, subject: Subject) -> Result<(), Error> {
        self.loaded = self.first.load_other(&subject)?;
        self.subject = subject;
        Ok(())
    }

    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Runs all `cases`. A case that cannot be run has an observation that says why. A case that
    /// runs out of its time beside others is run again alone.
    ///
    /// # Errors
    /// [`Error::Interrupted`] alone.
    pub fn run(
        &mut self,
        cases: &[&PlannedCase],
        progress: &mut dyn Progress,
    ) -> Result<RunOutput, Error> {
        self.run_isolated(cases, self.request.isolation, progress)
    }

    /// As [`Harness::run`], with another isolation than the request's.
    ///
    /// # Errors
    /// As there.
    pub fn run_isolated(
        &mut self,
        cases: &[&PlannedCase],
        isolation: Isolation,
        progress: &mut dyn Progress,
    ) -> Result<RunOutput, Error> {
        let request = Arc::clone(&self.request);
        let mut output = {
            let _guard = request.alone.as_ref().map(AloneLock::beside_others);
            self.run_once(cases, isolation, progress)?
        };
        let beside_others = request.jobs.get() > 1 || request.alone.is_some();
        if beside_others && output.observations.iter().any(timed_out) {
            let _guard = request.alone.as_ref().map(AloneLock::alone);
            self.rerun_timed_out(cases, &mut output)?;
        }
        Ok(output)
    }

    /// Runs all `cases` once.
    pub(crate) fn run_once(
        &mut self,
        cases: &[&PlannedCase],
        isolation: Isolation,
        progress: &mut dyn Progress,
    ) -> Result<RunOutput, Error> {
        progress.expect(cases.len() as u64);
        let batches = batches(cases, isolation);
        let mut outputs: Vec<Option<RunOutput>> = batches.iter().map(|_| None).collect();
        parallel::for_each(
            &batches,
            self.request.jobs,
            &mut self.first,
            || Session::open(&self.request, &self.subject).ok().map(|(session, _)| session),
            |session, batch| session.run(&cases[batch.clone()]),
            |place, output: RunOutput| {
                for observation in &output.observations {
                    progress.advance(1, &observation.case);
                }
                outputs[place] = Some(output);
                ControlFlow::Continue(())
            },
        )?;
        let mut all = RunOutput::default();
        for output in outputs.into_iter().flatten() {
            all.observations.extend(output.observations);
            all.warnings.extend(output.warnings);
        }
        Ok(all)
    }
}

/// A case through Numba that sets nothing up is about a process in which Numba has made no context,
/// and looks for its manager at the first one only.
fn fresh(case: &PlannedCase) -> bool {
    case.operations == Side::EmmHost && case.steps.iter().all(|step| step.part != Part::Setup)
}

/// Runs of neighbouring cases that share a process.
fn batches(cases: &[&PlannedCase], isolation: Isolation) -> Vec<std::ops::Range<usize>> {
    let together = |left: &PlannedCase, right: &PlannedCase| match isolation {
        Isolation::Case => false,
        _ if fresh(left) || fresh(right) => false,
        Isolation::Group => left.group() == right.group() && left.driver == right.driver,
        // A machine cannot change under a process, so each setting of the driver has processes of
        // its own.
        Isolation::None => left.driver == right.driver,
    };
    let mut start = 0;
    let chunks = cases.chunk_by(|left, right| together(left, right));
    chunks
        .map(|chunk| {
            start += chunk.len();
            start - chunk.len()..start
        })
        .collect()
}
