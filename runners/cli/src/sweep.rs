//! `allocert run ... --faults`: the fault sweep after the clean run.

use std::collections::HashMap;

use allocert_harness::{Harness, Isolation, Observer};
use allocert_suite::applicability::Applicability;
use allocert_suite::offer::Flavor;
use allocert_suite::plan::PlannedCase;
use allocert_suite::run::Judged;
use allocert_suite::sweep::{self, Injection, Width};
use allocert_suite::verdict::Verdict;
use allocert_suite::{Side, judge};

use crate::failure::Failure;
use crate::run::judge_all;
use crate::suite::Suite;

/// What came of the sweep.
#[derive(Debug)]
pub(crate) struct Swept {
    pub(crate) judged: Vec<Judged>,
    pub(crate) notes: Vec<String>,
}

/// A Python case takes as long as a hundred native ones.
pub(crate) fn width(flavor: Flavor) -> Width {
    match flavor {
        Flavor::Native => Width::Edges,
        Flavor::Python => Width::Sample,
    }
}

/// A Python process does not become new when its driver does.
pub(crate) fn isolation(flavor: Flavor) -> Isolation {
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
        _ => Err(Failure::usage(format!(
            "--faults is for emm: it lets the driver calls of a memory manager fail, and the subject of {side} is none"
        ))),
    }
}

/// Makes every injection that the clean run allows.
pub(crate) fn run(
    suite: &Suite,
    harness: &mut Harness,
    clean: &[Judged],
    width: Width,
    isolation: Isolation,
    observer: &mut dyn Observer,
) -> Result<Swept, Failure> {
    let (cases, decisions): (Vec<PlannedCase>, Vec<Applicability>) =
        sweep::sweep(&suite.catalogue, clean, width)
            .into_iter()
            .map(|Injection { case, applicability }| (case, applicability))
            .unzip();
    let all: Vec<&PlannedCase> = cases.iter().collect();
    let runs = |decision: &Applicability| *decision == Applicability::Run;
    let runnable =
        all.iter().zip(&decisions).filter(|(_, decision)| runs(decision)).map(|(case, _)| *case);
    let runnable: Vec<&PlannedCase> = runnable.collect();
    let sighting = harness.run_isolated(&runnable, isolation, observer)?;
    // What breaks in company is run alone below; who was in the company says nothing then.
    let judged = judge_all(suite, &all, decisions, sighting);
    if isolation == Isolation::Case {
        return Ok(Swept { judged, notes: Vec::new() });
    }
    alone(suite, harness, judged, observer)
}

/// Runs what did not conform in company once more by itself: a fault may have damaged the process
/// for those that came after it.
fn alone(
    suite: &Suite,
    harness: &mut Harness,
    mut judged: Vec<Judged>,
    observer: &mut dyn Observer,
) -> Result<Swept, Failure> {
    let suspects: Vec<usize> = (0..judged.len()).filter(|index| !clear(&judged[*index])).collect();
    let cases: Vec<PlannedCase> =
        suspects.iter().map(|index| judged[*index].case.clone()).collect();
    let cases: Vec<&PlannedCase> = cases.iter().collect();
    let sighting = harness.run_isolated(&cases, Isolation::Case, observer)?;
    let mut again: HashMap<usize, _> = suspects.into_iter().zip(sighting.observations).collect();
    let mut company: Vec<String> = Vec::new();
    for (index, judged) in judged.iter_mut().enumerate() {
        let Some(observation) = again.remove(&index) else { continue };
        let violated = judged.judgement.verdict == Verdict::Violates;
        judged.judgement = judge::judge(&suite.catalogue, &judged.case, &observation);
        judged.observation = Some(observation);
        if violated && clear(judged) {
            company.push(judged.case.id.clone());
        }
    }
    let note = company.first().map(|first| {
        format!(
            "{} injections violate only when others were made before them in one process, such as {first}",
            company.len()
        )
    });
    Ok(Swept { judged, notes: note.into_iter().collect() })
}

/// Conforms, or was not run.
fn clear(judged: &Judged) -> bool {
    judged.observation.is_none() || judged.judgement.verdict == Verdict::Conforms
}
