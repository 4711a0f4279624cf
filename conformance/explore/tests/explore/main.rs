//! Sequences, their shrinking and what is written of them, without any subject.
#![forbid(unsafe_code)]

mod fixtures;
mod reports;
mod sequences;
mod shrinking;
mod summaries;

use std::collections::BTreeSet;
use std::sync::Arc;

use allocert_explore::{Exploration, RequirementIds};
use allocert_suite::nouns::Need;
use allocert_suite::plan::PlannedCase;
use allocert_suite::verdict::{Finding, Judgement, Place, Verdict};
use allocert_suite::{Catalogue, Level, Side};

fn exploration(seed: u64, ops: u64) -> Exploration {
    let offer = BTreeSet::from([
        Need::DeviceMemory,
        Need::HostMemory,
        Need::MemoryInfo,
        Need::Ipc,
        Need::TwoDevices,
    ]);
    Exploration::new(Side::Emm, seed, ops, offer, &catalogue())
        .expect("the catalogue names every demand")
}

/// Of handlers of NumPy.
fn handler_exploration(seed: u64, ops: u64) -> Exploration {
    Exploration::new(Side::Nep49, seed, ops, BTreeSet::new(), &catalogue())
        .expect("the catalogue names every demand")
}

fn catalogue() -> Catalogue {
    Catalogue::embedded().expect("the catalogue is read by its own tests")
}

fn requirements() -> Arc<RequirementIds> {
    Arc::clone(exploration(0, 0).requirements())
}

/// A judgement with these findings: requirement, level, step.
fn judgement(case: &str, found: &[(&str, Level, Option<u32>)]) -> Judgement {
    let findings = found.iter().map(|(requirement, level, step)| Finding {
        requirement: (*requirement).to_owned(),
        level: *level,
        case: case.to_owned(),
        step: *step,
        place: Place { file: String::new(), line: 1 },
        check: None,
        defect: None,
        expected: "uniform is 8".to_owned(),
        observed: "uniform is 9".to_owned(),
        events: Vec::new(),
        expected_because: None,
    });
    let findings: Vec<Finding> = findings.collect();
    let violated = findings.iter().any(|finding| finding.level == Level::Must);
    let verdict = if violated { Verdict::Violates } else { Verdict::Conforms };
    Judgement { findings, ..Judgement::without_findings(case, verdict) }
}

/// What the worker is sent and what is expected, without the name of the case.
fn sent_and_expected(case: &PlannedCase) -> String {
    case.steps
        .iter()
        .map(|step| format!("{:?} {} {:?} {:?}\n", step.r#do, step.on, step.thread, step.expect))
        .collect()
}
