//! The kill run: the suite on mutants, each until all that it breaks is found; or the whole suite
//! on each, to see what a report on it names first.

use std::collections::BTreeMap;

use allocert_harness::{Artifact, Harness, Machine, Progress, RunOutput};
use allocert_requirements::{Mutant, mutant};
use allocert_suite::Side;
use allocert_suite::applicability::Applicability;
use allocert_suite::offer::Offer;
use allocert_suite::plan::PlannedCase;
use allocert_suite::report::first_causes::FirstCause;
use allocert_suite::report::kills::{Kill, Matrix};
use allocert_suite::run_format::Judged;

use crate::built_subjects::{PythonFolder, Selection, SubjectOptions, SubjectRuns};
use crate::failure::Failure;
use crate::fault_sweep;
use crate::judging::{decide, judge_all};
use crate::spool::Needed;
use crate::workers::Workers;

/// The limit of a case: what a mutant that hangs costs for each case that it hangs in.
const TIMEOUT_S: u32 = 4;
const PYTHON_FOLDERS: &[PythonFolder] = &[("mutants", mutant::PYTHON)];

/// Mutants and the suite that is to find them.
#[derive(Debug)]
pub struct KillRun {
    /// No profile is in force: a mutant breaks what one text or another demands.
    selection: Selection<Mutant>,
    runs: SubjectRuns,
}

impl KillRun {
    /// Selects the mutants.
    ///
    /// # Errors
    /// What is wrong with the options, or that no mutant is wanted.
    pub fn plan(options: &SubjectOptions) -> Result<Self, Failure> {
        let selection = Selection::new(options, mutant::embedded()?)?;
        let runs =
            SubjectRuns::new(Artifact::Mutants, PYTHON_FOLDERS, Some(TIMEOUT_S), options.jobs);
        Ok(Self { selection, runs })
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
        let run_one = |mutant, side, harness: &mut Harness| self.run_mutant(mutant, side, harness);
        self.runs.run(&self.selection, workers, progress, run_one)
    }

    /// Runs the whole suite on all of them; what a report on each names first, in their order.
    ///
    /// # Errors
    /// As [`KillRun::run`].
    pub fn first_causes<'a>(
        &'a self,
        workers: &Workers,
        progress: &mut dyn Progress,
    ) -> Result<Vec<FirstCause<'a>>, Failure> {
        let run_one = |mutant, side, harness: &mut Harness| self.first_cause(mutant, side, harness);
        self.runs.run(&self.selection, workers, progress, run_one)
    }

    /// What a renderer takes.
    #[must_use]
    pub fn matrix<'a>(&'a self, kills: &'a [Kill<'a>]) -> Matrix<'a> {
        let Selection { suite, sides, whole, .. } = &self.selection;
        Matrix { catalogue: &suite.catalogue, sides, kills, whole: *whole }
    }

    fn run_mutant<'a>(
        &'a self,
        mutant: &'a Mutant,
        side: Side,
        harness: &mut Harness,
    ) -> Result<Kill<'a>, Failure> {
        let offer = harness.loaded().offer(&Machine::simulated());
        let cases = self.ordered_cases(mutant, side);
        let mut kill = Kill::new(mutant);
        for case in self.runnable(&cases, &offer) {
            kill.add(&self.judge_cases(mutant, &[case], &offer, harness)?);
            if kill.killed() {
                break;
            }
        }
        Ok(kill)
    }

    /// All cases, in the order of a run that certifies: the first cause depends on all findings.
    fn first_cause<'a>(
        &'a self,
        mutant: &'a Mutant,
        side: Side,
        harness: &mut Harness,
    ) -> Result<FirstCause<'a>, Failure> {
        let offer = harness.loaded().offer(&Machine::simulated());
        let cases: Vec<&PlannedCase> = self.selection.suite.cases_of(side).collect();
        let judged = self.judge_cases(mutant, &self.runnable(&cases, &offer), &offer, harness)?;
        Ok(FirstCause::new(&self.selection.suite.catalogue, mutant, &judged))
    }

    fn runnable<'c>(&self, cases: &[&'c PlannedCase], offer: &Offer) -> Vec<&'c PlannedCase> {
        decide(&self.selection.suite.catalogue, cases, offer).0
    }

    /// Runs cases, and what the fault sweep makes of them if only that finds the mutant.
    fn judge_cases(
        &self,
        mutant: &Mutant,
        cases: &[&PlannedCase],
        offer: &Offer,
        harness: &mut Harness,
    ) -> Result<Vec<Judged>, Failure> {
        let catalogue = &self.selection.suite.catalogue;
        let RunOutput { observations, .. } = harness.run(cases, &mut ())?;
        let decisions = vec![Applicability::Run; cases.len()];
        let mut judged = judge_all(catalogue, cases, decisions, observations);
        if mutant.faults {
            let width = fault_sweep::width_of_kills(offer.flavor);
            let isolation = fault_sweep::default_isolation(offer.flavor);
            let swept = fault_sweep::run(
                catalogue,
                harness,
                &judged,
                (width, isolation),
                (Needed::default(), None),
                &mut (),
            )?;
            judged.extend(swept.judged);
        }
        Ok(judged)
    }

    /// All cases of the side in the order in which they are likely to find this mutant: those that
    /// the registry names, those that state what it breaks, those that perform an operation which
    /// stands for it, and one of each group in turn, because what no case states is checked in all.
    fn ordered_cases(&self, mutant: &Mutant, side: Side) -> Vec<&PlannedCase> {
        let catalogue = &self.selection.suite.catalogue;
        let states = |case: &PlannedCase| case.requirements().any(|id| mutant.breaks.contains(id));
        let performs = |case: &PlannedCase| {
            let operations =
                case.steps.iter().filter_map(|step| catalogue.by_operation(side, step.r#do.name()));
            operations.into_iter().any(|requirement| mutant.breaks.contains(&requirement.id))
        };
        let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
        let mut turns: Vec<(u8, usize, &PlannedCase)> = Vec::new();
        for case in self.selection.suite.cases_of(side) {
            let rank = if mutant.found_in.contains(&case.id) {
                0
            } else if states(case) {
                1
            } else if performs(case) {
                2
            } else {
                3
            };
            let turn = groups.entry(case.group()).or_default();
            turns.push((rank, *turn, case));
            *turn += 1;
        }
        turns.sort_by_key(|(rank, turn, _)| (*rank, *turn));
        turns.into_iter().map(|(_, _, case)| case).collect()
    }
}
