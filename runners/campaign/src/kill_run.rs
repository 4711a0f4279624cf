//! The kill run: the suite on mutants, each until all that it breaks is found.

use std::collections::BTreeMap;

use allocert_harness::{Artifact, Harness, Machine, Progress, RunOutput};
use allocert_requirements::{Mutant, mutant};
use allocert_suite::Side;
use allocert_suite::applicability::{Applicability, applicability};
use allocert_suite::plan::PlannedCase;
use allocert_suite::report::kills::{Kill, Matrix};

use crate::built_subjects::{PythonFolder, Selection, SubjectOptions, SubjectRuns};
use crate::failure::Failure;
use crate::fault_sweep;
use crate::judging::judge_all;
use crate::spool::Needed;
use crate::workers::Workers;

/// How many cases a mutant is run on before its findings are looked at again. Few, because a mutant
/// that hangs may cost [`TIMEOUT_S`] for each.
const ROUND: usize = 3;
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
        let runs = |case: &&&PlannedCase| {
            applicability(case, &self.selection.suite.catalogue, &offer) == Applicability::Run
        };
        let cases: Vec<&PlannedCase> =
            self.ordered_cases(mutant, side).iter().filter(runs).copied().collect();
        let mut kill = Kill::new(mutant);
        for now in cases.chunks(ROUND) {
            let RunOutput { observations, .. } = harness.run(now, &mut ())?;
            let decisions = vec![Applicability::Run; now.len()];
            let clean = judge_all(&self.selection.suite.catalogue, now, decisions, observations);
            kill.add(&clean);
            if mutant.faults {
                let width = fault_sweep::width_of_kills(offer.flavor);
                let isolation = fault_sweep::default_isolation(offer.flavor);
                let catalogue = &self.selection.suite.catalogue;
                let swept = fault_sweep::run(
                    catalogue,
                    harness,
                    &clean,
                    (width, isolation),
                    (Needed::default(), None),
                    &mut (),
                )?;
                kill.add(&swept.judged);
            }
            if kill.killed() {
                break;
            }
        }
        Ok(kill)
    }

    /// All cases of the side in the order in which they are likely to find this mutant: those that
    /// state what it breaks, those that perform an operation which stands for it, and one of each
    /// group in turn, because what no case states is checked in all.
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
            let rank = if states(case) { 0 } else { 2 - u8::from(performs(case)) };
            let turn = groups.entry(case.group()).or_default();
            turns.push((rank, *turn, case));
            *turn += 1;
        }
        turns.sort_by_key(|(rank, turn, _)| (*rank, *turn));
        turns.into_iter().map(|(_, _, case)| case).collect()
    }
}
