//! `allocert mutants --first-cause`: the likeliest cause that a report on each mutant names, and
//! whether that is what the mutant breaks.

use allocert_requirements::{Catalogue, Mutant};

use crate::causes::causes;
use crate::report::table::align;
use crate::run_format::Judged;

/// What a report on a mutant names first.
#[derive(Debug, Clone)]
pub struct FirstCause<'a> {
    pub mutant: &'a Mutant,
    /// The requirement; `None` if nothing was found.
    pub requirement: Option<String>,
    /// The findings that the cause accounts for, of all.
    pub share: (usize, usize),
}

impl<'a> FirstCause<'a> {
    /// Reads it from all cases of a run.
    #[must_use]
    pub fn new(catalogue: &Catalogue, mutant: &'a Mutant, judged: &[Judged]) -> Self {
        let causes = causes(catalogue, judged);
        let all = causes.iter().map(|cause| cause.len()).sum();
        let first = causes.first();
        let requirement = first.map(|cause| cause.first().finding.requirement.clone());
        Self { mutant, requirement, share: (first.map_or(0, |cause| cause.len()), all) }
    }

    /// Whether the report names what the mutant breaks, or what its entry says instead.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.requirement.as_deref().is_some_and(|id| self.mutant.may_be_reported_as(id))
    }
}

/// Renders a row for each mutant whose report names another requirement, and the sum.
#[must_use]
pub fn render(first_causes: &[FirstCause<'_>]) -> String {
    let mut rows =
        vec![["mutant", "first cause", "findings", "expected"].map(str::to_owned).to_vec()];
    rows.extend(first_causes.iter().filter(|one| !one.is_right()).map(row));
    let mut lines = if rows.len() == 1 { Vec::new() } else { align(&rows, usize::MAX) };
    let right = first_causes.iter().filter(|one| one.is_right()).count();
    lines.push(format!(
        "{right} of {} mutants are reported as a violation of what they break",
        first_causes.len()
    ));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn row(first_cause: &FirstCause<'_>) -> Vec<String> {
    let FirstCause { mutant, requirement, share: (of, all) } = first_cause;
    let expected = match &mutant.reported_as {
        Some(reported_as) => reported_as.requirement.clone(),
        None => mutant.breaks.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
    };
    let requirement = requirement.clone().unwrap_or_else(|| "none".to_owned());
    vec![mutant.name.clone(), requirement, format!("{of} of {all}"), expected]
}
