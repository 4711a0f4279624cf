//! `allocert variants`: which freedoms each variant uses, and whether a case blames it for that.

use std::collections::BTreeMap;

use allocert_requirements::{Catalogue, Freedom, Level, Side, Variant};

use crate::report::clean;
use crate::report::table::align;
use crate::run_format::Judged;

/// How many findings of a variant are shown.
const SHOWN: usize = 5;

/// What the suite said of one variant.
#[derive(Debug, Clone)]
pub struct VariantResult<'a> {
    pub variant: &'a Variant,
    /// The cases that were run and judged.
    pub cases: usize,
    /// What went wrong, by requirement or verdict: how often, and the first case with its message.
    pub faults: BTreeMap<String, Fault>,
    /// Findings below MUST.
    pub warnings: BTreeMap<String, usize>,
}

/// Why a variant does not conform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub count: usize,
    /// The id of the first case.
    pub case: String,
    pub message: String,
}

impl<'a> VariantResult<'a> {
    /// Sums up the cases that were run on a variant.
    #[must_use]
    pub fn new(variant: &'a Variant, judged: &[Judged]) -> Self {
        let mut result =
            Self { variant, cases: 0, faults: BTreeMap::new(), warnings: BTreeMap::new() };
        judged.iter().for_each(|judged| result.add(judged));
        result
    }

    fn add(&mut self, judged: &Judged) {
        let verdict = &judged.judgement.verdict;
        self.cases += usize::from(verdict.ran());
        if verdict.is_worthless() {
            self.fault(verdict.name(), &judged.case.id, &format!("{verdict:?}"));
        }
        for finding in &judged.judgement.findings {
            let id = &finding.requirement;
            match finding.level {
                Level::Must => {
                    let message =
                        format!("expected {}, observed {}", finding.expected, finding.observed);
                    self.fault(id, &finding.case, &message);
                }
                Level::Should | Level::May => *self.warnings.entry(id.clone()).or_default() += 1,
            }
        }
    }

    fn fault(&mut self, what: &str, case: &str, message: &str) {
        let fault = self.faults.entry(what.to_owned()).or_insert_with(|| Fault {
            count: 0,
            case: case.to_owned(),
            message: clean(message),
        });
        fault.count += 1;
    }

    /// Whether cases were run, and none found a violation of a MUST.
    #[must_use]
    pub fn conforms(&self) -> bool {
        self.cases > 0 && self.faults.is_empty()
    }
}

/// What the suite said of all variants.
#[derive(Debug, Clone, Copy)]
pub struct VariantMatrix<'a> {
    pub catalogue: &'a Catalogue,
    pub sides: &'a [Side],
    pub results: &'a [VariantResult<'a>],
    /// Whether all variants of these sides were run, so that a freedom without one has none.
    pub whole: bool,
}

impl<'a> VariantMatrix<'a> {
    /// Whether every variant conforms, and every freedom has one, if all were run.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.results.iter().all(VariantResult::conforms)
            && !(self.whole && self.freedoms().any(|freedom| self.users(freedom).next().is_none()))
    }

    fn freedoms(&self) -> impl Iterator<Item = &'a Freedom> {
        self.sides.iter().flat_map(|side| self.catalogue.freedoms(*side))
    }

    fn users(&self, freedom: &Freedom) -> impl Iterator<Item = &'a VariantResult<'a>> {
        let id = freedom.id.clone();
        self.results.iter().filter(move |result| result.variant.uses.contains(&id))
    }
}

/// Renders a row for each freedom with its variants, what is held against them, and the sum.
#[must_use]
pub fn render(matrix: &VariantMatrix<'_>) -> String {
    let mut rows = vec![["freedom", "conforming", "variants"].map(str::to_owned).to_vec()];
    let known = matrix.freedoms().filter(|one| matrix.whole || matrix.users(one).next().is_some());
    rows.extend(known.map(|freedom| row(matrix, freedom)));
    let mut lines = align(&rows, usize::MAX);
    lines.push(String::new());
    lines.extend(matrix.results.iter().filter(|result| !result.conforms()).flat_map(blamed));
    lines.push(closing(matrix));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn row(matrix: &VariantMatrix<'_>, freedom: &Freedom) -> Vec<String> {
    let users: Vec<_> = matrix.users(freedom).collect();
    let share = match users.len() {
        0 => "no variant".to_owned(),
        all => format!("{} of {all}", users.iter().filter(|result| result.conforms()).count()),
    };
    let name = |result: &&VariantResult<'_>| match result.conforms() {
        true => result.variant.name.clone(),
        false => format!("({})", result.variant.name),
    };
    vec![freedom.id.clone(), share, users.iter().map(name).collect::<Vec<_>>().join(", ")]
}

/// What is held against a variant: the suite is wrong in each of these places.
fn blamed(result: &VariantResult<'_>) -> Vec<String> {
    let Variant { name, about, .. } = result.variant;
    let mut lines = vec![format!("blamed: {name} {about}")];
    if result.cases == 0 {
        lines.push("  no case was run and judged".to_owned());
    }
    let line = |(what, fault): (&String, &Fault)| {
        let Fault { count, case, message } = fault;
        format!("  {count} times {what}, first in {case}: {message}")
    };
    lines.extend(result.faults.iter().take(SHOWN).map(line));
    if let Some(more) = result.faults.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        lines.push(format!("  and {more} more requirements"));
    }
    lines
}

fn closing(matrix: &VariantMatrix<'_>) -> String {
    let conforming = matrix.results.iter().filter(|result| result.conforms()).count();
    let cases: usize = matrix.results.iter().map(|result| result.cases).sum();
    let warned = matrix.results.iter().filter(|result| !result.warnings.is_empty()).count();
    format!(
        "{conforming} of {} variants conform, {cases} cases run; {warned} have warnings",
        matrix.results.len()
    )
}
