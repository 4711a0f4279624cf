//! `allocert coverage [INTERFACE]`

use std::process::ExitCode;

use allocert_campaign::{Failure, Suite, find_side, profiles};
use allocert_requirements::{Mutant, mutant, variant};
use allocert_suite::plan::PlannedCase;
use allocert_suite::report::coverage;

use crate::terminal;

pub(crate) fn coverage(word: &str, profile: Option<&str>) -> Result<ExitCode, Failure> {
    let sides = find_side::sides(word)?;
    let mut suite = Suite::of(&sides)?;
    if let (Some(name), Some(side)) = (profile, sides.first()) {
        let profile = profiles::of(&suite.catalogue, side.interface(), Some(name))?;
        suite.catalogue.choose(profile);
    }
    let cases: Vec<PlannedCase> =
        suite.cases.iter().filter(|case| sides.contains(&case.side)).cloned().collect();
    let mutants = mutant::embedded()?;
    let breaches: Vec<_> = mutants.iter().flat_map(breaches).collect();
    let variants = variant::embedded()?;
    terminal::print(&coverage::render(&suite.catalogue, &sides, &cases, &breaches, &variants))?;
    Ok(ExitCode::SUCCESS)
}

/// One line of the matrix for each requirement that a mutant breaks.
fn breaches(mutant: &Mutant) -> impl Iterator<Item = coverage::Mutant<'_>> {
    mutant.breaks.iter().map(|id| coverage::Mutant { name: &mutant.name, breaks: id })
}
