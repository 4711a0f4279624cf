//! The variant run: the whole suite on subjects that use freedoms. No case may fail one.

use allocert_harness::{Artifact, Harness, Isolation, Machine, Progress};
use allocert_requirements::{Catalogue, Variant, mutant, variant};
use allocert_suite::Side;
use allocert_suite::plan::PlannedCase;
use allocert_suite::report::variant_runs::{VariantMatrix, VariantResult};

use crate::built_subjects::{PythonFolder, Selection, SubjectOptions, SubjectRuns};
use crate::failure::Failure;
use crate::judging::{decide, judge_all};
use crate::profiles;
use crate::rerun_shared::rerun_alone;
use crate::workers::Workers;

/// Variants derive from the conforming subjects that mutants are made of.
const PYTHON_FOLDERS: &[PythonFolder] =
    &[("mutants", mutant::PYTHON), ("variants", variant::PYTHON)];

/// Variants and the suite that they conform to.
#[derive(Debug)]
pub struct VariantRun {
    selection: Selection<Variant>,
    runs: SubjectRuns,
}

impl VariantRun {
    /// Selects the variants.
    ///
    /// # Errors
    /// What is wrong with the options, or that no variant is wanted.
    pub fn plan(options: &SubjectOptions) -> Result<Self, Failure> {
        let selection = Selection::new(options, variant::embedded()?)?;
        let runs = SubjectRuns::new(Artifact::Variants, PYTHON_FOLDERS, None, options.jobs);
        Ok(Self { selection, runs })
    }

    /// Runs all of them; what was found, in their order.
    ///
    /// # Errors
    /// A variant cannot be loaded, or what kept the harness from its work.
    pub fn run<'a>(
        &'a self,
        workers: &Workers,
        progress: &mut dyn Progress,
    ) -> Result<Vec<VariantResult<'a>>, Failure> {
        let run_one =
            |variant, side, harness: &mut Harness| self.run_variant(variant, side, harness);
        self.runs.run(&self.selection, workers, progress, run_one)
    }

    /// What a renderer takes.
    #[must_use]
    pub fn matrix<'a>(&'a self, results: &'a [VariantResult<'a>]) -> VariantMatrix<'a> {
        let Selection { suite, sides, whole, .. } = &self.selection;
        VariantMatrix { catalogue: &suite.catalogue, sides, results, whole: *whole }
    }

    /// Runs the cases of a group in one process, which takes half of the time, and then each case
    /// that does not conform there, or has a warning, in a process of its own.
    fn run_variant<'a>(
        &'a self,
        variant: &'a Variant,
        side: Side,
        harness: &mut Harness,
    ) -> Result<VariantResult<'a>, Failure> {
        let catalogue = self.catalogue(variant, side)?;
        let offer = harness.loaded().offer(&Machine::simulated());
        let cases: Vec<&PlannedCase> = self.selection.suite.cases_of(side).collect();
        let (runnable, decisions) = decide(&catalogue, &cases, &offer);
        let output = harness.run_isolated(&runnable, Isolation::Group, &mut ())?;
        let mut judged = judge_all(&catalogue, &cases, decisions, output.observations);
        // What violates only after other cases is no fault of the variant: the judgement of the
        // second run counts.
        rerun_alone(&catalogue, harness, &mut judged)?;
        Ok(VariantResult::new(variant, &judged))
    }

    /// The catalogue with the profile that the variant is held to.
    fn catalogue(&self, variant: &Variant, side: Side) -> Result<Catalogue, Failure> {
        let mut catalogue = self.selection.suite.catalogue.clone();
        let named = variant.profile.as_deref();
        let profile = profiles::of(&catalogue, side.interface(), named)?;
        catalogue.choose(profile);
        Ok(catalogue)
    }
}
