//! One case as a trial.

use std::env;
use std::sync::Arc;

use allocert_harness::{Error, Harness, Machine};
use allocert_suite::applicability::{Applicability, applicability};
use allocert_suite::plan::PlannedCase;
use allocert_suite::report::clean;
use allocert_suite::verdict::{Finding, Judgement, Verdict};
use allocert_suite::{Catalogue, judge};
use libtest_mimic::{Completion, Failed, Trial};

use crate::known::Known;
use crate::worker_pool::WorkerPool;

/// What all trials share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) catalogue: Catalogue,
    pub(crate) pool: WorkerPool,
    pub(crate) known: Option<Known>,
    pub(crate) allow_not_observed: bool,
}

/// Stands for `--allow-not-observed`: the arguments are those of libtest.
const ALLOW_NOT_OBSERVED: &str = "ALLOCERT_ALLOW_NOT_OBSERVED";

pub(crate) fn trial(case: PlannedCase, shared: Arc<Shared>) -> Trial {
    Trial::ignorable_test(case.id.clone(), move || {
        let Shared { catalogue, pool, known, allow_not_observed } = &*shared;
        let judgement = pool.with(|harness| {
            let mut judgement = judged(&case, catalogue, harness)?;
            if let Some(known) = known {
                known.mark(harness.loaded(), &mut judgement);
            }
            Ok(judgement)
        })?;
        complete(&judgement, *allow_not_observed || allows_not_observed())
    })
}

fn judged(
    case: &PlannedCase,
    catalogue: &Catalogue,
    harness: &mut Harness,
) -> Result<Judgement, Error> {
    let decision = applicability(case, catalogue, &harness.loaded().offer(&Machine::simulated()));
    if decision != Applicability::Run {
        return Ok(judge::not_run(case, decision));
    }
    let output = harness.run(&[case], &mut ())?;
    let observation = output.observations.first().expect("the harness observes each case");
    Ok(judge::judge(catalogue, case, observation))
}

fn complete(judgement: &Judgement, allows_not_observed: bool) -> Result<Completion, Failed> {
    match &judgement.verdict {
        Verdict::NotObserved { reason }
            if judgement.is_unseen() && judgement.fails_the_run() && !allows_not_observed =>
        {
            Err(format!("not observed: {reason}").into())
        }
        Verdict::NotApplicable { reason } | Verdict::NotObserved { reason } => {
            Ok(Completion::ignored_with(reason))
        }
        Verdict::Conforms => Ok(Completion::Completed),
        Verdict::ExpectedViolation => {
            let mut findings = judgement.findings.iter();
            let because = findings.find_map(|finding| finding.expected_because.as_deref());
            let because = clean(because.unwrap_or_default());
            Ok(Completion::ignored_with(format!("known violation: {because}")))
        }
        Verdict::Unusable { message } => {
            Err(format!("the subject cannot be used: {message}").into())
        }
        Verdict::HarnessError { message } => {
            Err(format!("allocert could not do its work: {message}").into())
        }
        Verdict::UnexpectedConformance { message } => Err(message.into()),
        Verdict::Violates => {
            Err(judgement.findings.iter().map(describe).collect::<Vec<_>>().join("\n").into())
        }
    }
}

/// Whether a case that ran without showing what it asks about is ignored.
fn allows_not_observed() -> bool {
    env::var_os(ALLOW_NOT_OBSERVED).is_some_and(|value| !value.is_empty())
}

fn describe(finding: &Finding) -> String {
    let Finding { requirement, level, place, expected, observed, .. } = finding;
    format!(
        "{level} {requirement}: the subject violated this at {place}\n  expected  {expected}\n  \
         observed  {observed}"
    )
}

#[cfg(test)]
mod tests {
    use allocert_suite::reason::Reason;

    use super::*;

    #[test]
    fn a_case_that_is_not_observed_fails_unless_it_is_allowed() {
        let ends = |reason: Reason, allowed| {
            let verdict = Verdict::NotObserved { reason };
            complete(&Judgement::without_findings("emm/a/b", verdict), allowed).is_ok()
        };
        let unseen = || Reason::NotInDriver { step: 3, function: "cuGetExportTable".to_owned() };
        assert!(!ends(unseen(), false) && ends(unseen(), true));
        assert!(ends(Reason::TooFewDevices { needed: 2, found: 1 }, false));
    }
}
