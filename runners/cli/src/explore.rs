//! `allocert explore INTERFACE SUBJECT`

mod lanes;
mod shelf;

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use allocert_explore::fixture::{self, Origin};
use allocert_explore::report::{self, Outcome, Report, Shown, Written};
use allocert_explore::{Broken, Exploration, Shrunk, Tally, declined, finding, shrink};
use allocert_harness::{Asset, Harness, Isolation, Machine, Request, RunDir, Subject};
use allocert_suite::exit::Exit;
use allocert_suite::nouns::Need;
use allocert_suite::offer::Offer;
use allocert_suite::plan::{Part, PlannedCase};
use allocert_suite::verdict::Judgement;
use allocert_suite::{Level, Requirement, Side, judge};

use crate::arguments::Explore;
use crate::explore::lanes::Lanes;
use crate::explore::shelf::Shelf;
use crate::failure::Failure;
use crate::suite::Suite;
use crate::{profile, run, terminal};

/// Shrinking takes its time; what else was broken is named.
const SHRUNK: usize = 4;

pub(crate) fn explore(arguments: &Explore) -> Result<ExitCode, Failure> {
    if arguments.interface != Side::Emm.name() {
        let message =
            format!("there is no model of `{}` to explore with; there is emm", arguments.interface);
        return Err(Failure::usage(message));
    }
    let subject = Subject::parse(&arguments.subject, Side::Emm).map_err(Failure::usage)?;
    let mut suite = Suite::of(&[])?;
    let profile = profile::of(&suite.catalogue, Side::Emm.interface(), None)?;
    suite.catalogue.choose(profile);
    let shelf = Shelf::open(&arguments.out)?;
    let request = Arc::new(request(arguments, subject)?);
    let mut harness = Harness::load(&request)?;
    let mut search = Search::new(arguments, &suite, harness.loaded().offer(&Machine::simulated()));
    search.ask(&mut harness)?;

    let began = Instant::now();
    let jobs = arguments.jobs.unwrap_or_else(|| lanes::jobs(&search.exploration));
    let lanes = Lanes {
        request: &request,
        catalogue: &suite.catalogue,
        exploration: &search.exploration,
        jobs,
    };
    let tally = lanes.run(&mut harness, &mut search.notes)?;
    let elapsed = began.elapsed();
    let shown = search.show(&tally, &mut harness, &shelf)?;
    search.tell(tally, elapsed, shown)
}

fn request(arguments: &Explore, subject: Subject) -> Result<Request, Failure> {
    let interrupt = run::listen()?;
    let own = run::own()?;
    let run = RunDir::create(&Asset::Driver.find()?)?;
    let launch = run::launch(&subject, arguments.python.as_ref(), arguments.timeout, own, &run)
        .on(&Machine::simulated());
    // A Python process does not become new when its driver does.
    let isolation = if subject.is_python() { Isolation::Case } else { Isolation::None };
    let jobs = NonZeroUsize::MIN;
    let interface = arguments.interface.clone();
    Ok(Request {
        run,
        launch,
        interface,
        subject,
        isolation,
        jobs,
        timeout_s: arguments.timeout,
        interrupt,
    })
}

/// One exploration from its seed to its fixtures.
struct Search<'a> {
    arguments: &'a Explore,
    suite: &'a Suite,
    exploration: Exploration,
    origin: Origin,
    notes: Vec<String>,
}

impl<'a> Search<'a> {
    fn new(arguments: &'a Explore, suite: &'a Suite, mut offer: Offer) -> Self {
        offer.capabilities.insert(Need::TwoDevices);
        let (seed, ops, subject) = (arguments.seed, arguments.ops, arguments.subject.clone());
        Self {
            arguments,
            suite,
            exploration: Exploration { seed, ops, offer: offer.capabilities },
            origin: Origin { subject, seed, ops, version: env!("CARGO_PKG_VERSION").to_owned() },
            notes: Vec::new(),
        }
    }

    /// What the subject declares and then declines is not asked of it again.
    fn ask(&mut self, harness: &mut Harness) -> Result<(), Failure> {
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
        let sighting = harness.run_isolated(&all, Isolation::Case, &mut ())?;
        let judged = cases.iter().zip(&sighting.observations);
        Ok(judged.map(|(case, seen)| judge::judge(&self.suite.catalogue, case, seen)).collect())
    }

    /// Shrinks what was found and writes it down.
    fn show(
        &mut self,
        tally: &Tally,
        harness: &mut Harness,
        shelf: &Shelf,
    ) -> Result<Vec<Shown>, Failure> {
        let broken = tally.broken();
        if let Some(rest) = broken.get(SHRUNK..).filter(|rest| !rest.is_empty()) {
            let ids: Vec<&str> = rest.iter().map(|broken| broken.requirement.as_str()).collect();
            self.notes.push(format!("broken too, and not shrunk: {}", ids.join(", ")));
        }
        broken.iter().take(SHRUNK).map(|broken| self.show_one(broken, harness, shelf)).collect()
    }

