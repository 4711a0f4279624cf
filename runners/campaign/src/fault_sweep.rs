//! The fault sweep after a clean run: every case again for each of its driver calls, with that call
//! failing.

use allocert_harness::{Error, Harness, Isolation, Progress};
use allocert_suite::applicability::Applicability;
use allocert_suite::interface::interface;
use allocert_suite::nouns::Need;
use allocert_suite::offer::Flavor;
use allocert_suite::plan::PlannedCase;
use allocert_suite::run_format::Judged;
use allocert_suite::sweep::{self, Injection, Width};
use allocert_suite::{Catalogue, RefusalCode, Side};

use crate::failure::Failure;
use crate::judging::judge_all;
use crate::rerun_shared::rerun_alone;
use crate::spool::{self, Needed, Spool};

/// What came of the sweep.
#[derive(Debug)]
pub(crate) struct SweepOutput {
    pub(crate) judged: Vec<Judged>,
    pub(crate) warnings: Vec<String>,
}

/// How much is swept where the user does not say. A case in Python takes as long as a hundred
/// native ones, and one in a process of its own as long as ten.
pub(crate) fn default_width(side: Side, flavor: Flavor) -> Width {
    let alone = interface(side).is_some_and(|interface| interface.facts.one_case_a_process);
    if alone { Width::Sample } else { width_of_kills(flavor) }
}

/// How much is swept of a few cases, until a mutant is killed.
pub(crate) fn width_of_kills(flavor: Flavor) -> Width {
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

/// Refuses the sides that have no fault sweep, with the reason of the side.
pub(crate) fn check(side: Side) -> Result<(), Failure> {
    let facts = interface(side).map(|interface| &interface.facts);
    let Some(reason) = facts.and_then(|facts| facts.fault_sweep.as_ref().err()) else {
        return Ok(());
    };
    let sides: Vec<&str> = Side::all().filter(|side| has_sweep(*side)).map(Side::name).collect();
    Err(Failure::refused(
        RefusalCode::OptionConflict,
        format!("--faults is for {}; {side} is {reason}", sides.join(", ")),
    ))
}

/// How many injections are made before what was observed of them leaves the memory.
const AT_ONCE: usize = 512;

fn has_sweep(side: Side) -> bool {
    interface(side).is_some_and(|interface| interface.facts.fault_sweep.is_ok())
}

/// Makes every injection that the clean run allows. The whole cases go to the spool, if there is
/// one; the results keep only what a report shows. So the memory grows with the findings, and for
/// an injection without one by its name and verdict.
pub(crate) fn run(
    catalogue: &Catalogue,
    harness: &mut Harness,
    clean: &[Judged],
    (width, isolation): (Width, Isolation),
    (needed, mut spool): (Needed, Option<&mut Spool>),
    progress: &mut dyn Progress,
) -> Result<SweepOutput, Failure> {
    let is_table = Need::Table.is_declared(&harness.loaded().capabilities);
    let injections = || sweep::sweep(catalogue, clean, width, is_table);
    let runs = injections().filter(|one| one.applicability == Applicability::Run);
    progress.expect(runs.count() as u64);
    let (mut judged, mut only_after_others) = (Vec::new(), Vec::new());
    let mut injections = injections().peekable();
    while injections.peek().is_some() {
        let some: Vec<Injection> = injections.by_ref().take(AT_ONCE).collect();
        let mut part = run_some(catalogue, harness, some, isolation, &mut Whole(progress))?;
        if isolation != Isolation::Case {
            only_after_others.extend(rerun_alone(catalogue, harness, &mut part)?);
        }
        for judged in &mut part {
            if let Some(spool) = &mut spool {
                spool.put(judged).map_err(cannot_spool)?;
            }
            spool::trim(judged, needed);
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
    Error::temporary(error).into()
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
