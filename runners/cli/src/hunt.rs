//! Running mutants until what they break is found.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{env, thread};

use allocert_harness::{
    Asset, Error, Fault, Harness, Interrupt, Isolation, Launch, Machine, Request, RunDir, Subject,
};
use allocert_requirements::{Flavor, Mutant, mutant};
use allocert_suite::Side;
use allocert_suite::applicability::{Applicability, applicability};
use allocert_suite::plan::PlannedCase;
use allocert_suite::report::kills::Kill;

use crate::failure::Failure;
use crate::progress::Progress;
use crate::run::judge_all;
use crate::suite::Suite;
use crate::sweep;

/// Cases that a mutant is run on first; each further round is twice as long.
const FIRST_ROUND: usize = 2;
/// Native mutants that one worker loads one after the other.
const COMPANY: usize = 16;
/// A mutant that hangs costs this for each case that it hangs in; a busy machine takes a second for
/// others.
const TIMEOUT_S: u32 = 4;
/// Importing numba-cuda on a machine that is busy with other mutants.
const LOAD_PATIENCE: Duration = Duration::from_secs(60);

/// What all mutants are run with.
#[derive(Debug)]
pub(crate) struct Hunt<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) interpreter: PathBuf,
    pub(crate) jobs: NonZeroUsize,
    pub(crate) interrupt: Interrupt,
}

