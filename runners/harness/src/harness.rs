//! A run: one loaded subject, workers side by side, observations in the order of the plan.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

use allocert_suite::Side;
use allocert_suite::observation::{Ending, Observation};
use allocert_suite::plan::{Part, PlannedCase};
use rustix::process::{Resource, getrlimit};

use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::message::Loaded;
use crate::observer::Observer;
use crate::process::adopt_orphans;
use crate::remark::Remark;
use crate::rundir::RunDir;
use crate::session::{Seen, Session};
use crate::subject::Subject;
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

/// What was seen.
#[derive(Debug)]
pub struct Sighting {
    /// One for each case, in the order of the plan.
    pub observations: Vec<Observation>,
    pub remarks: Vec<Remark>,
}

/// One batch's result on its way to the thread that collects them: the index of its first case, and
/// what was seen.
type Report = (usize, Result<Seen, Error>);

impl Harness {
    /// Starts a worker and has it load the subject.
    ///
    /// # Errors
    /// Whatever keeps the subject from being run; [`Error::fault`] says whose fault it is.
    pub fn load(request: &Arc<Request>) -> Result<Self, Error> {
        adopt_orphans();
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
    pub fn exchange(&mut self, subject: Subject) -> Result<(), Error> {
        self.loaded = self.first.exchange(&subject)?;
        self.subject = subject;
        Ok(())
    }

    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Runs all `cases`; what cannot be run has an observation that says why. Cases that run out of
    /// their time beside others are run again by themselves.
    ///
    /// # Errors
    /// [`Error::Interrupted`] alone.
    pub fn run(
        &mut self,
        cases: &[&PlannedCase],
        observer: &mut dyn Observer,
    ) -> Result<Sighting, Error> {
        let mut sighting = self.run_isolated(cases, self.request.isolation, observer)?;
        if self.request.jobs.get() > 1 {
            self.allow_overtime(cases, &mut sighting)?;
        }
        Ok(sighting)
    }

    /// Runs all `cases` once, with another isolation than the request's.
    ///
    /// # Errors
    /// As there.
    pub fn run_isolated(
        &mut self,
        cases: &[&PlannedCase],
        isolation: Isolation,
        observer: &mut dyn Observer,
    ) -> Result<Sighting, Error> {
        observer.began(cases.len());
        let batches = batches(cases, isolation);
        let queue = Queue { cases, batches: &batches, next: AtomicUsize::new(0) };
        let workers = self.request.jobs.get().min(batches.len());
        let (request, subject, first) = (&self.request, &self.subject, &mut self.first);
        thread::scope(|scope| {
            let (sender, reports) = mpsc::channel::<Report>();
            for _ in 1..workers {
                let (sender, queue) = (sender.clone(), &queue);
                // Without this worker the others take its share, so its failure to start changes
                // nothing but the time.
                scope.spawn(move || {
                    if let Ok((mut session, _)) = Session::open(request, subject) {
                        queue.work_off(&mut session, &sender);
                    }
                });
            }
            let queue = &queue;
            scope.spawn(move || queue.work_off(first, &sender));
            collect(cases, reports.into_iter(), observer)
        })
    }
}

/// The batches that nobody has taken yet.
#[derive(Debug)]
struct Queue<'a> {
    cases: &'a [&'a PlannedCase],
    batches: &'a [std::ops::Range<usize>],
    next: AtomicUsize,
}

impl Queue<'_> {
    fn work_off(&self, session: &mut Session, reports: &Sender<Report>) {
        while let Some(batch) = self.batches.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let seen = session.run(&self.cases[batch.clone()]);
            let stop = seen.is_err();
            if reports.send((batch.start, seen)).is_err() || stop {
                return;
            }
        }
    }
}

fn collect(
    cases: &[&PlannedCase],
    reports: impl Iterator<Item = Report>,
    observer: &mut dyn Observer,
) -> Result<Sighting, Error> {
    let mut observations: Vec<Option<Observation>> = cases.iter().map(|_| None).collect();
    let mut remarks = Vec::new();
    let mut interrupted = None;
    for (start, seen) in reports {
        match seen {
            Err(error) => interrupted = Some(error),
            Ok(seen) => {
                seen.observations.iter().for_each(|observation| observer.observed(observation));
                for (place, observation) in observations[start..].iter_mut().zip(seen.observations)
                {
                    *place = Some(observation);
                }
                remarks.extend(seen.remarks.into_iter().map(|remark| (start, remark)));
            }
        }
    }
    if let Some(error) = interrupted {
        return Err(error);
    }
    remarks.sort_by_key(|(start, _)| *start);
    let observations = observations.into_iter().zip(cases).map(|(observation, case)| {
        observation.unwrap_or_else(|| {
            Observation::silent(
                &case.id,
                Ending::Lost { message: "no worker took this case".to_owned() },
            )
        })
    });
    Ok(Sighting {
        observations: observations.collect(),
        remarks: remarks.into_iter().map(|(_, remark)| remark).collect(),
    })
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