    fn show_one(
        &self,
        broken: &Broken,
        harness: &mut Harness,
        shelf: &Shelf,
    ) -> Result<Shown, Failure> {
        let sequence = self.exploration.sequence(broken.sequence);
        let shrunk =
            shrink(&sequence, &broken.requirement, &mut |cases| self.judge(harness, cases))?;
        let requirement =
            shrunk.as_ref().map_or(&broken.requirement, |shrunk| &shrunk.finding.requirement);
        let listed = self.suite.catalogue.get(requirement);
        let listed = listed
            .ok_or_else(|| Failure::new(Exit::Harness, format!("{requirement} is not listed")))?;
        let outcome = match &shrunk {
            None if self.again(broken, harness)? => Outcome::NotAlone,
            None => Outcome::NotAgain,
            Some(shrunk) => self.write(shrunk, listed, harness, shelf)?,
        };
        Ok(Shown {
            requirement: listed.id.clone(),
            level: listed.level,
            statement: listed.statement.clone(),
            sequence: broken.sequence,
            drawn: sequence.len(),
            outcome,
        })
    }

    /// Whether a sequence breaks its requirement once more behind those that ran before it.
    fn again(&self, broken: &Broken, harness: &mut Harness) -> Result<bool, Failure> {
        let numbers = self.exploration.company(broken.sequence);
        let planned = numbers.map(|number| {
            self.exploration.sequence(number).planned(&lanes::name(number), "company")
        });
        let cases: Vec<PlannedCase> = planned.collect();
        let all: Vec<&PlannedCase> = cases.iter().collect();
        let sighting = harness.run(&all, &mut ())?;
        let last = cases.last().zip(sighting.observations.last());
        let judged = last.map(|(case, seen)| judge::judge(&self.suite.catalogue, case, seen));
        Ok(judged.is_some_and(|judgement| finding::of(&judgement, &broken.requirement).is_some()))
    }

    /// Writes the fixture, and reads, runs and judges it as anybody would.
    fn write(
        &self,
        shrunk: &Shrunk,
        listed: &Requirement,
        harness: &mut Harness,
        shelf: &Shelf,
    ) -> Result<Outcome, Failure> {
        let sequence = &shrunk.sequence;
        let placed = shelf.put(&listed.id, self.origin.seed, |name| {
            fixture::text(sequence, listed, name, &self.origin)
        });
        let planned =
            allocert_suite::fixture::plan_file(&placed.path, &placed.text, &self.suite.catalogue);
        let planned = planned.map_err(|refusal| {
            Failure::new(Exit::Harness, format!("allocert wrote this:\n{refusal}"))
        })?;
        let setup = planned
            .iter()
            .flat_map(|case| &case.steps)
            .filter(|step| step.part == Part::Setup)
            .count();
        let judged = self.judge(harness, &planned)?;
        let finding = judged
            .iter()
            .find_map(|judgement| finding::of(judgement, &listed.id))
            .unwrap_or(&shrunk.finding);
        Ok(Outcome::Shrunk {
            steps: fixture::lines(sequence),
            at: finding.step.and_then(|step| (step as usize).checked_sub(setup)),
            candidates: shrunk.candidates,
            expected: finding.expected.clone(),
            observed: finding.observed.clone(),
            written: placed.written,
        })
    }

    fn tell(self, tally: Tally, elapsed: Duration, shown: Vec<Shown>) -> Result<ExitCode, Failure> {
        let mut notes = self.notes;
        if let Some(reason) = tally.reason.filter(|_| tally.unseen > 0) {
            notes.push(format!("{} sequences were not seen to their end: {reason}", tally.unseen));
        }
        let lost = shown.iter().find_map(|shown| match &shown.outcome {
            Outcome::Shrunk { written: Written::Nowhere { error, .. }, .. } => Some(error.clone()),
            _ => None,
        });
        let counts = |shown: &Shown| {
            shown.level == Level::Must && !matches!(shown.outcome, Outcome::NotAgain)
        };
        let violated = shown.iter().any(counts);
        let (operations, sequences) = (tally.operations, tally.sequences);
        let (subject, seed) = (self.arguments.subject.clone(), self.arguments.seed);
        let report = Report { subject, seed, operations, sequences, elapsed, shown, notes };
        terminal::print(&report::render(&report, terminal::palette()))?;
        match (lost, violated) {
            (Some(error), _) => {
                Err(Failure::usage(format!("{error}; the fixture is printed above")))
            }
            (None, true) => Ok(Exit::Violations.code().into()),
            (None, false) if tally.unseen == sequences => Ok(Exit::Harness.code().into()),
            (None, false) => Ok(ExitCode::SUCCESS),
        }
    }
}
