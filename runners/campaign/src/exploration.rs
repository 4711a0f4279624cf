//! Random sequences of operations on one subject; what breaks a requirement is shrunk and written
//! as a fixture.

mod lanes;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use allocert_explore::fixture::{self, Origin};
use allocert_explore::report::{BrokenReport, FixtureOutput, Report, ShrinkOutcome};
use allocert_explore::{
    BrokenRequirement, Exploration, Shrunk, Summary, declined, findings, shrink,
};
use allocert_harness::{AloneLock, Harness, Isolation, Machine, Progress, Request, Subject};
use allocert_suite::exit::Exit;
use allocert_suite::nouns::Need;
use allocert_suite::offer::Offer;
use allocert_suite::plan::{Part, PlannedCase};
use allocert_suite::verdict::Judgement;
use allocert_suite::{Level, RefusalCode, Requirement, Side, judge};

use crate::failure::Failure;
use crate::fixture_files::FixtureFolder;
use crate::suite::Suite;
use crate::workers::Workers;
use crate::{profiles, run};

use lanes::Lanes;

/// How many requirements are shrunk to fixtures; the others that were broken are named.
const SHRUNK: usize = 4;

/// What a user wants explored.
#[derive(Debug, Clone)]
pub struct ExplorationOptions {
    /// The name of the side.
    pub interface: String,
    pub subject: String,
    /// The same seed makes the same sequences, on any machine.
    pub seed: u64,
    /// How many operations are tried.
    pub ops: u64,
    /// Where fixtures are written.
    pub out: PathBuf,
    pub jobs: Option<NonZeroUsize>,
    /// For each sequence, instead of its own.
    pub timeout_s: Option<u32>,
}

/// What came of an exploration.
#[derive(Debug)]
pub struct Explored {
    pub report: Report,
    pub exit: Exit,
    /// Why a fixture could not be written; the report holds its text.
    pub unwritten: Option<String>,
}

/// Explores, and writes fixtures of what was found.
///
/// # Errors
/// What is wrong with the options or the subject, or what kept the harness from its work.
pub fn explore(
    options: &ExplorationOptions,
    workers: &Workers,
    progress: &mut dyn Progress,
) -> Result<Explored, Failure> {
    if options.interface != Side::Emm.name() {
        let message =
            format!("there is no model of `{}` to explore with; there is emm", options.interface);
        return Err(Failure::refused(RefusalCode::UnknownInterface, message));
    }
    let subject = Subject::parse(&options.subject, Side::Emm).map_err(Failure::from)?;
    let mut suite = Suite::of(&[])?;
    let profile = profiles::of(&suite.catalogue, Side::Emm.interface(), None)?;
    suite.catalogue.choose(profile);
    let folder = FixtureFolder::open(&options.out)?;
    let request = Arc::new(request(options, workers, subject)?);
    let mut harness = Harness::load(&request)?;
    let offer = harness.loaded().offer(&Machine::simulated());
    let mut search = Search::new(options, &suite, offer)?;
    search.drop_declined(&mut harness)?;

    let began = Instant::now();
    let jobs = options.jobs.unwrap_or_else(|| lanes::default_jobs(&search.exploration));
    let lanes = Lanes {
        request: &request,
        catalogue: &suite.catalogue,
        exploration: &search.exploration,
        jobs,
    };
    let summary = lanes.run(&mut harness, &mut search.notes, progress)?;
    let elapsed = began.elapsed();
    let broken = search.report_broken(&summary, &mut harness, &folder)?;
    Ok(search.conclude(&summary, elapsed, broken))
}

fn request(
    options: &ExplorationOptions,
    workers: &Workers,
    subject: Subject,
) -> Result<Request, Failure> {
    // A Python process keeps what it has when the driver starts over.
    let isolation = if subject.is_python() { Isolation::Case } else { Isolation::None };
    let mut request = workers.request(&Machine::simulated(), &options.interface, subject)?;
    request.isolation = isolation;
    request.timeout_s = options.timeout_s;
    request.alone = Some(AloneLock::default());
    run::limit_loading(&mut request, options.timeout_s);
    Ok(request)
}

/// One exploration from its seed to its fixtures.
struct Search<'a> {
    options: &'a ExplorationOptions,
    suite: &'a Suite,
    exploration: Exploration,
    origin: Origin,
    notes: Vec<String>,
}

impl<'a> Search<'a> {
    fn new(
        options: &'a ExplorationOptions,
        suite: &'a Suite,
        mut offer: Offer,
    ) -> Result<Self, Failure> {
        offer.capabilities.insert(Need::TwoDevices);
        let (seed, ops, subject) = (options.seed, options.ops, options.subject.clone());
        let exploration = Exploration::new(seed, ops, offer.capabilities, &suite.catalogue);
        let exploration = exploration.map_err(|unmet| Failure::harness(unmet.to_string()))?;
        Ok(Self {
            options,
            suite,
            exploration,
            origin: Origin { subject, seed, ops, version: env!("CARGO_PKG_VERSION").to_owned() },
            notes: Vec::new(),
        })
    }

    /// Leaves out what the subject declares and then declines.
    fn drop_declined(&mut self, harness: &mut Harness) -> Result<(), Failure> {
        loop {
            let case = self.exploration.sequence(0).planned("emm/explored/0", "the first sequence");
            let judgements = self.judge(harness, std::slice::from_ref(&case))?;
            let Some(need) = judgements.first().and_then(declined) else { return Ok(()) };
            if !self.exploration.offer.remove(&need) {
                return Ok(());
            }
            self.notes
                .push(format!("the subject declares `{need}` and declines it, so it was left out"));
        }
    }

