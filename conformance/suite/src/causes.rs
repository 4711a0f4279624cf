//! Groups the findings of a run by cause. Findings of one requirement that say the same are one
//! cause, in however many cases. If the catalogue says that one violation leads to another, the
//! finding of the other in the same case is a consequence of the first. Nothing is dropped: every
//! finding belongs to exactly one cause.

mod shape;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use allocert_requirements::{Catalogue, Consequence, Level, Requirement};

use crate::run_format::Judged;
use crate::verdict::Finding;

/// A finding with the case that it is of.
#[derive(Debug, Clone, Copy)]
pub struct Found<'r> {
    pub judged: &'r Judged,
    pub finding: &'r Finding,
}

/// Findings that come from one thing, likely.
#[derive(Debug)]
pub struct Cause<'r> {
    /// Those that show the cause itself, in the order of the run; at least one.
    pub findings: Vec<Found<'r>>,
    /// Those that follow from it, by requirement.
    pub consequences: BTreeMap<&'r str, Vec<Found<'r>>>,
    /// Why they follow, as the catalogue says it.
    pub because: BTreeSet<&'r str>,
}

impl<'r> Cause<'r> {
    /// The example to show.
    #[must_use]
    pub fn first(&self) -> Found<'r> {
        self.findings[0]
    }

    /// How many findings the cause accounts for.
    #[must_use]
    pub fn len(&self) -> usize {
        self.findings.len() + self.consequence_count()
    }

    /// A cause has a finding, so this is false.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// How many findings follow from those that show it.
    #[must_use]
    pub fn consequence_count(&self) -> usize {
        self.consequences.values().map(Vec::len).sum()
    }

    /// The ids of the cases that show it, each once, in the order of the run.
    #[must_use]
    pub fn cases(&self) -> Vec<&'r str> {
        let mut seen = BTreeSet::new();
        let cases = self.findings.iter().map(|found| found.finding.case.as_str());
        cases.filter(|case| seen.insert(*case)).collect()
    }

    /// Takes the findings of another cause as consequences.
    fn take(&mut self, catalogue: &'r Catalogue, other: Self) {
        let (from, to) =
            (&self.first().finding.requirement, other.first().finding.requirement.as_str());
        let entry = across_cases(catalogue, from, to);
        self.because.extend(entry.map(|entry| entry.because.as_str()));
        self.because.extend(other.because);
        self.consequences.entry(to).or_default().extend(other.findings);
        for (id, findings) in other.consequences {
            self.consequences.entry(id).or_default().extend(findings);
        }
    }

    /// Whether an expectation file lists it.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.first().finding.expected_because.is_some()
    }
}

/// The causes of all findings, the likeliest first: unlisted before listed ones, MUST before
/// SHOULD, then those after which a host can use nothing of the subject. What cases about order
/// find although nothing is out of order comes after what others find, and so does what follows
/// from the violation of another case. Then those come first that account for more findings, and
/// those that show in more cases.
#[must_use]
pub fn causes<'r>(catalogue: &'r Catalogue, cases: &'r [Judged]) -> Vec<Cause<'r>> {
    let mut causes: Vec<Cause<'r>> = Vec::new();
    let mut by_shape: BTreeMap<(&str, Option<&str>, String), usize> = BTreeMap::new();
    for judged in cases {
        let findings = &judged.judgement.findings;
        let roots: Vec<usize> =
            (0..findings.len()).map(|index| root(catalogue, findings, index)).collect();
        let mut own: BTreeMap<usize, usize> = BTreeMap::new();
        for index in (0..findings.len()).filter(|index| roots[*index] == *index) {
            let finding = &findings[index];
            let listed = finding.expected_because.as_deref();
            let key = (finding.requirement.as_str(), listed, shape::of(&finding.observed));
            let cause = *by_shape.entry(key).or_insert_with(|| {
                let (findings, consequences) = (Vec::new(), BTreeMap::new());
                causes.push(Cause { findings, consequences, because: BTreeSet::new() });
                causes.len() - 1
            });
            causes[cause].findings.push(Found { judged, finding });
            own.insert(index, cause);
        }
        for index in (0..findings.len()).filter(|index| roots[*index] != *index) {
            let (finding, root) = (&findings[index], &findings[roots[index]]);
            let cause = &mut causes[own[&roots[index]]];
            cause
                .consequences
                .entry(&finding.requirement)
                .or_default()
                .push(Found { judged, finding });
            let entry = catalogue.consequence(&root.requirement, &finding.requirement);
            cause.because.extend(entry.map(|entry| entry.because.as_str()));
        }
    }
    let mut causes = fold_across_cases(catalogue, causes);
    let about_order = asked_for_order(cases);
    let violated: BTreeSet<(Level, &str)> = causes
        .iter()
        .filter(|cause| !cause.is_listed())
        .map(|cause| (cause.first().finding.level, cause.first().finding.requirement.as_str()))
        .collect();
    causes.sort_by_cached_key(|cause| {
        let finding = cause.first().finding;
        let comes_first = catalogue.get(&finding.requirement).is_some_and(|one| one.comes_first);
        let size = (Reverse(cause.len()), Reverse(cause.cases().len()));
        let order_is_kept = about_order.contains(finding.requirement.as_str())
            && !cause.findings.iter().any(|found| is_out_of_order(found.judged));
        let follows = violated.iter().any(|(level, id)| {
            *level <= finding.level && across_cases(catalogue, id, &finding.requirement).is_some()
        });
        let rank = (Reverse(comes_first && !follows), order_is_kept, follows);
        (cause.is_listed(), finding.level, rank, size)
    });
    causes
}

