//! Decides which planned cases run, and judges what the harness observed of them.

use allocert_suite::applicability::{Applicability, applicability};
use allocert_suite::observation::Observation;
use allocert_suite::offer::Offer;
use allocert_suite::plan::PlannedCase;
use allocert_suite::run_format::Judged;
use allocert_suite::{Catalogue, judge};

/// Which cases are run, and the decision on each.
pub(crate) fn decide<'c>(
    catalogue: &Catalogue,
    cases: &[&'c PlannedCase],
    offer: &Offer,
) -> (Vec<&'c PlannedCase>, Vec<Applicability>) {
    let decisions: Vec<Applicability> =
        cases.iter().map(|case| applicability(case, catalogue, offer)).collect();
    let all = cases.iter().zip(&decisions);
    let runnable = all.filter(|(_, decision)| **decision == Applicability::Run);
    (runnable.map(|(case, _)| *case).collect(), decisions)
}

/// Every planned case with its judgement, in the order of the plan. `observations` are those of the
/// cases that were run, in the same order.
pub(crate) fn judge_all(
    catalogue: &Catalogue,
    cases: &[&PlannedCase],
    decisions: Vec<Applicability>,
    observations: Vec<Observation>,
) -> Vec<Judged> {
    let mut observations = observations.into_iter();
    let judged = cases.iter().zip(decisions).map(|(case, decision)| {
        let observation = if decision == Applicability::Run { observations.next() } else { None };
        let judgement = match &observation {
            Some(observation) => judge::judge(catalogue, case, observation),
            None => judge::not_run(case, decision),
        };
        Judged { case: (*case).clone(), observation, judgement }
    });
    judged.collect()
}
