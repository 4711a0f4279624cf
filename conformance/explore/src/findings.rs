//! Chooses the finding by which a sequence is shrunk, and the finding that explains the remaining
//! steps best.

use allocert_requirements::Level;
use allocert_suite::verdict::{Finding, Judgement};

use crate::demand::RequirementIds;

/// The finding to shrink by: a MUST before others, the earliest, one that names no circumstances.
#[must_use]
pub fn first<'a>(judgement: &'a Judgement, requirements: &RequirementIds) -> Option<&'a Finding> {
    let order = |finding: &&Finding| {
        (
            finding.level != Level::Must,
            finding.step.unwrap_or(u32::MAX),
            requirements.is_circumstance(&finding.requirement),
            finding.requirement.clone(),
        )
    };
    credible(judgement).min_by_key(order)
}

/// The finding that says most about the step at which this requirement is broken.
pub(crate) fn most_specific<'a>(
    judgement: &'a Judgement,
    requirement: &str,
    requirements: &RequirementIds,
) -> Option<&'a Finding> {
    let plain = of_requirement(judgement, requirement)?;
    let same = |finding: &&Finding| finding.step == plain.step && finding.level == plain.level;
    credible(judgement)
        .filter(same)
        .find(|finding| requirements.is_circumstance(&finding.requirement))
        .or(Some(plain))
}

/// The first finding of a requirement.
#[must_use]
pub fn of_requirement<'a>(judgement: &'a Judgement, requirement: &str) -> Option<&'a Finding> {
    credible(judgement).find(|finding| finding.requirement == requirement)
}

/// The findings, unless the record is worthless.
fn credible(judgement: &Judgement) -> impl Iterator<Item = &Finding> {
    let worthless = judgement.verdict.is_worthless();
    judgement.findings.iter().filter(move |_| !worthless)
}
