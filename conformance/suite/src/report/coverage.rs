//! `allocert coverage`: the cases that test each requirement, the mutants that violate it, and the
//! variants that use each freedom.

use std::collections::{BTreeMap, BTreeSet};

use allocert_requirements::{Catalogue, Level, Requirement, Side, Variant};

use crate::plan::PlannedCase;
use crate::report::table::align;

/// A subject that is built to break one requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mutant<'a> {
    pub name: &'a str,
    /// The id of the requirement that it breaks.
    pub breaks: &'a str,
}

/// The matrix over the requirements of these sides that the profile contains, then the share of
/// each level that is covered, and the freedoms.
#[must_use]
pub fn render(
    catalogue: &Catalogue,
    sides: &[Side],
    cases: &[PlannedCase],
    mutants: &[Mutant<'_>],
    variants: &[Variant],
) -> String {
    let cover = Cover::new(catalogue, cases, mutants);
    let requirements: Vec<&Requirement> = catalogue
        .iter()
        .filter(|one| one.side().is_some_and(|side| sides.contains(&side)))
        .collect();
    let (left_out, requirements): (Vec<_>, Vec<_>) =
        requirements.into_iter().partition(|requirement| catalogue.leaves_out(&requirement.id));
    let mut rows = vec![
        ["requirement", "side", "level", "source", "cases", "mutants"].map(str::to_owned).to_vec(),
    ];
    rows.extend(requirements.iter().map(|requirement| cover.row(requirement)));
    if let [_] = sides {
        rows.iter_mut().for_each(|row| drop(row.remove(1)));
    }
    let mut lines = align(&rows, rows[0].len() - 2);
    lines.push(String::new());
    lines.extend(align(&cover.shares(&requirements), 1));
    let freedoms = freedoms(catalogue, sides, variants);
    if !freedoms.is_empty() {
        lines.push(String::new());
        lines.extend(freedoms);
    }
    if let Some(profile) = catalogue.chosen() {
        lines.push(format!(
            "\nthe profile {} leaves out {} requirements",
            profile.name,
            left_out.len()
        ));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A row for each freedom of the sides, with the number of variants that use it.
fn freedoms(catalogue: &Catalogue, sides: &[Side], variants: &[Variant]) -> Vec<String> {
    let mut rows = vec![["freedom", "source", "variants"].map(str::to_owned).to_vec()];
    rows.extend(sides.iter().flat_map(|side| catalogue.freedoms(*side)).map(|freedom| {
        let users = variants.iter().filter(|variant| variant.uses.contains(&freedom.id)).count();
        let source = format!("{}, {}", freedom.source.text, freedom.source.section);
        vec![freedom.id.clone(), source, users.to_string()]
    }));
    if rows.len() == 1 { Vec::new() } else { align(&rows, 2) }
}

struct Cover<'a> {
    /// Fixture files by requirement.
    cases: BTreeMap<&'a str, BTreeSet<&'a str>>,
    mutants: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Cover<'a> {
    fn new(catalogue: &'a Catalogue, cases: &'a [PlannedCase], mutants: &[Mutant<'a>]) -> Self {
        let mut cover = Self { cases: BTreeMap::new(), mutants: BTreeMap::new() };
        for case in cases {
            let side = case.side;
            let operations =
                case.steps.iter().filter_map(|step| catalogue.by_operation(side, step.r#do.name()));
            let named = case.requirements().filter_map(|id| catalogue.get(id));
            for requirement in named.chain(operations) {
                cover.cases.entry(&requirement.id).or_default().insert(&case.file);
            }
        }
        for mutant in mutants {
            cover.mutants.entry(mutant.breaks).or_default().insert(mutant.name);
        }
        cover
    }

    fn row(&self, requirement: &Requirement) -> Vec<String> {
        let cases = match (&requirement.excluded, requirement.always_on()) {
            (Some(_), _) => "excluded".to_owned(),
            (None, true) => "every".to_owned(),
            (None, false) => self.count(&self.cases, requirement).to_string(),
        };
        let mutants = self.count(&self.mutants, requirement).to_string();
        let source = format!("{}, {}", requirement.source.text, requirement.source.section);
        let side = requirement.side().map_or("", Side::name).to_owned();
        vec![requirement.id.clone(), side, requirement.level.to_string(), source, cases, mutants]
    }

    /// By level, over the requirements that can be tested.
    fn shares(&self, requirements: &[&Requirement]) -> Vec<Vec<String>> {
        let mut rows =
            vec![["", "requirements", "with a case", "with a mutant"].map(str::to_owned).to_vec()];
        for level in [Level::Must, Level::Should, Level::May] {
            let testable = |one: &&&Requirement| one.level == level && one.excluded.is_none();
            let all: Vec<&Requirement> = requirements.iter().filter(testable).copied().collect();
            let tested = all
                .iter()
                .filter(|one| one.always_on() || self.count(&self.cases, one) > 0)
                .count();
            let killed = all.iter().filter(|one| self.count(&self.mutants, one) > 0).count();
            rows.push(vec![
                level.to_string(),
                all.len().to_string(),
                share(tested, all.len()),
                share(killed, all.len()),
            ]);
        }
        rows
    }

    fn count(&self, of: &BTreeMap<&'a str, BTreeSet<&'a str>>, requirement: &Requirement) -> usize {
        of.get(requirement.id.as_str()).map_or(0, BTreeSet::len)
    }
}

fn share(part: usize, whole: usize) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{part} ({}%)", part * 100 / whole),
    }
}
