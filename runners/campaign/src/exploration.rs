//! Random sequences of operations on one subject; what breaks a requirement is shrunk and written
//! as a fixture.

mod lanes;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use allocert_explore::report::{BrokenReport, FixtureOutput, Report, ShrinkOutcome};
use allocert_explore::write_fixture::{self, Origin};
use allocert_explore::{
    BrokenRequirement, Exploration, Shrunk, Summary, declined, findings, shrink,
};
use allocert_harness::{AloneLock, Harness, Isolation, Machine, Progress, Request, Subject};
use allocert_suite::exit::Exit;
use allocert_suite::nouns::Need;
use allocert_suite::observation::Observation;
use allocert_suite::offer::Offer;
use allocert_suite::plan::{Part, PlannedCase};
use allocert_suite::run_format::Subject as RecordedSubject;
use allocert_suite::verdict::{Judgement, Verdict};
use allocert_suite::{Catalogue, Level, RefusalCode, Requirement, Side, judge};

use crate::failure::Failure;
use crate::fixture_files::FixtureFolder;
use crate::suite::Suite;
use crate::verdict_reports::listed_requirements;
use crate::workers::Workers;
use crate::{profiles, run};

use lanes::Lanes;

/// How many requirements are shrunk to fixtures; the others that were broken are named.
const SHRUNK: usize = 4;
/// After so many violations that did not show again the search ends: chance rules the subject.
const NOT_REPRODUCED: usize = 16;

/// What a user wants explored.
#[derive(Debug, Clone)]
pub struct ExplorationOptions {
    /// The name of the side.
    pub side: String,
    pub subject: String,
    /// How a subject is called that has no table.
    pub abi: Option<String>,
    /// The same seed makes the same sequences, on any machine.
    pub seed: u64,
    /// How many operations are tried.
    pub ops: u64,
    /// Where fixtures are written.
    pub out: PathBuf,
    pub jobs: Option<NonZeroUsize>,
    /// The expectation file, whose requirements are not looked for.
    pub expect: Option<PathBuf>,
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
    let side = explored_side(&options.side)?;
    let subject = Subject::parse_with(&options.subject, options.abi.as_deref(), side)?;
    let mut suite = Suite::of(&[])?;
    let profile = profiles::of_subject(&suite.catalogue, side, None, subject.abi())?;
    suite.catalogue.choose(profile);
    let folder = FixtureFolder::open(&options.out, side)?;
    let request = Arc::new(request(options, workers, subject)?);
    let mut harness = Harness::load(&request)?;
    let offer = harness.loaded().offer(&Machine::simulated());
    let mut search = Search::new(options, side, &suite, offer)?;
    if let Some(path) = &options.expect {
        let subject = RecordedSubject::argument_of(&options.subject, options.abi.as_deref());
        let subject = (subject.as_str(), harness.loaded());
        search.leave_out(listed_requirements(&suite.catalogue, subject, path)?);
    }
    search.drop_declined(&mut harness)?;

    let jobs = options.jobs.unwrap_or_else(|| lanes::default_jobs(&search.exploration));
    progress.expect(options.ops);
    let broken = search.run(&request, jobs, &mut harness, &folder, progress)?;
    Ok(search.conclude(broken))
}

/// The side that the user names, if there is a model of it.
fn explored_side(name: &str) -> Result<Side, Failure> {
    allocert_explore::sides().find(|side| side.name() == name).ok_or_else(|| {
        let there: Vec<&str> = allocert_explore::sides().map(Side::name).collect();
        let message = format!(
            "there is no model of `{name}` to explore with; there are {}",
            there.join(", ")
        );
        Failure::refused(RefusalCode::UnknownInterface, message)
    })
}

fn request(
    options: &ExplorationOptions,
    workers: &Workers,
    subject: Subject,
) -> Result<Request, Failure> {
    // A Python process keeps what it has when the driver starts over.
    let isolation = if subject.is_python() { Isolation::Case } else { Isolation::None };
    let mut request = workers.request(&Machine::simulated(), &options.side, subject)?;
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
    summary: Summary,
    /// Of running and judging, without shrinking.
    elapsed: Duration,
    notes: Vec<String>,
    /// Requirements that the expectation file lists.
    listed: BTreeSet<String>,
}

/// Judges a sequence, and leaves out what the expectation file lists.
fn judge_unlisted(
    catalogue: &Catalogue,
    listed: &BTreeSet<String>,
    case: &PlannedCase,
    observation: &Observation,
) -> Judgement {
    let mut judgement = judge::judge(catalogue, case, observation);
    judgement.findings.retain(|finding| !listed.contains(&finding.requirement));
    let violates = judgement.findings.iter().any(|finding| finding.level == Level::Must);
    if judgement.verdict == Verdict::Violates && !violates {
        judgement.verdict = Verdict::Conforms;
    }
    judgement
}

