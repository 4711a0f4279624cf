//! The fault sweep after a clean run: every case again for each of its driver calls, with that call
//! failing.

use std::collections::HashMap;

use allocert_harness::{Harness, Isolation, Progress};
use allocert_suite::applicability::Applicability;
use allocert_suite::offer::Flavor;
use allocert_suite::plan::PlannedCase;
use allocert_suite::run::Judged;
use allocert_suite::sweep::{self, Injection, Width};
use allocert_suite::verdict::Verdict;
use allocert_suite::{Catalogue, RefusalCode, Side, judge};

use crate::failure::Failure;
use crate::judging::judge_all;

/// What came of the sweep.
#[derive(Debug)]
pub(crate) struct SweepOutput {
    pub(crate) judged: Vec<Judged>,
    pub(crate) warnings: Vec<String>,
}

/// How much is swept where the user does not say: a Python case takes as long as a hundred native
/// ones.
pub(crate) fn default_width(flavor: Flavor) -> Width {
    match flavor {
        Flavor::Native => Width::Edges,
        Flavor::Python => Width::Sample,
    }
}

/// A Python process keeps what it has when the driver starts over.
pub(crate) fn default_isolation(flavor: Flavor) -> Isolation {
    match flavor {
        Flavor::Native => Isolation::Group,
        Flavor::Python => Isolation::Case,
    }
}

/// Refuses the sides whose subject is no manager: of no other is it written what it must do when a
/// driver call fails.
pub(crate) fn check(side: Side) -> Result<(), Failure> {
    match side {
        Side::Emm => Ok(()),
        _ => Err(Failure::refused(
            RefusalCode::OptionConflict,
            format!(
                "--faults is for emm: it lets the driver calls of a memory manager fail, and the \
             subject of {side} is none"
            ),
        )),
    }
}

/// Makes every injection that the clean run allows.
pub(crate) fn run(
    catalogue: &Catalogue,
    harness: &mut Harness,
    clean: &[Judged],
    width: Width,
    isolation: Isolation,
    progress: &mut dyn Progress,
) -> Result<SweepOutput, Failure> {
    let (cases, decisions): (Vec<PlannedCase>, Vec<Applicability>) =
        sweep::sweep(catalogue, clean, width)
            .into_iter()
            .map(|Injection { case, applicability }| (case, applicability))
            .unzip();
    let all: Vec<&PlannedCase> = cases.iter().collect();
    let runs = |decision: &Applicability| *decision == Applicability::Run;
    let runnable =
        all.iter().zip(&decisions).filter(|(_, decision)| runs(decision)).map(|(case, _)| *case);
    let runnable: Vec<&PlannedCase> = runnable.collect();
    let output = harness.run_isolated(&runnable, isolation, progress)?;
    // The warnings name cases that break after others; all of those are run alone below.
    let judged = judge_all(catalogue, &all, decisions, output.observations);
    if isolation == Isolation::Case {
        return Ok(SweepOutput { judged, warnings: Vec::new() });
    }
    rerun_alone(catalogue, harness, judged, progress)
}

/// Runs what did not conform once more in a process of its own: an earlier injection may have
/// damaged the process.
fn rerun_alone(
    catalogue: &Catalogue,
    harness: &mut Harness,
    mut judged: Vec<Judged>,
    progress: &mut dyn Progress,
) -> Result<SweepOutput, Failure> {
    let suspects: Vec<usize> =
        (0..judged.len()).filter(|index| !is_clear(&judged[*index])).collect();
    let cases: Vec<PlannedCase> =
        suspects.iter().map(|index| judged[*index].case.clone()).collect();
    let cases: Vec<&PlannedCase> = cases.iter().collect();
    let output = harness.run_isolated(&cases, Isolation::Case, progress)?;
    let mut again: HashMap<usize, _> = suspects.into_iter().zip(output.observations).collect();
    let mut only_after_others: Vec<String> = Vec::new();
    for (index, judged) in judged.iter_mut().enumerate() {
        let Some(observation) = again.remove(&index) else { continue };
        let violated = judged.judgement.verdict == Verdict::Violates;
        judged.judgement = judge::judge(catalogue, &judged.case, &observation);
        judged.observation = Some(observation);
        if violated && is_clear(judged) {
            only_after_others.push(judged.case.id.clone());
        }
    }
    let warning = only_after_others.first().map(|first| {
        format!(
            "{} injections violate only when others were made before them in one process, such as \
             {first}",
            only_after_others.len()
        )
    });
    Ok(SweepOutput { judged, warnings: warning.into_iter().collect() })
}

/// Conforms, or was not run.
fn is_clear(judged: &Judged) -> bool {
    judged.observation.is_none() || judged.judgement.verdict == Verdict::Conforms
}
