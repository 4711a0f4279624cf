//! Runs cases that shared a process once more, each in a process of its own, before anybody is
//! blamed: an earlier case may have damaged the process.

use allocert_harness::{Harness, Isolation};
use allocert_suite::plan::PlannedCase;
use allocert_suite::run_format::Judged;
use allocert_suite::verdict::Verdict;
use allocert_suite::{Catalogue, judge};

use crate::failure::Failure;

/// Replaces the observation and the judgement of each case that does not conform, or has a finding
/// of any level. Gives the cases that violate only after others.
pub(crate) fn rerun_alone(
    catalogue: &Catalogue,
    harness: &mut Harness,
    judged: &mut [Judged],
) -> Result<Vec<String>, Failure> {
    let suspects: Vec<usize> =
        (0..judged.len()).filter(|index| !judged[*index].is_clear()).collect();
    let cases: Vec<PlannedCase> =
        suspects.iter().map(|index| judged[*index].case.clone()).collect();
    let cases: Vec<&PlannedCase> = cases.iter().collect();
    let output = harness.run_isolated(&cases, Isolation::Case, &mut ())?;
    let mut only_after_others = Vec::new();
    for (index, observation) in suspects.into_iter().zip(output.observations) {
        let judged = &mut judged[index];
        let violated = judged.judgement.verdict == Verdict::Violates;
        judged.judgement = judge::judge(catalogue, &judged.case, &observation);
        judged.observation = Some(observation);
        if violated && judged.judgement.verdict == Verdict::Conforms {
            only_after_others.push(judged.case.id.clone());
        }
    }
    Ok(only_after_others)
}
