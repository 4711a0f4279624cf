//! The kill run: the suite on mutants, each until all that it breaks is found.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::env;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use allocert_harness::{
    AloneLock, Artifact, AtFault, Error, Harness, Machine, Progress, Request, RunOutput, Subject,
    parallel,
};
use allocert_requirements::{Flavor, Mutant, mutant};
use allocert_suite::applicability::{Applicability, applicability};
use allocert_suite::plan::PlannedCase;
use allocert_suite::report::kills::{Kill, Matrix};
use allocert_suite::{RefusalCode, Side};

use crate::case_filter::glob;
use crate::failure::Failure;
use crate::judging::judge_all;
use crate::suite::Suite;
use crate::workers::Workers;
use crate::{fault_sweep, side_names};

/// How many cases a mutant is run on first; each further round has twice as many.
const FIRST_ROUND: usize = 2;
/// How many native mutants one worker loads, one after the other.
const LARGEST_GROUP: usize = 16;
/// The limit of a case: what a mutant that hangs costs for each case that it hangs in.
const TIMEOUT_S: u32 = 4;
/// Importing numba-cuda on a machine that is busy with other mutants.
const LOAD_TIMEOUT: Duration = Duration::from_secs(60);

/// Which mutants a user wants run.
#[derive(Debug, Clone, Default)]
pub struct KillRunOptions {
    /// The name of the side; without it all that there are cases for.
    pub interface: Option<String>,
    /// A glob over the names of the mutants.
    pub filter: Option<String>,
    pub flavor: Option<Flavor>,
    /// Mutants side by side.
    pub jobs: Option<NonZeroUsize>,
}

/// Mutants and the suite that is to find them.
#[derive(Debug)]
pub struct KillRun {
    /// No profile is in force: a mutant breaks what one text or another demands.
    suite: Suite,
    sides: Vec<Side>,
    mutants: Vec<Mutant>,
    /// Whether these are all mutants of the sides.
    whole: bool,
    jobs: NonZeroUsize,
    alone: AloneLock,
}

impl KillRun {
    /// Selects the mutants.
    ///
    /// # Errors
    /// What is wrong with the options, or that no mutant is wanted.
    pub fn plan(options: &KillRunOptions) -> Result<Self, Failure> {
        let suite = Suite::load()?;
        let sides = match options.interface.as_deref() {
            Some(name) => vec![side_names::side(name, &suite)?],
            None => Side::all().filter(|side| suite.certifies(*side)).collect(),
        };
        let filter = options.filter.as_deref();
        let glob = filter.map(glob).transpose()?;
        let mut mutants = mutant::embedded()?;
        mutants.retain(|mutant| {
            let named = glob.as_ref().is_none_or(|glob| glob.is_match(&mutant.name));
            let sided = mutant.side(&suite.catalogue).is_some_and(|side| sides.contains(&side));
            named && sided && options.flavor.is_none_or(|flavor| flavor == mutant.flavor)
        });
        if mutants.is_empty() {
            let message = format!("nothing to do: no mutant matches `{}`", filter.unwrap_or("*"));
            return Err(Failure::nothing_ran(message));
        }
        let whole = filter.is_none() && options.flavor.is_none();
        let jobs = options.jobs.unwrap_or_else(parallel::cores);
        Ok(Self { suite, sides, mutants, whole, jobs, alone: AloneLock::default() })
    }