impl<'a> Hunt<'a> {
    /// Runs all of them; what was found, in their order.
    pub(crate) fn all(&self, mutants: &[&'a Mutant]) -> Result<Vec<Kill<'a>>, Failure> {
        let queue = Mutex::new(parties(mutants).into_iter());
        let progress = Mutex::new(Progress::of(mutants.len()));
        let hunter = || {
            let mut kills = Vec::new();
            while let Some(party) = { queue.lock().unwrap_or_else(PoisonError::into_inner).next() }
            {
                kills.extend(self.party(&party, &progress)?);
            }
            Ok::<_, Failure>(kills)
        };
        let mut kills = thread::scope(|scope| {
            let hunters: Vec<_> = (0..self.jobs.get()).map(|_| scope.spawn(hunter)).collect();
            let caught = hunters
                .into_iter()
                .map(|hunter| hunter.join().expect("a panic ends this program at once"));
            caught.collect::<Result<Vec<_>, _>>()
        })?
        .concat();
        let place =
            |kill: &Kill<'_>| mutants.iter().position(|mutant| mutant.name == kill.mutant.name);
        kills.sort_by_key(place);
        Ok(kills)
    }

    /// Runs mutants of one file, one after the other in one worker.
    fn party(
        &self,
        party: &[&'a Mutant],
        progress: &Mutex<Progress>,
    ) -> Result<Vec<Kill<'a>>, Failure> {
        let mut harness: Option<Harness> = None;
        let mut kills = Vec::new();
        for mutant in party {
            let Some(side) = mutant.side(&self.suite.catalogue) else { continue };
            let subject = subject(mutant, side)?;
            let loaded = match harness.take() {
                Some(mut harness) => harness.exchange(subject).map(|()| harness),
                None => Harness::load(&Arc::new(self.request(mutant, side, subject)?)),
            };
            let mut loaded = loaded.map_err(|error| unloadable(mutant, error))?;
            kills.push(self.run(mutant, side, &mut loaded)?);
            harness = Some(loaded);
            progress.lock().unwrap_or_else(PoisonError::into_inner).step(&mutant.name);
        }
        Ok(kills)
    }

    fn run(
        &self,
        mutant: &'a Mutant,
        side: Side,
        harness: &mut Harness,
    ) -> Result<Kill<'a>, Failure> {
        let offer = harness.loaded().offer(&Machine::simulated());
        let runs = |case: &&&PlannedCase| {
            applicability(case, &self.suite.catalogue, &offer) == Applicability::Run
        };
        let cases: Vec<&PlannedCase> =
            self.order(mutant, side).iter().filter(runs).copied().collect();
        let mut kill = Kill::new(mutant);
        let (mut rest, mut round) = (cases.as_slice(), FIRST_ROUND);
        while !rest.is_empty() && !kill.killed() {
            let (now, later) = rest.split_at(round.min(rest.len()));
            let sighting = harness.run(now, &mut ())?;
            let clean = judge_all(self.suite, now, vec![Applicability::Run; now.len()], sighting);
            kill.add(&clean);
            if mutant.faults {
                let (width, isolation) =
                    (sweep::width(offer.flavor), sweep::isolation(offer.flavor));
                kill.add(
                    &sweep::run(self.suite, harness, &clean, width, isolation, &mut ())?.judged,
                );
            }
            (rest, round) = (later, round * 2);
        }
        Ok(kill)
    }

    /// All cases of the side in the order in which they are likely to find this mutant: those that
    /// state what it breaks, those that perform an operation which stands for it, and one of each
    /// group in turn, because what no case states is checked in all.
    fn order(&self, mutant: &Mutant, side: Side) -> Vec<&'a PlannedCase> {
        let catalogue = &self.suite.catalogue;
        let states = |case: &PlannedCase| case.requirements().any(|id| mutant.breaks.contains(id));
        let performs = |case: &PlannedCase| {
            let operations =
                case.steps.iter().filter_map(|step| catalogue.by_operation(side, step.r#do.name()));
            operations.into_iter().any(|requirement| mutant.breaks.contains(&requirement.id))
        };
        let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
        let mut turns: Vec<(u8, usize, &PlannedCase)> = Vec::new();
        for case in self.suite.cases_of(side) {
            let rank = if states(case) { 0 } else { 2 - u8::from(performs(case)) };
            let turn = groups.entry(case.group()).or_default();
            turns.push((rank, *turn, case));
            *turn += 1;
        }
        turns.sort_by_key(|(rank, turn, _)| (*rank, *turn));
        turns.into_iter().map(|(_, _, case)| case).collect()
    }

    fn request(&self, mutant: &Mutant, side: Side, subject: Subject) -> Result<Request, Failure> {
        let run = RunDir::create(&Asset::Driver.find()?)?;
        let mut launch = match mutant.flavor {
            Flavor::Native => Launch::native(crate::run::own()?),
            Flavor::Python => Launch::python(self.interpreter.clone(), &run),
        };
        if mutant.flavor == Flavor::Python {
            let theirs = env::var_os("PYTHONPATH").filter(|path| !path.is_empty());
            let mut path = run.write("mutants", mutant::PYTHON)?.into_os_string();
            if let Some(theirs) = theirs {
                path.push(":");
                path.push(theirs);
            }
            launch.environment.push(("PYTHONPATH".into(), path));
        }
        launch.load_patience = LOAD_PATIENCE;
        Ok(Request {
            run,
            launch: launch.on(&Machine::simulated()),
            interface: side.name().to_owned(),
            subject,
            isolation: Isolation::Case,
            jobs: NonZeroUsize::MIN,
            timeout_s: Some(TIMEOUT_S),
            interrupt: self.interrupt.clone(),
        })
    }
}

/// A Python mutant needs what its host is made of, which this program does not bring along.
fn unloadable(mutant: &Mutant, error: Error) -> Failure {
    match (mutant.flavor, error.fault()) {
        (Flavor::Python, Fault::Subject) => Failure::usage(format!(
            "{error}\n  the Python mutants take an interpreter with numba-cuda: name it with --python, or leave them out with --flavor native"
        )),
        _ => error.into(),
    }
}

fn subject(mutant: &Mutant, side: Side) -> Result<Subject, Failure> {
    match mutant.flavor {
        Flavor::Native => Ok(Subject::Library {
            path: Asset::Mutants.find()?,
            symbol: Some(mutant.subject.clone()),
        }),
        Flavor::Python => Subject::parse(&mutant.subject, side).map_err(Failure::usage),
    }
}

/// Mutants that go through one worker: of one side and one file.
fn parties<'a>(mutants: &[&'a Mutant]) -> Vec<Vec<&'a Mutant>> {
    let mut parties: Vec<Vec<&Mutant>> = Vec::new();
    for mutant in mutants {
        let kin = |party: &&mut Vec<&Mutant>| {
            let first = party[0];
            let room = first.flavor == Flavor::Python || party.len() < COMPANY;
            room && (first.flavor, first.module()) == (mutant.flavor, mutant.module())
        };
        match parties.iter_mut().find(kin) {
            Some(party) => party.push(mutant),
            None => parties.push(vec![mutant]),
        }
    }
    // The slowest first, so that nobody waits for them at the end.
    parties.sort_by_key(|party| std::cmp::Reverse((party[0].flavor, party.len())));
    parties
}
