//! One worker over its life: loading the subject, running batches, dying and being started again.

use std::sync::Arc;
use std::time::Instant;

use allocert_suite::observation::{Ending, Observation};
use allocert_suite::plan::PlannedCase;

use crate::batch::{Batch, Finished};
use crate::channel::Received;
use crate::error::Error;
use crate::message::{FromWorker, Loaded, PROTOCOL, ToWorker};
use crate::own_time::OwnTime;
use crate::run_output::RunOutput;
use crate::run_request::Request;
use crate::subject::Subject;
use crate::timeouts::Timeouts;
use crate::warning::Warning;
use crate::worker::Worker;

/// How often a worker that died is started again.
const RESTARTS: u32 = 3;
/// How many of the cases before a broken one are tried one by one.
const PREDECESSORS: usize = 8;

#[derive(Debug)]
pub(crate) struct Session {
    request: Arc<Request>,
    subject: Subject,
    worker: Option<Worker>,
    /// Why there is no worker.
    why_none: String,
    restarts_left: u32,
    batches: u64,
    timeouts: Arc<Timeouts>,
}

impl Session {
    /// Starts a worker and has it load the subject.
    pub(crate) fn open(
        request: &Arc<Request>,
        subject: &Subject,
        timeouts: &Arc<Timeouts>,
    ) -> Result<(Self, Loaded), Error> {
        let (worker, loaded) = load(request, subject)?;
        let session = Self {
            request: Arc::clone(request),
            subject: subject.clone(),
            worker: Some(worker),
            why_none: String::new(),
            restarts_left: RESTARTS,
            batches: 0,
            timeouts: Arc::clone(timeouts),
        };
        Ok((session, loaded))
    }

    /// Has the worker load another subject: it has imported already what both need.
    pub(crate) fn load_other(&mut self, subject: &Subject) -> Result<Loaded, Error> {
        self.subject.clone_from(subject);
        self.restarts_left = RESTARTS;
        self.replace_worker_without_trace();
        if let Some(worker) = &mut self.worker {
            let loaded = load_subject(worker, &self.request, subject);
            if loaded.is_err() {
                self.worker = None;
            }
            return loaded;
        }
        let (worker, loaded) = load(&self.request, subject)?;
        self.worker = Some(worker);
        Ok(loaded)
    }

    /// Runs `cases` in one process each time as far as it gets. Every case has an observation
    /// afterwards.
    pub(crate) fn run(&mut self, cases: &[&PlannedCase]) -> Result<RunOutput, Error> {
        let mut output = RunOutput::default();
        let mut rest = cases;
        while let Some(first) = rest.first() {
            let stopped = self.timeouts.stopped(&first.id);
            if let Some(unrun) = stopped.or_else(|| self.request.out_of_time(&first.id)) {
                output.observations.push(unrun);
                rest = &rest[1..];
                continue;
            }
            let finished = self.batch(rest)?;
            let begun = finished.observations.len();
            if begun == 0 {
                let message = format!("the case never began: {}", finished.how.trim_end());
                output.observations.push(Observation::silent(&first.id, Ending::Lost { message }));
                rest = &rest[1..];
                continue;
            }
            finished.observations.iter().for_each(|observation| self.timeouts.note(observation));
            output.observations.extend(finished.observations);
            if begun > 1 && !self.timeouts.several() && broke(output.observations.last()) {
                output.warnings.extend(self.find_needed_predecessors(&rest[..begun])?);
            }
            rest = &rest[begun..];
        }
        Ok(output)
    }

    /// The last of `cases` broke. Finds out whether it breaks alone, and if not, the fewest cases
    /// that have to run before it.
    fn find_needed_predecessors(
        &mut self,
        cases: &[&PlannedCase],
    ) -> Result<Option<Warning>, Error> {
        let Some((broken, before)) = cases.split_last() else { return Ok(None) };
        if self.breaks(&[broken])? {
            return Ok(None);
        }
        for predecessor in before.iter().rev().take(PREDECESSORS) {
            if self.breaks(&[predecessor, broken])? {
                return Ok(Some(Warning::order(broken, &[predecessor])));
            }
        }
        Ok(Some(Warning::order(broken, before)))
    }

