//! Which of a judgement's findings a sequence is shrunk by, and which one tells most about what is
//! left.

use allocert_requirements::Level;
use allocert_suite::verdict::{Finding, Judgement};

/// What an operation shows besides that it works at all: the same failure under these ids says when
/// it happens. The circumstances of a long sequence are chance, those that shrinking leaves are the
/// cause.
const TELLING: &[&str] = &[
    "EMM-CLOSE-03",
    "EMM-DEFER-03",
    "EMM-DEFER-09",
    "EMM-DEFER-11",
    "EMM-FINAL-10",
    "EMM-FINAL-11",
    "EMM-HOST-08",
    "EMM-IPC-10",
    "EMM-OOM-04",
    "EMM-PIN-05",
    "EMM-PIN-06",
    "EMM-RESET-03",
    "EMM-RESET-08",
    "EMM-RESET-09",
    "EMM-RESET-10",
    "EMM-RESET-15",
];

/// The finding to shrink by: a MUST before others, the earliest, one that names no circumstances.
#[must_use]
pub fn first(judgement: &Judgement) -> Option<&Finding> {
    let order = |finding: &&Finding| {
        let telling = TELLING.contains(&finding.requirement.as_str());
        (
            finding.level != Level::Must,
            finding.step.unwrap_or(u32::MAX),
            telling,
            finding.requirement.clone(),
        )
    };
    known(judgement).min_by_key(order)
}

/// The finding that says most about the step at which this requirement is broken.
pub(crate) fn telling<'a>(judgement: &'a Judgement, requirement: &str) -> Option<&'a Finding> {
    let plain = of(judgement, requirement)?;
    let same = |finding: &&Finding| finding.step == plain.step && finding.level == plain.level;
    known(judgement)
        .filter(same)
        .find(|finding| TELLING.contains(&finding.requirement.as_str()))
        .or(Some(plain))
}

/// The first finding of a requirement.
#[must_use]
pub fn of<'a>(judgement: &'a Judgement, requirement: &str) -> Option<&'a Finding> {
    known(judgement).find(|finding| finding.requirement == requirement)
}

/// Nothing is said by a record that is worthless.
fn known(judgement: &Judgement) -> impl Iterator<Item = &Finding> {
    let worthless = judgement.verdict.is_worthless();
    judgement.findings.iter().filter(move |_| !worthless)
}
