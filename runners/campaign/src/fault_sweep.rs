//! The fault sweep after a clean run: every case again for each of its driver calls, with that call
//! failing.

use allocert_harness::{Harness, Isolation, Progress};
use allocert_suite::applicability::Applicability;
use allocert_suite::interface::interface;
use allocert_suite::offer::Flavor;
use allocert_suite::plan::PlannedCase;
use allocert_suite::run::Judged;
use allocert_suite::sweep::{self, Injection, Width};
use allocert_suite::verdict::Verdict;
use allocert_suite::{Catalogue, RefusalCode, Side, judge};

use crate::failure::Failure;
use crate::judging::judge_all;
use crate::spool::{self, Spool};

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

/// Refuses the sides that have no fault sweep: it is not written what their subjects must do when a
/// driver call fails.
pub(crate) fn check(side: Side) -> Result<(), Failure> {
    if has_sweep(side) {
        return Ok(());
    }
    let sides: Vec<&str> = Side::all().filter(|side| has_sweep(*side)).map(Side::name).collect();
    Err(Failure::refused(
        RefusalCode::OptionConflict,
        format!(
            "--faults is for {}: it lets the driver calls of a memory manager fail, and the \
             subject of {side} is none",
            sides.join(" and ")
        ),
    ))
}

/// How many injections are made before what was observed of them leaves the memory.
const AT_ONCE: usize = 512;

fn has_sweep(side: Side) -> bool {
    interface(side).is_some_and(|interface| interface.facts.fault_sweep.is_ok())
}

/// Makes every injection that the clean run allows. What was observed goes to the spool, if there
/// is one; the results keep only what a report shows.
pub(crate) fn run(
    catalogue: &Catalogue,
    harness: &mut Harness,
    clean: &[Judged],
    (width, isolation): (Width, Isolation),
    mut spool: Option<&mut Spool>,
    progress: &mut dyn Progress,
) -> Result<SweepOutput, Failure> {
    let injections = sweep::sweep(catalogue, clean, width);
    let runs = injections.iter().filter(|one| one.applicability == Applicability::Run);
    progress.expect(runs.count() as u64);
    let (mut judged, mut only_after_others) = (Vec::new(), Vec::new());
    let mut injections = injections.into_iter().peekable();
    while injections.peek().is_some() {
        let some: Vec<Injection> = injections.by_ref().take(AT_ONCE).collect();
        let mut part = run_some(catalogue, harness, some, isolation, &mut Whole(progress))?;
        if isolation != Isolation::Case {
            only_after_others.extend(rerun_alone(catalogue, harness, &mut part)?);
        }
        for judged in &mut part {
            if let (Some(spool), Some(observation)) = (&mut spool, &judged.observation) {
                spool.put(observation).map_err(cannot_spool)?;
            }
            spool::trim(judged);
        }
        judged.append(&mut part);
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

pub(crate) fn cannot_spool(error: std::io::Error) -> Failure {
    Failure::harness(format!("cannot keep observations in a temporary file: {error}"))
}

/// The progress of all parts as one.
struct Whole<'p>(&'p mut dyn Progress);

impl Progress for Whole<'_> {
    fn expect(&mut self, _: u64) {}

    fn advance(&mut self, count: u64, name: &str) {
        self.0.advance(count, name);
    }
}

fn run_some(
    catalogue: &Catalogue,
    harness: &mut Harness,
    injections: Vec<Injection>,
    isolation: Isolation,
    progress: &mut dyn Progress,
) -> Result<Vec<Judged>, Failure> {
    let (cases, decisions): (Vec<PlannedCase>, Vec<Applicability>) = injections
        .into_iter()
        .map(|Injection { case, applicability }| (case, applicability))
        .unzip();
    let all: Vec<&PlannedCase> = cases.iter().collect();
    let runs = |decision: &Applicability| *decision == Applicability::Run;
    let runnable =
        all.iter().zip(&decisions).filter(|(_, decision)| runs(decision)).map(|(case, _)| *case);
    let runnable: Vec<&PlannedCase> = runnable.collect();
    // The warnings name cases that break after others; all of those are run alone.
    let output = harness.run_isolated(&runnable, isolation, progress)?;
    Ok(judge_all(catalogue, &all, decisions, output.observations))
}

/// Runs what did not conform once more in a process of its own: an earlier injection may have
/// damaged the process. Gives the cases that violate only after others.
fn rerun_alone(
    catalogue: &Catalogue,
    harness: &mut Harness,
    judged: &mut [Judged],
) -> Result<Vec<String>, Failure> {
    let suspects: Vec<usize> =
        (0..judged.len()).filter(|index| !is_clear(&judged[*index])).collect();
    let cases: Vec<PlannedCase> =
        suspects.iter().map(|index| judged[*index].case.clone()).collect();
    let cases: Vec<&PlannedCase> = cases.iter().collect();
    let output = harness.run_isolated(&cases, Isolation::Case, &mut ())?;
    let mut only_after_others = Vec::new();
    for (index, observation) in suspects.into_iter().zip(output.observations) {
        let judged = &mut judged[index];
        let violated = judged.judgement.verdict == Verdict::Violates;
        judged.judgement = judge::judge(catalogue, &judged.case, &observation);
        judged.observation = Some(observation);
        if violated && is_clear(judged) {
            only_after_others.push(judged.case.id.clone());
        }
    }
    Ok(only_after_others)
}

/// Conforms, or was not run.
fn is_clear(judged: &Judged) -> bool {
    judged.observation.is_none() || judged.judgement.verdict == Verdict::Conforms
}
