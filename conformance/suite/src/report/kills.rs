//! `allocert mutants`: which requirement each mutant breaks, and which of them the suite found
//! broken.

use std::collections::{BTreeMap, BTreeSet};

use allocert_requirements::{Catalogue, Level, Mutant, Requirement, Side};

use crate::report::table::align;
use crate::run_format::Judged;

/// What the suite found in one mutant.
#[derive(Debug, Clone)]
pub struct Kill<'a> {
    pub mutant: &'a Mutant,
    /// Findings by requirement, of cases that were judged.
    pub found: BTreeMap<String, usize>,
    /// Requirements with findings only in cases that ended in a harness error. They do not count.
    pub crashed: BTreeSet<String>,
    /// Cases that were run.
    pub cases: usize,
}

impl<'a> Kill<'a> {
    #[must_use]
    pub fn new(mutant: &'a Mutant) -> Self {
        Self { mutant, found: BTreeMap::new(), crashed: BTreeSet::new(), cases: 0 }
    }

    /// Adds the findings of further cases.
    pub fn add(&mut self, judged: &[Judged]) {
        for judged in judged {
            self.cases += usize::from(judged.observation.is_some());
            let broke_down = judged.judgement.verdict.is_worthless();
            for finding in &judged.judgement.findings {
                if broke_down {
                    self.crashed.insert(finding.requirement.clone());
                } else {
                    *self.found.entry(finding.requirement.clone()).or_default() += 1;
                }
            }
        }
    }

    /// The requirements that it breaks and no case found.
    pub fn unseen(&self) -> impl Iterator<Item = &'a str> {
        self.mutant.breaks.iter().map(String::as_str).filter(|id| !self.found.contains_key(*id))
    }

    /// Whether everything that it breaks was found.
    #[must_use]
    pub fn killed(&self) -> bool {
        self.unseen().next().is_none()
    }
}

/// What the suite found in all mutants.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    pub catalogue: &'a Catalogue,
    pub sides: &'a [Side],
    pub kills: &'a [Kill<'a>],
    /// Whether all mutants of these sides were run, so that a requirement without a kill has none.
    pub whole: bool,
}

impl<'a> Matrix<'a> {
    /// Whether every mutant is killed, and every MUST by one of them, if all were run.
    #[must_use]
    pub fn holds(&self) -> bool {
        let unkilled =
            |one: &&Requirement| one.level == Level::Must && self.killers(one).next().is_none();
        self.kills.iter().all(Kill::killed)
            && !(self.whole && self.demanded().any(|one| unkilled(&one)))
    }

    /// The requirements that a mutant could break and a case on the software driver could find
    /// broken.
    fn demanded(&self) -> impl Iterator<Item = &'a Requirement> {
        let mine = |one: &&Requirement| one.side().is_some_and(|side| self.sides.contains(&side));
        self.catalogue.iter().filter(mine).filter(|one| one.excluded.is_none() && !one.gpu)
    }

    fn breakers(&self, requirement: &Requirement) -> impl Iterator<Item = &'a Kill<'a>> {
        let id = requirement.id.clone();
        self.kills.iter().filter(move |kill| kill.mutant.breaks.contains(&id))
    }

    fn killers(&self, requirement: &Requirement) -> impl Iterator<Item = &'a Kill<'a>> {
        let id = requirement.id.clone();
        self.breakers(requirement).filter(move |kill| kill.found.contains_key(&id))
    }

    /// Whether a mutant breaks it, and only cases that ended in a harness error found it.
    fn crashed_only(&self, requirement: &Requirement) -> bool {
        let crashed = self.breakers(requirement).any(|kill| kill.crashed.contains(&requirement.id));
        crashed && self.killers(requirement).next().is_none()
    }
}

/// Renders a row for each requirement with its mutants, the mutants that survived, and the sums by
/// level.
#[must_use]
pub fn render(matrix: &Matrix<'_>) -> String {
    let mut rows = vec![["requirement", "level", "killed", "by"].map(str::to_owned).to_vec()];
    let known =
        matrix.demanded().filter(|one| matrix.whole || matrix.breakers(one).next().is_some());
    rows.extend(known.map(|requirement| row(matrix, requirement)));
    let mut lines = align(&rows, usize::MAX);
    lines.push(String::new());
    lines.extend(matrix.kills.iter().filter(|kill| !kill.killed()).map(survivor));
    lines.extend(align(&sums(matrix), 1));
    lines.push(String::new());
    lines.push(closing(matrix));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn row(matrix: &Matrix<'_>, requirement: &Requirement) -> Vec<String> {
    let breakers: Vec<&Kill<'_>> = matrix.breakers(requirement).collect();
    let name = |kill: &&Kill<'_>| match kill.found.contains_key(&requirement.id) {
        true => kill.mutant.name.clone(),
        false => format!("({})", kill.mutant.name),
    };
    let names: Vec<String> = breakers.iter().map(name).collect();
    let share = match breakers.len() {
        0 => "no mutant".to_owned(),
        all => format!("{} of {all}", matrix.killers(requirement).count()),
    };
    vec![requirement.id.clone(), requirement.level.to_string(), share, names.join(", ")]
}

fn survivor(kill: &Kill<'_>) -> String {
    let unseen: Vec<&str> = kill.unseen().collect();
    let Mutant { name, about, .. } = kill.mutant;
    let noun = if kill.cases == 1 { "case" } else { "cases" };
    format!(
        "survived: {name} {about}; {} {noun} found no violation of {}",
        kill.cases,
        unseen.join(", ")
    )
}

fn sums(matrix: &Matrix<'_>) -> Vec<Vec<String>> {
    let head = ["", "requirements", "with a mutant", "killed", "killed by a harness error only"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for level in [Level::Must, Level::Should, Level::May] {
        let all: Vec<&Requirement> = matrix.demanded().filter(|one| one.level == level).collect();
        let count =
            |holds: &dyn Fn(&Requirement) -> bool| all.iter().filter(|one| holds(one)).count();
        let broken = count(&|one| matrix.breakers(one).next().is_some());
        let killed = count(&|one| matrix.killers(one).next().is_some());
        let crashed = count(&|one| matrix.crashed_only(one));
        let numbers = [all.len(), broken, killed, crashed].map(|number| number.to_string());
        rows.push(std::iter::once(level.to_string()).chain(numbers).collect());
    }
    rows
}

fn closing(matrix: &Matrix<'_>) -> String {
    let killed = matrix.kills.iter().filter(|kill| kill.killed()).count();
    let cases: usize = matrix.kills.iter().map(|kill| kill.cases).sum();
    format!("{killed} of {} mutants killed, {cases} cases run", matrix.kills.len())
}