/// Folds a cause under another one of which the catalogue says that it leads to it in other cases
/// too, if both say the same: then all cases show one error.
fn fold_across_cases<'r>(catalogue: &'r Catalogue, causes: Vec<Cause<'r>>) -> Vec<Cause<'r>> {
    let shapes: Vec<String> =
        causes.iter().map(|cause| shape::of(&cause.first().finding.observed)).collect();
    let leader = |of: usize| {
        (0..causes.len()).find(|one| {
            let (cause, follows) = (causes[*one].first().finding, causes[of].first().finding);
            shapes[*one] == shapes[of]
                && cause.level <= follows.level
                && cause.expected_because == follows.expected_because
                && across_cases(catalogue, &cause.requirement, &follows.requirement).is_some()
        })
    };
    // No violation is a consequence of itself, so each turn reaches another cause.
    let last_leader = |of: usize| {
        (0..causes.len()).try_fold(of, |at, _| leader(at).ok_or(at)).unwrap_or_else(|at| at)
    };
    let leaders: Vec<usize> = (0..causes.len()).map(last_leader).collect();
    let mut all: Vec<Option<Cause<'r>>> = causes.into_iter().map(Some).collect();
    for index in (0..all.len()).filter(|index| leaders[*index] != *index) {
        let Some(folded) = all[index].take() else { continue };
        if let Some(into) = &mut all[leaders[index]] {
            into.take(catalogue, folded);
        }
    }
    all.into_iter().flatten().collect()
}

/// The entry that says why one violation leads to another in other cases too.
fn across_cases<'r>(
    catalogue: &'r Catalogue,
    cause: &str,
    consequence: &str,
) -> Option<&'r Consequence> {
    catalogue.consequence(cause, consequence).filter(|entry| entry.in_other_cases)
}

/// The requirements under which some case asks for order.
fn asked_for_order(cases: &[Judged]) -> BTreeSet<&str> {
    let expectations =
        cases.iter().flat_map(|one| &one.case.steps).flat_map(|step| step.expect.iter());
    expectations
        .filter(|(_, expectation)| expectation.ordered.is_some())
        .map(|(id, _)| id.as_str())
        .collect()
}

/// Whether a case shows accesses that nothing orders. If not, something else made a value wrong.
fn is_out_of_order(judged: &Judged) -> bool {
    judged.judgement.findings.iter().any(Finding::shows_missing_order)
}

/// The finding that this one follows from, and that follows from no other; itself if there is none.
fn root(catalogue: &Catalogue, findings: &[Finding], index: usize) -> usize {
    let mut root = index;
    // No violation is a consequence of itself, so each turn reaches another finding.
    for _ in 0..findings.len() {
        let causes = (0..findings.len())
            .filter(|cause| leads_to(catalogue, &findings[*cause], &findings[root]));
        match causes.min_by_key(|cause| findings[*cause].step) {
            Some(cause) => root = cause,
            None => break,
        }
    }
    root
}

/// Whether one finding of a case leads to another one.
fn leads_to(catalogue: &Catalogue, cause: &Finding, consequence: &Finding) -> bool {
    // `None` is the end of the case.
    let step = |finding: &Finding| finding.step.unwrap_or(u32::MAX);
    let (from, to) = (&cause.requirement, &consequence.requirement);
    let entry = catalogue.consequence(from, to);
    let shows_later = entry.is_some_and(|entry| entry.shows_later);
    let in_order = match entry {
        Some(entry) if entry.at_earlier_step => step(cause) < step(consequence),
        _ => step(cause) <= step(consequence),
    };
    let may = (shows_later || in_order)
        && cause.level <= consequence.level
        && cause.expected_because.is_some() == consequence.expected_because.is_some();
    if !may {
        return false;
    }
    // A defect is seen on the export itself. An expectation under the same requirement may fail
    // because of another defect, which leaves nothing to compare. The requirement of an operation
    // is the cause where the operation raised, too.
    let shows_as_defect_alone =
        |one: &Requirement| !one.defects.is_empty() && one.operation.is_none();
    if cause.defect.is_none() && catalogue.get(from).is_some_and(shows_as_defect_alone) {
        return false;
    }
    if cause.defect.is_some()
        && consequence.defect.is_none()
        && (from == to || catalogue.are_peers(from, to))
    {
        return true;
    }
    // The check saw the calls that an expectation under the same requirement only sees the end of.
    if from == to && cause.check.is_some() && consequence.check.is_none() {
        return true;
    }
    entry.is_some()
}