impl<'a> Search<'a> {
    fn new(
        options: &'a ExplorationOptions,
        side: Side,
        suite: &'a Suite,
        mut offer: Offer,
    ) -> Result<Self, Failure> {
        offer.capabilities.insert(Need::TwoDevices);
        let (seed, ops) = (options.seed, options.ops);
        let origin = Origin {
            subject: options.subject.clone(),
            abi: options.abi.clone(),
            seed,
            ops,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let exploration = Exploration::new(side, seed, ops, offer.capabilities, &suite.catalogue);
        let exploration = exploration.map_err(|error| Failure::harness(error.to_string()))?;
        Ok(Self {
            summary: Summary::new(exploration.requirements()),
            elapsed: Duration::ZERO,
            options,
            suite,
            exploration,
            origin,
            notes: Vec::new(),
            listed: BTreeSet::new(),
        })
    }

    /// Looks for none of these requirements.
    fn leave_out(&mut self, listed: BTreeSet<String>) {
        let ids: Vec<&str> = listed.iter().map(String::as_str).collect();
        self.notes.push(format!("not looked for, because it is expected: {}", ids.join(", ")));
        self.listed = listed;
    }

    /// Leaves out what the subject declares and then declines.
    fn drop_declined(&mut self, harness: &mut Harness) -> Result<(), Failure> {
        loop {
            let first = self.exploration.sequence(0);
            let case = first.planned(&self.exploration.case_id(0), "the first sequence");
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
        let (catalogue, listed) = (&self.suite.catalogue, &self.listed);
        Ok(judged.map(|(case, seen)| judge_unlisted(catalogue, listed, case, seen)).collect())
    }

    /// Explores, shrinks what was found and writes it down.
    fn run(
        &mut self,
        request: &Arc<Request>,
        jobs: NonZeroUsize,
        harness: &mut Harness,
        folder: &FixtureFolder,
        progress: &mut dyn Progress,
    ) -> Result<Vec<BrokenReport>, Failure> {
        let mut chunks = self.exploration.chunks();
        let mut reports: Vec<BrokenReport> = Vec::new();
        while reports.len() < NOT_REPRODUCED {
            // Several lanes may have found several at once.
            if self.summary.violation().is_none() {
                let began = Instant::now();
                let (catalogue, exploration) = (&self.suite.catalogue, &self.exploration);
                let listed = &self.listed;
                let lanes = Lanes { request, catalogue, listed, exploration, jobs };
                let (summary, notes) = (&mut self.summary, &mut self.notes);
                let ran = lanes.run(&chunks, harness, summary, notes, progress)?;
                chunks.drain(..ran);
                self.elapsed += began.elapsed();
            }
            let Some(violation) = self.summary.violation().cloned() else { break };
            let report = self.report_one(&violation, harness, folder)?;
            let shows_again = !matches!(report.outcome, ShrinkOutcome::NotReproduced);
            reports.push(report);
            if shows_again {
                break;
            }
            self.summary.forget(&violation);
        }
        let warnings = self.report_warnings(reports.len(), harness, folder)?;
        reports.extend(warnings);
        Ok(reports)
    }

    /// Shrinks the warnings up to the violation, if there are few beside `others`.
    fn report_warnings(
        &mut self,
        others: usize,
        harness: &mut Harness,
        folder: &FixtureFolder,
    ) -> Result<Vec<BrokenReport>, Failure> {
        let warnings = self.summary.warnings();
        let shrunk = warnings.len().min(SHRUNK.saturating_sub(others));
        let (shrunk, rest) = warnings.split_at(shrunk);
        if !rest.is_empty() {
            let ids: Vec<&str> = rest.iter().map(|broken| broken.requirement.as_str()).collect();
            self.notes.push(format!("broken too, and not shrunk: {}", ids.join(", ")));
        }
        shrunk.iter().map(|broken| self.report_one(broken, harness, folder)).collect()
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
            let name = self.exploration.case_id(number);
            self.exploration.sequence(number).planned(&name, "ran before")
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
            write_fixture::text(sequence, listed, name, &self.origin)
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
            steps: write_fixture::lines(sequence),
            at: finding.step.and_then(|step| (step as usize).checked_sub(setup)),
            candidates: shrunk.candidates,
            expected: finding.expected.clone(),
            observed: finding.observed.clone(),
            fixture: placed.written,
        })
    }

    fn conclude(self, broken: Vec<BrokenReport>) -> Explored {
        let Self { summary, elapsed, mut notes, .. } = self;
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
            false if summary.worthless == sequences => Exit::Harness,
            false => Exit::Conforms,
        };
        let (subject, seed) = (self.options.subject.clone(), self.options.seed);
        let side = self.exploration.side();
        let report = Report { side, subject, seed, operations, sequences, elapsed, broken, notes };
        Explored { report, exit, unwritten }
    }
}
