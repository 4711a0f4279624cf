//! Sequences drawn, run and judged side by side: each lane has a worker of its own and does all
//! three for one chunk after another. Drawing and judging of one lane go on while the worker of
//! another is at work.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use allocert_explore::{Exploration, Summary};
use allocert_harness::{Error, Harness, Progress, Request, Warning, parallel};
use allocert_suite::Catalogue;
use allocert_suite::nouns::Need;
use allocert_suite::plan::PlannedCase;
use allocert_suite::verdict::Judgement;

use super::judge_unlisted;
use crate::failure::Failure;

pub(super) struct Lanes<'a> {
    pub(super) request: &'a Arc<Request>,
    pub(super) catalogue: &'a Catalogue,
    pub(super) listed: &'a BTreeSet<String>,
    pub(super) exploration: &'a Exploration,
    pub(super) jobs: NonZeroUsize,
}

/// What came of one chunk.
struct ChunkOutput {
    judged: Vec<JudgedSequence>,
    warning: Option<Warning>,
}

struct JudgedSequence {
    number: u64,
    operations: usize,
    judgement: Judgement,
}

/// One lane a core, and where starting one costs next to nothing one more, because no lane keeps
/// its worker busy all the time.
pub(super) fn default_jobs(exploration: &Exploration) -> NonZeroUsize {
    let cores = parallel::cores();
    if exploration.offer.contains(&Need::Native) { cores.saturating_add(1) } else { cores }
}

impl Lanes<'_> {
    /// Explores these chunks to the end, or to the first sequence that breaks a MUST and all before
    /// it: how many of them ran. The first lane works with `first`.
    pub(super) fn run(
        &self,
        chunks: &[Range<u64>],
        first: &mut Harness,
        summary: &mut Summary,
        warnings: &mut Vec<String>,
        progress: &mut dyn Progress,
    ) -> Result<usize, Failure> {
        let mut warning: Option<Warning> = None;
        let mut ran = 0;
        parallel::for_each(
            chunks,
            self.jobs,
            first,
            || Harness::load(self.request).ok(),
            |harness, chunk| self.run_chunk(harness, chunk),
            |_, chunk: ChunkOutput| {
                ran += 1;
                for JudgedSequence { number, operations, judgement } in chunk.judged {
                    summary.add(number, operations, &judgement);
                    progress.advance(operations as u64, "");
                }
                warning = warning.take().or(chunk.warning);
                // Chunks are begun in their order, so none that is needed is left out.
                if summary.violation().is_some() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        )?;
        warnings.extend(warning.map(|warning| warning.to_string()));
        Ok(ran)
    }

    fn run_chunk(&self, harness: &mut Harness, chunk: &Range<u64>) -> Result<ChunkOutput, Error> {
        let (lengths, cases): (Vec<usize>, Vec<PlannedCase>) = chunk
            .clone()
            .map(|number| {
                let sequence = self.exploration.sequence(number);
                (
                    sequence.len(),
                    sequence.into_planned(&self.exploration.case_id(number), "a drawn sequence"),
                )
            })
            .unzip();
        let all: Vec<&PlannedCase> = cases.iter().collect();
        let output = harness.run(&all, &mut ())?;
        let judged = cases.iter().zip(&output.observations).zip(chunk.clone()).zip(lengths);
        let judged = judged.map(|(((case, observation), number), operations)| {
            let judgement = judge_unlisted(self.catalogue, self.listed, case, observation);
            JudgedSequence { number, operations, judgement }
        });
        Ok(ChunkOutput { judged: judged.collect(), warning: output.warnings.into_iter().next() })
    }
}
