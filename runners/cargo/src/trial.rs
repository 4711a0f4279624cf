//! One case as a trial.

use std::sync::Arc;

use allocert_harness::Machine;
use allocert_suite::applicability::{Applicability, applicability};
use allocert_suite::plan::PlannedCase;
use allocert_suite::verdict::{Finding, Judgement, Verdict};
use allocert_suite::{Catalogue, judge};
use libtest_mimic::{Completion, Failed, Trial};

use crate::worker_pool::WorkerPool;

pub(crate) fn trial(case: PlannedCase, catalogue: Arc<Catalogue>, pool: Arc<WorkerPool>) -> Trial {
    Trial::ignorable_test(case.id.clone(), move || {
        let judgement = pool.with(|harness| {
            let decision =
                applicability(&case, &catalogue, &harness.loaded().offer(&Machine::simulated()));
            if decision != Applicability::Run {
                return Ok(judge::not_run(&case, decision));
            }
            let output = harness.run(&[&case], &mut ())?;
            let observation = output.observations.first().expect("the harness observes each case");
            Ok(judge::judge(&catalogue, &case, observation))
        })?;
        complete(&judgement)
    })
}

fn complete(judgement: &Judgement) -> Result<Completion, Failed> {
    match &judgement.verdict {
        Verdict::NotApplicable { reason } | Verdict::NotObserved { reason } => {
            Ok(Completion::ignored_with(reason))
        }
        Verdict::Conforms | Verdict::ExpectedViolation => Ok(Completion::Completed),
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

fn describe(finding: &Finding) -> String {
    let Finding { requirement, level, place, expected, observed, .. } = finding;
    format!(
        "{level} {requirement}: the subject violated this at {place}\n  expected  {expected}\n  \
         observed  {observed}"
    )
}