    /// Runs each case in a process of its own.
    fn judge(
        &self,
        harness: &mut Harness,
        cases: &[PlannedCase],
    ) -> Result<Vec<Judgement>, Failure> {
        let all: Vec<&PlannedCase> = cases.iter().collect();
        let output = harness.run_isolated(&all, Isolation::Case, &mut ())?;
        let judged = cases.iter().zip(&output.observations);
        Ok(judged.map(|(case, seen)| judge::judge(&self.suite.catalogue, case, seen)).collect())
    }

    /// Shrinks what was found and writes it down.
    fn report_broken(
        &mut self,
        summary: &Summary,
        harness: &mut Harness,
        folder: &FixtureFolder,
    ) -> Result<Vec<BrokenReport>, Failure> {
        let broken = summary.broken_requirements();
        if let Some(rest) = broken.get(SHRUNK..).filter(|rest| !rest.is_empty()) {
            let ids: Vec<&str> = rest.iter().map(|broken| broken.requirement.as_str()).collect();
            self.notes.push(format!("broken too, and not shrunk: {}", ids.join(", ")));
        }
        broken.iter().take(SHRUNK).map(|broken| self.report_one(broken, harness, folder)).collect()
    }

    fn report_one(
        &self,
        broken: &BrokenRequirement,
        harness: &mut Harness,
        folder: &FixtureFolder,
    ) -> Result<BrokenReport, Failure> {
        let sequence = self.exploration.sequence(broken.sequence);
        let shrunk =
            shrink(&sequence, &broken.requirement, &mut |cases| self.judge(harness, cases))?;
        let requirement =
            shrunk.as_ref().map_or(&broken.requirement, |shrunk| &shrunk.finding.requirement);
        let listed = self.suite.catalogue.get(requirement);
        let listed =
            listed.ok_or_else(|| Failure::harness(format!("{requirement} is not listed")))?;
        let outcome = match &shrunk {
            None if self.breaks_again(broken, harness)? => ShrinkOutcome::OnlyAfterOthers,
            None => ShrinkOutcome::NotReproduced,
            Some(shrunk) => self.write(shrunk, listed, harness, folder)?,
        };
        Ok(BrokenReport {
            requirement: listed.id.clone(),
            level: listed.level,
            statement: listed.statement.clone(),
            sequence: broken.sequence,
            drawn_steps: sequence.len(),
            outcome,
        })
    }

    /// Whether a sequence breaks its requirement once more behind those that ran before it.
    fn breaks_again(
        &self,
        broken: &BrokenRequirement,
        harness: &mut Harness,
    ) -> Result<bool, Failure> {
        let numbers = self.exploration.with_predecessors(broken.sequence);
        let planned = numbers.map(|number| {
            self.exploration.sequence(number).planned(&lanes::case_id(number), "ran before")
        });
        let cases: Vec<PlannedCase> = planned.collect();
        let all: Vec<&PlannedCase> = cases.iter().collect();
        let output = harness.run(&all, &mut ())?;
        let last = cases.last().zip(output.observations.last());
        let judged = last.map(|(case, seen)| judge::judge(&self.suite.catalogue, case, seen));
        Ok(judged.is_some_and(|judgement| {
            findings::of_requirement(&judgement, &broken.requirement).is_some()
        }))
    }

    /// Writes the fixture, and reads, runs and judges it as anybody would.
    fn write(
        &self,
        shrunk: &Shrunk,
        listed: &Requirement,
        harness: &mut Harness,
        folder: &FixtureFolder,
    ) -> Result<ShrinkOutcome, Failure> {
        let sequence = &shrunk.sequence;
        let placed = folder.write(&listed.id, self.origin.seed, |name| {
            fixture::text(sequence, listed, name, &self.origin)
        });
        let planned =
            allocert_suite::fixture::plan_file(&placed.path, &placed.text, &self.suite.catalogue);
        let planned = planned
            .map_err(|refusal| Failure::harness(format!("allocert wrote this:\n{refusal}")))?;
        let setup = planned
            .iter()
            .flat_map(|case| &case.steps)
            .filter(|step| step.part == Part::Setup)
            .count();
        let judged = self.judge(harness, &planned)?;
        let finding = judged
            .iter()
            .find_map(|judgement| findings::of_requirement(judgement, &listed.id))
            .unwrap_or(&shrunk.finding);
        Ok(ShrinkOutcome::Shrunk {
            steps: fixture::lines(sequence),
            at: finding.step.and_then(|step| (step as usize).checked_sub(setup)),
            candidates: shrunk.candidates,
            expected: finding.expected.clone(),
            observed: finding.observed.clone(),
            fixture: placed.written,
        })
    }

    fn conclude(self, summary: &Summary, elapsed: Duration, broken: Vec<BrokenReport>) -> Explored {
        let mut notes = self.notes;
        if let Some(reason) = summary.reason.as_ref().filter(|_| summary.incomplete > 0) {
            notes.push(format!(
                "{} sequences did not run to their end: {reason}",
                summary.incomplete
            ));
        }
        let unwritten = broken.iter().find_map(|broken| match &broken.outcome {
            ShrinkOutcome::Shrunk { fixture: FixtureOutput::NotWritten { error, .. }, .. } => {
                Some(error.clone())
            }
            _ => None,
        });
        let counts = |broken: &BrokenReport| {
            broken.level == Level::Must && !matches!(broken.outcome, ShrinkOutcome::NotReproduced)
        };
        let violated = broken.iter().any(counts);
        let (operations, sequences) = (summary.operations, summary.sequences);
        let exit = match violated {
            true => Exit::Violations,
            false if summary.incomplete == sequences => Exit::Harness,
            false => Exit::Conforms,
        };
        let (subject, seed) = (self.options.subject.clone(), self.options.seed);
        let report = Report { subject, seed, operations, sequences, elapsed, broken, notes };
        Explored { report, exit, unwritten }
    }
}