    fn breaks(&mut self, cases: &[&PlannedCase]) -> Result<bool, Error> {
        let finished = self.batch(cases)?;
        Ok(finished.observations.len() == cases.len() && broke(finished.observations.last()))
    }

    fn batch(&mut self, cases: &[&PlannedCase]) -> Result<Finished, Error> {
        self.replace_worker_without_trace();
        self.restart()?;
        let Some(worker) = &mut self.worker else {
            return Ok(Finished {
                observations: Vec::new(),
                lost: None,
                how: self.why_none.clone(),
            });
        };
        self.batches += 1;
        let batch = Batch { number: self.batches, cases, request: &self.request };
        let finished = batch.run(worker)?;
        if let Some(how) = &finished.lost {
            self.why_none.clone_from(how);
            self.worker = None;
        }
        Ok(finished)
    }

    /// A worker whose trace a subject destroyed can show nothing of further cases.
    fn replace_worker_without_trace(&mut self) {
        if let Some(worker) = self.worker.take_if(|worker| !worker.ring.is_intact()) {
            "an earlier case destroyed the trace of this worker".clone_into(&mut self.why_none);
            worker.quit();
        }
    }

    /// Starts the worker again after it died, a few times.
    fn restart(&mut self) -> Result<(), Error> {
        if self.worker.is_some() || self.restarts_left == 0 {
            return Ok(());
        }
        self.restarts_left -= 1;
        match load(&self.request, &self.subject) {
            Ok((worker, _)) => self.worker = Some(worker),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => self.why_none = error.to_string(),
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Somebody who interrupts does not wait for a farewell; the worker is killed with its
        // process.
        if let Some(worker) = self.worker.take().filter(|_| !self.request.interrupt.is_raised()) {
            worker.quit();
        }
    }
}

fn broke(last: Option<&Observation>) -> bool {
    last.is_some_and(|observation| observation.ending != Ending::Done)
}

fn load(request: &Request, subject: &Subject) -> Result<(Worker, Loaded), Error> {
    let mut worker = Worker::start(request)?;
    load_subject(&mut worker, request, subject).map(|loaded| (worker, loaded))
}

/// Has a worker load a subject.
fn load_subject(
    worker: &mut Worker,
    request: &Request,
    subject: &Subject,
) -> Result<Loaded, Error> {
    let (subject, timeout) = (subject.to_string(), request.limit(request.launch.load_timeout));
    let told =
        worker.channel.send(&ToWorker::Load { interface: &request.interface, subject: &subject });
    let answer = match told {
        Ok(()) => {
            let (mut limit, pid) = (OwnTime::begin(timeout, Instant::now()), worker.pid());
            worker.receive(&mut limit, None, pid, &request.interrupt)
        }
        Err(_) => Received::Closed,
    };
    let how = match answer {
        Received::Message(message) => match *message {
            FromWorker::Loaded(loaded) => return check(loaded),
            FromWorker::Refused(refused) => {
                let (stage, message, detail) = (refused.stage, refused.message, refused.detail);
                return Err(Error::Refused { subject, stage, message, detail });
            }
            other => worker.exit_report(&format!("answered {other:?}")),
        },
        Received::Garbage(what) => {
            worker.exit_report(&format!("wrote a line that is not of the protocol: {what}"))
        }
        Received::Late | Received::CallLate => {
            worker.exit_report(&format!("said nothing for {} s", timeout.as_secs_f64()))
        }
        Received::Closed => worker.exit_report(""),
        Received::Interrupted => return Err(Error::Interrupted),
    };
    Err(Error::Unloadable { subject, how })
}

fn check(loaded: Loaded) -> Result<Loaded, Error> {
    match loaded.protocol {
        Some(spoken) if spoken != PROTOCOL => Err(Error::Version { spoken, expected: PROTOCOL }),
        _ => Ok(loaded),
    }
}
