//! Sequences drawn, run and judged side by side: each lane has a worker of its own and does all
//! three for one chunk after another. Drawing and judging of one lane go on while the worker of
//! another is at work.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

use allocert_explore::{Exploration, Tally};
use allocert_harness::{Error, Harness, Request};
use allocert_suite::nouns::Need;
use allocert_suite::plan::PlannedCase;
use allocert_suite::verdict::Judgement;
use allocert_suite::{Catalogue, judge};

use crate::failure::Failure;
use crate::progress::Bar;

pub(crate) struct Lanes<'a> {
    pub(crate) request: &'a Arc<Request>,
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) exploration: &'a Exploration,
    pub(crate) jobs: NonZeroUsize,
}

/// One lane a core, and where starting one costs next to nothing one more, because no lane keeps
/// its worker busy all the time.
pub(super) fn jobs(exploration: &Exploration) -> NonZeroUsize {
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    if exploration.offer.contains(&Need::Native) { cores.saturating_add(1) } else { cores }
}

/// One sequence's number, operations and judgement, or what a person should know of a chunk.
enum Report {
    Judged(u64, usize, Judgement),
    Remark(String),
}

/// The chunks that nobody has taken yet.
struct Queue {
    chunks: Vec<std::ops::Range<u64>>,
    next: AtomicUsize,
    /// Sequences behind this one are not needed any more.
    end: AtomicU64,
}

impl Lanes<'_> {
    /// Explores to the end, or to the first sequence that breaks a MUST and all before it.
    pub(crate) fn run(
        &self,
        first: &mut Harness,
        notes: &mut Vec<String>,
    ) -> Result<Tally, Failure> {
        let queue = Queue {
            chunks: self.exploration.chunks(),
            next: AtomicUsize::new(0),
            end: AtomicU64::new(u64::MAX),
        };
        let lanes = self.jobs.get().min(queue.chunks.len());
        let mut tally = Tally::default();
        let mut remark: Option<String> = None;
        thread::scope(|scope| {
            let (sender, reports) = mpsc::channel();
            let mut running = Vec::new();
            for _ in 1..lanes {
                let (sender, queue) = (sender.clone(), &queue);
                running.push(scope.spawn(move || {
                    // Without this lane the others take its share.
                    Harness::load(self.request)
                        .ok()
                        .map_or(Ok(()), |mut harness| self.lane(&mut harness, queue, &sender))
                }));
            }
            let queue = &queue;
            running.push(scope.spawn(move || self.lane(first, queue, &sender)));
            let mut bar = Bar::new(self.exploration.ops);
            for report in reports {
                match report {
                    Report::Remark(text) => {
                        remark.get_or_insert(text);
                    }
                    Report::Judged(number, operations, judgement) => {
                        tally.take(number, operations, &judgement);
                        bar.add(operations as u64);
                        queue.end.store(tally.end().unwrap_or(u64::MAX), Ordering::Relaxed);
                    }
                }
            }
            let joined = running
                .into_iter()
                .map(|lane| lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            joined.collect::<Result<Vec<()>, Error>>()
        })?;
        notes.extend(remark);
        Ok(tally)
    }

    fn lane(
        &self,
        harness: &mut Harness,
        queue: &Queue,
        reports: &Sender<Report>,
    ) -> Result<(), Error> {
        while let Some(chunk) = queue.take() {
            let start = chunk.start;
            let (lengths, cases): (Vec<usize>, Vec<PlannedCase>) = chunk
                .map(|number| {
                    let sequence = self.exploration.sequence(number);
                    (sequence.len(), sequence.into_planned(&name(number), "a drawn sequence"))
                })
                .unzip();
            let all: Vec<&PlannedCase> = cases.iter().collect();
            let sighting = harness.run(&all, &mut ())?;
            let judged = cases.iter().zip(&sighting.observations).zip(start..).zip(lengths);
            for (((case, seen), number), operations) in judged {
                let judgement = judge::judge(self.catalogue, case, seen);
                let _ = reports.send(Report::Judged(number, operations, judgement));
            }
            for remark in sighting.remarks {
                let _ = reports.send(Report::Remark(remark.to_string()));
            }
        }
        Ok(())
    }
}

/// What a drawn sequence is called.
pub(super) fn name(number: u64) -> String {
    format!("emm/explored/{number}")
}

impl Queue {
    fn take(&self) -> Option<std::ops::Range<u64>> {
        let chunk = self.chunks.get(self.next.fetch_add(1, Ordering::Relaxed))?;
        (chunk.start <= self.end.load(Ordering::Relaxed)).then(|| chunk.clone())
    }
}
