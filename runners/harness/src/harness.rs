//! A run: one loaded subject, workers side by side, observations in the order of the plan.

use std::ops::ControlFlow;
use std::sync::Arc;

use allocert_suite::Side;
use allocert_suite::interface::interface;
use allocert_suite::plan::{Part, PlannedCase};
use rustix::process::{Resource, getrlimit};

use crate::alone_lock::AloneLock;
use crate::error::Error;
use crate::message::Loaded;
use crate::parallel;
use crate::process_table::become_subreaper;
use crate::progress::Progress;
use crate::rerun_timeouts::{rerun_timed_out, run_stopped};
use crate::run_output::RunOutput;
use crate::run_request::{Isolation, Request};
use crate::session::Session;
use crate::subject::Subject;
use crate::timeouts::Timeouts;
use crate::warning::Warning;

/// Ample for the devices of every case; only what is used takes memory.
const ADDRESS_SPACE_BYTES: u64 = 128 << 30;

/// A subject that is loaded and not used yet.
#[derive(Debug)]
pub struct Harness {
    request: Arc<Request>,
    subject: Subject,
    first: Session,
    loaded: Loaded,
    timeouts: Arc<Timeouts>,
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
            let needed_bytes = ADDRESS_SPACE_BYTES;
            return Err(Error::AddressSpace { limit_bytes, needed_bytes });
        }
        let subject = request.subject.clone();
        let timeouts = Arc::default();
        let (first, loaded) = Session::open(request, &subject, &timeouts)?;
        Ok(Self { request: Arc::clone(request), subject, first, loaded, timeouts })
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
        if beside_others && output.observations.iter().any(|one| one.ending.timed_out()) {
            let _guard = request.alone.as_ref().map(AloneLock::alone);
            rerun_timed_out(cases, &mut output, |case| {
                self.run_once(&[case], Isolation::Case, &mut ())
            })?;
            if !output.warnings.iter().any(Warning::is_of_parallel_timeouts) {
                return Ok(output);
            }
            // The machine was busy, so those that were not run may well end.
            let run = |case: &PlannedCase| self.run_once(&[case], Isolation::Case, &mut ());
            run_stopped(cases, &mut output, run)?;
        }
        Ok(output)
    }

    /// Runs all `cases` once.
    fn run_once(
        &mut self,
        cases: &[&PlannedCase],
        isolation: Isolation,
        progress: &mut dyn Progress,
    ) -> Result<RunOutput, Error> {
        self.timeouts.begin();
        progress.expect(cases.len() as u64);
        let batches = batches(cases, isolation);
        let mut outputs: Vec<Option<RunOutput>> = batches.iter().map(|_| None).collect();
        parallel::for_each(
            &batches,
            self.request.jobs,
            &mut self.first,
            || {
                Session::open(&self.request, &self.subject, &self.timeouts)
                    .ok()
                    .map(|(session, _)| session)
            },
            |session, batch| session.run(&cases[batch.clone()]),
            |place, output: RunOutput| {
                for observation in &output.observations {
                    progress.advance(1, &observation.case);
                    progress.observe(observation);
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

/// Whether a case needs a process of its own. A case through Numba that sets nothing up is about a
/// process in which Numba has made no context, and looks for its manager at the first one only.
fn fresh(case: &PlannedCase) -> bool {
    let through_numba =
        case.operations == Side::EmmHost && case.steps.iter().all(|step| step.part != Part::Setup);
    through_numba || interface(case.operations).is_some_and(|side| side.facts.one_case_a_process)
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
