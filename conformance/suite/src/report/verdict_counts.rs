//! How many cases have which verdict, by group.

use std::collections::BTreeMap;

use crate::run_format::Judged;
use crate::verdict::Verdict;

/// Cases by verdict.
pub(super) type Counts<'r> = BTreeMap<&'r str, u64>;

/// How many of these cases have which verdict.
pub(super) fn of<'r>(cases: impl IntoIterator<Item = &'r Judged>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for judged in cases {
        *counts.entry(judged.judgement.verdict.name().to_owned()).or_default() += 1;
    }
    counts
}

/// The counts of each group.
pub(super) fn by_group<'r>(
    cases: impl IntoIterator<Item = &'r Judged>,
) -> BTreeMap<&'r str, Counts<'r>> {
    let mut counts: BTreeMap<&str, Counts<'_>> = BTreeMap::new();
    for judged in cases {
        let verdict = judged.judgement.verdict.name();
        *counts.entry(judged.case.group()).or_default().entry(verdict).or_default() += 1;
    }
    counts
}

/// The counts of all groups together.
pub(super) fn total<'r>(groups: &BTreeMap<&'r str, Counts<'r>>) -> Counts<'r> {
    let mut total = Counts::new();
    for (verdict, count) in groups.values().flatten() {
        *total.entry(*verdict).or_default() += count;
    }
    total
}

/// The verdicts that occur, in the order of a summary.
pub(super) fn occurring(total: &Counts<'_>) -> Vec<&'static str> {
    Verdict::NAMES.iter().copied().filter(|name| total.contains_key(name)).collect()
}
