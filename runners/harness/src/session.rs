//! One worker over its life: loading the subject, running batches, dying and being started again.

use std::sync::Arc;
use std::time::Instant;

use allocert_suite::observation::{Ending, Observation};
use allocert_suite::plan::PlannedCase;

use crate::batch::{Batch, Finished};
use crate::channel::Received;
use crate::error::Error;
use crate::harness::Request;
use crate::message::{FromWorker, Loaded, PROTOCOL, ToWorker};
use crate::remark::Remark;
use crate::subject::Subject;
use crate::worker::Worker;

/// A worker that dies more often will go on dying.
const RESTARTS: u32 = 3;
/// How many cases before a broken one are suspected one by one.
const SUSPECTS: usize = 8;

#[derive(Debug)]
pub(crate) struct Session {
    request: Arc<Request>,
    subject: Subject,
    worker: Option<Worker>,
    /// Why there is no worker.
    grave: String,
    restarts_left: u32,
    batches: u64,
}

/// A batch's cases in their order, and what a person should know about them.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) observations: Vec<Observation>,
    pub(crate) remarks: Vec<Remark>,
}

impl Session {
    /// Starts a worker and has it load the subject.
    pub(crate) fn open(request: &Arc<Request>, subject: &Subject) -> Result<(Self, Loaded), Error> {
        let (worker, loaded) = load(request, subject)?;
        let session = Self {
            request: Arc::clone(request),
            subject: subject.clone(),
            worker: Some(worker),
            grave: String::new(),
            restarts_left: RESTARTS,
            batches: 0,
        };
        Ok((session, loaded))
    }

    /// Has the worker load another subject: it has imported already what both need.
    pub(crate) fn exchange(&mut self, subject: &Subject) -> Result<Loaded, Error> {
        self.subject.clone_from(subject);
        self.restarts_left = RESTARTS;
        self.replace_the_traceless();
        if let Some(worker) = &mut self.worker {
            let loaded = introduce(worker, &self.request, subject);
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
    pub(crate) fn run(&mut self, cases: &[&PlannedCase]) -> Result<Seen, Error> {
        let mut seen = Seen::default();
        let mut rest = cases;
        while let Some(first) = rest.first() {
            let finished = self.batch(rest)?;
            let begun = finished.observations.len();
            if begun == 0 {
                let message = format!("the case never began: {}", finished.how.trim_end());
                seen.observations.push(Observation::silent(&first.id, Ending::Lost { message }));
                rest = &rest[1..];
                continue;
            }
            seen.observations.extend(finished.observations);
            if begun > 1 && broke(seen.observations.last()) {
                seen.remarks.extend(self.blame(&rest[..begun])?);
            }
            rest = &rest[begun..];
        }
        Ok(seen)
    }

    /// The last of `cases` broke: does it break without the others, and if not, which of them does
    /// it take?
    fn blame(&mut self, cases: &[&PlannedCase]) -> Result<Option<Remark>, Error> {
        let Some((broken, before)) = cases.split_last() else { return Ok(None) };
        if self.breaks(&[broken])? {
            return Ok(None);
        }
        for suspect in before.iter().rev().take(SUSPECTS) {
            if self.breaks(&[suspect, broken])? {
                return Ok(Some(Remark::order(broken, &[suspect])));
            }
        }
        Ok(Some(Remark::order(broken, before)))
    }

    fn breaks(&mut self, cases: &[&PlannedCase]) -> Result<bool, Error> {
        let finished = self.batch(cases)?;
        Ok(finished.observations.len() == cases.len() && broke(finished.observations.last()))
    }

    fn batch(&mut self, cases: &[&PlannedCase]) -> Result<Finished, Error> {
        self.replace_the_traceless();
        self.revive()?;
        let Some(worker) = &mut self.worker else {
            return Ok(Finished { observations: Vec::new(), lost: None, how: self.grave.clone() });
        };
        self.batches += 1;
        let batch = Batch {
            number: self.batches,
            cases,
            timeout_s: self.request.timeout_s,
            interrupt: &self.request.interrupt,
        };
        let finished = batch.run(worker)?;
        if let Some(how) = &finished.lost {
            self.grave.clone_from(how);
            self.worker = None;
        }
        Ok(finished)
    }

    /// A worker whose trace a subject destroyed can show nothing of further cases.
    fn replace_the_traceless(&mut self) {
        if let Some(worker) = self.worker.take_if(|worker| !worker.ring.is_intact()) {
            "an earlier case destroyed the trace of this worker".clone_into(&mut self.grave);
            worker.quit();
        }
    }

    /// Starts the worker again after it died, a few times.
    fn revive(&mut self) -> Result<(), Error> {
        if self.worker.is_some() || self.restarts_left == 0 {
            return Ok(());
        }
        self.restarts_left -= 1;
        match load(&self.request, &self.subject) {
            Ok((worker, _)) => self.worker = Some(worker),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => self.grave = error.to_string(),
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
    let mut worker = Worker::start(&request.launch, &request.run, &request.interrupt)?;
    introduce(&mut worker, request, subject).map(|loaded| (worker, loaded))
}

/// Has a worker load a subject.
fn introduce(worker: &mut Worker, request: &Request, subject: &Subject) -> Result<Loaded, Error> {
    let (subject, patience) = (subject.to_string(), request.launch.load_patience);
    let told =
        worker.channel.send(&ToWorker::Load { interface: &request.interface, subject: &subject });
    let answer = match told {
        Ok(()) => worker.channel.receive(Instant::now() + patience, &request.interrupt),
        Err(_) => Received::Closed,
    };
    let how = match answer {
        Received::Message(message) => match *message {
            FromWorker::Loaded(loaded) => return check(loaded),
            FromWorker::Refused(refused) => {
                let (stage, message, detail) = (refused.stage, refused.message, refused.detail);
                return Err(Error::Refused { subject, stage, message, detail });
            }
            other => worker.epitaph(&format!("answered {other:?}")),
        },
        Received::Garbage(what) => {
            worker.epitaph(&format!("wrote a line that is not of the protocol: {what}"))
        }
        Received::Late => worker.epitaph(&format!("said nothing for {} s", patience.as_secs_f64())),
        Received::Closed => worker.epitaph(""),
        Received::Interrupted => return Err(Error::Interrupted),
    };
    Err(Error::Unloadable { subject, how })
}

fn check(loaded: Loaded) -> Result<Loaded, Error> {
    match loaded.protocol {
        Some(spoken) if spoken != PROTOCOL => Err(Error::Version { spoken }),
        _ => Ok(loaded),
    }
}