    /// Runs all of them; what was found, in their order.
    ///
    /// # Errors
    /// A mutant cannot be loaded, or what kept the harness from its work.
    pub fn run<'a>(
        &'a self,
        workers: &Workers,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Kill<'a>>, Failure> {
        let groups = self.groups();
        progress.expect(self.mutants.len() as u64);
        let run = |group: &Vec<&'a Mutant>| self.run_group(group, workers);
        let done = |place: usize| {
            let last = groups[place].last().map_or("", |mutant: &&Mutant| mutant.name.as_str());
            progress.advance(groups[place].len() as u64, last);
        };
        let mut kills = parallel::map(&groups, self.jobs, run, done)?.concat();
        let place = |kill: &Kill<'_>| {
            self.mutants.iter().position(|mutant| mutant.name == kill.mutant.name)
        };
        kills.sort_by_key(place);
        Ok(kills)
    }

    /// What a renderer takes.
    #[must_use]
    pub fn matrix<'a>(&'a self, kills: &'a [Kill<'a>]) -> Matrix<'a> {
        let (catalogue, sides) = (&self.suite.catalogue, &self.sides);
        Matrix { catalogue, sides, kills, whole: self.whole }
    }

    /// The mutants that go through one worker, because they are of one side and one file.
    fn groups(&self) -> Vec<Vec<&Mutant>> {
        let key = |mutant: &Mutant| (mutant.flavor, mutant.side(&self.suite.catalogue));
        let mut groups: Vec<Vec<&Mutant>> = Vec::new();
        for mutant in &self.mutants {
            let takes_it = |group: &&mut Vec<&Mutant>| {
                let first = group[0];
                let full = first.flavor == Flavor::Native && group.len() >= LARGEST_GROUP;
                !full && key(first) == key(mutant) && first.module() == mutant.module()
            };
            match groups.iter_mut().find(takes_it) {
                Some(group) => group.push(mutant),
                None => groups.push(vec![mutant]),
            }
        }
        // The slowest first, so that nobody waits for them at the end.
        groups.sort_by_key(|group| Reverse((group[0].flavor, group.len())));
        groups
    }

    /// Runs mutants of one file, one after the other in one worker.
    fn run_group<'a>(
        &'a self,
        group: &[&'a Mutant],
        workers: &Workers,
    ) -> Result<Vec<Kill<'a>>, Failure> {
        let mut harness: Option<Harness> = None;
        let mut kills = Vec::new();
        for mutant in group {
            let Some(side) = mutant.side(&self.suite.catalogue) else { continue };
            let subject = subject(mutant, side)?;
            let loaded = match harness.take() {
                Some(mut harness) => harness.load_other(subject).map(|()| harness),
                None => Harness::load(&Arc::new(self.request(workers, mutant, side, subject)?)),
            };
            let mut loaded = loaded.map_err(|error| unloadable(mutant, error))?;
            kills.push(self.run_mutant(mutant, side, &mut loaded)?);
            harness = Some(loaded);
        }
        Ok(kills)
    }

    fn run_mutant<'a>(
        &'a self,
        mutant: &'a Mutant,
        side: Side,
        harness: &mut Harness,
    ) -> Result<Kill<'a>, Failure> {
        let offer = harness.loaded().offer(&Machine::simulated());
        let runs = |case: &&&PlannedCase| {
            applicability(case, &self.suite.catalogue, &offer) == Applicability::Run
        };
        let cases: Vec<&PlannedCase> =
            self.ordered_cases(mutant, side).iter().filter(runs).copied().collect();
        let mut kill = Kill::new(mutant);
        let (mut rest, mut round) = (cases.as_slice(), FIRST_ROUND);
        while !rest.is_empty() && !kill.killed() {
            let (now, later) = rest.split_at(round.min(rest.len()));
            let RunOutput { observations, .. } = harness.run(now, &mut ())?;
            let decisions = vec![Applicability::Run; now.len()];
            let clean = judge_all(&self.suite.catalogue, now, decisions, observations);
            kill.add(&clean);
            if mutant.faults {
                let width = fault_sweep::default_width(offer.flavor);
                let isolation = fault_sweep::default_isolation(offer.flavor);
                let catalogue = &self.suite.catalogue;
                let swept =
                    fault_sweep::run(catalogue, harness, &clean, width, isolation, &mut ())?;
                kill.add(&swept.judged);
            }
            (rest, round) = (later, round * 2);
        }
        Ok(kill)
    }

    fn request(
        &self,
        workers: &Workers,
        mutant: &Mutant,
        side: Side,
        subject: Subject,
    ) -> Result<Request, Error> {
        let mut request = workers.request(&Machine::simulated(), side.name(), subject)?;
        if mutant.flavor == Flavor::Python {
            let mut path = request.run.write("mutants", mutant::PYTHON)?.into_os_string();
            if let Some(users) = env::var_os("PYTHONPATH").filter(|path| !path.is_empty()) {
                path.push(":");
                path.push(users);
            }
            request.launch.environment.push(("PYTHONPATH".into(), path));
        }
        request.launch.load_timeout = LOAD_TIMEOUT;
        request.timeout_s = Some(TIMEOUT_S);
        request.alone = (self.jobs.get() > 1).then(|| self.alone.clone());
        Ok(request)
    }

    /// All cases of the side in the order in which they are likely to find this mutant: those that
    /// state what it breaks, those that perform an operation which stands for it, and one of each
    /// group in turn, because what no case states is checked in all.
    fn ordered_cases(&self, mutant: &Mutant, side: Side) -> Vec<&PlannedCase> {
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
}

/// A Python mutant needs what its host is made of, which this program does not bring along.
fn unloadable(mutant: &Mutant, error: Error) -> Failure {
    match (mutant.flavor, error.at_fault()) {
        (Flavor::Python, AtFault::Request(_)) => Failure::refused(
            RefusalCode::MissingHost,
            format!(
                "{error}\n  the Python mutants take an interpreter with numba-cuda: name it with \
             --python, or leave them out with --flavor native"
            ),
        ),
        _ => error.into(),
    }
}

fn subject(mutant: &Mutant, side: Side) -> Result<Subject, Failure> {
    match mutant.flavor {
        Flavor::Native => Ok(Subject::Library {
            path: Artifact::Mutants.find()?,
            symbol: Some(mutant.subject.clone()),
        }),
        Flavor::Python => Subject::parse(&mutant.subject, side).map_err(Failure::from),
    }
}
