//! The variant run: the whole suite on subjects that use freedoms. No case may fail one.

use std::num::NonZeroUsize;

use allocert_harness::{Artifact, Harness, Machine, Progress};
use allocert_requirements::{Catalogue, Flavor, Variant, mutant, variant};
use allocert_suite::Side;
use allocert_suite::plan::PlannedCase;
use allocert_suite::report::variants::{VariantMatrix, VariantResult};

use crate::built_subjects::{PythonFolder, SubjectRuns};
use crate::case_filter::glob;
use crate::failure::Failure;
use crate::judging::{decide, judge_all};
use crate::suite::Suite;
use crate::workers::Workers;
use crate::{profiles, side_names};

/// Variants derive from the conforming subjects that mutants are made of.
const PYTHON_FOLDERS: &[PythonFolder] =
    &[("mutants", mutant::PYTHON), ("variants", variant::PYTHON)];

/// Which variants a user wants run.
#[derive(Debug, Clone, Default)]
pub struct VariantRunOptions {
    /// The name of the side; without it all that there are cases for.
    pub interface: Option<String>,
    /// A glob over the names of the variants.
    pub filter: Option<String>,
    pub flavor: Option<Flavor>,
    /// Variants side by side.
    pub jobs: Option<NonZeroUsize>,
}

/// Variants and the suite that they conform to.
#[derive(Debug)]
pub struct VariantRun {
    suite: Suite,
    sides: Vec<Side>,
    variants: Vec<Variant>,
    /// Whether these are all variants of the sides.
    whole: bool,
    runs: SubjectRuns,
}

impl VariantRun {
    /// Selects the variants.
    ///
    /// # Errors
    /// What is wrong with the options, or that no variant is wanted.
    pub fn plan(options: &VariantRunOptions) -> Result<Self, Failure> {
        let suite = Suite::load()?;
        let sides = match options.interface.as_deref() {
            Some(name) => vec![side_names::side(name, &suite)?],
            None => Side::all().filter(|side| suite.certifies(*side)).collect(),
        };
        let filter = options.filter.as_deref();
        let glob = filter.map(glob).transpose()?;
        let mut variants = variant::embedded()?;
        variants.retain(|variant| {
            let named = glob.as_ref().is_none_or(|glob| glob.is_match(&variant.name));
            let sided = variant.side(&suite.catalogue).is_some_and(|side| sides.contains(&side));
            named && sided && options.flavor.is_none_or(|flavor| flavor == variant.flavor)
        });
        if variants.is_empty() {
            let message = format!("nothing to do: no variant matches `{}`", filter.unwrap_or("*"));
            return Err(Failure::nothing_ran(message));
        }
        let whole = filter.is_none() && options.flavor.is_none();
        let runs = SubjectRuns::new(Artifact::Mutants, PYTHON_FOLDERS, None, options.jobs);
        Ok(Self { suite, sides, variants, whole, runs })
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
        let catalogue = &self.suite.catalogue;
        let variants: Vec<(&Variant, Side)> = self
            .variants
            .iter()
            .filter_map(|variant| Some((variant, variant.side(catalogue)?)))
            .collect();
        let run_one =
            |variant, side, harness: &mut Harness| self.run_variant(variant, side, harness);
        self.runs.run(&variants, workers, progress, run_one)
    }

    /// What a renderer takes.
    #[must_use]
    pub fn matrix<'a>(&'a self, results: &'a [VariantResult<'a>]) -> VariantMatrix<'a> {
        let (catalogue, sides) = (&self.suite.catalogue, &self.sides);
        VariantMatrix { catalogue, sides, results, whole: self.whole }
    }

    fn run_variant<'a>(
        &'a self,
        variant: &'a Variant,
        side: Side,
        harness: &mut Harness,
    ) -> Result<VariantResult<'a>, Failure> {
        let catalogue = self.catalogue(variant, side)?;
        let offer = harness.loaded().offer(&Machine::simulated());
        let cases: Vec<&PlannedCase> = self.suite.cases_of(side).collect();
        let (runnable, decisions) = decide(&catalogue, &cases, &offer);
        let output = harness.run(&runnable, &mut ())?;
        let judged = judge_all(&catalogue, &cases, decisions, output.observations);
        Ok(VariantResult::new(variant, &judged))
    }

    /// The catalogue with the profile that the variant is held to.
    fn catalogue(&self, variant: &Variant, side: Side) -> Result<Catalogue, Failure> {
        let mut catalogue = self.suite.catalogue.clone();
        let named = variant.profile.as_deref();
        let profile = profiles::of(&catalogue, side.interface(), named)?;
        catalogue.choose(profile);
        Ok(catalogue)
    }
}
