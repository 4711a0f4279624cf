//! The judge: case x observation -> findings. Pure functions over data; nothing here runs beside
//! the subject, and everything an observation says is treated as written by the subject.

mod act;
mod border;
mod bypass;
mod calls;
mod context;
mod docket;
mod error;
mod export;
mod holdings;
mod ledger;
mod marks;
mod misuse;
mod order;
mod predicate;
mod process;
mod scene;
mod space;
mod step;
pub(crate) mod timeline;
mod words;

use allocert_requirements::{Catalogue, Level, Side};

use crate::applicability::{Applicability, Reason};
use crate::judge::docket::Docket;
use crate::judge::scene::Scene;
use crate::observation::{Ending, Observation};
use crate::plan::PlannedCase;
use crate::sweep;
use crate::verdict::{Judgement, Verdict};

pub use error::kinds;

/// The names of the defects that requirements of a side may carry.
#[must_use]
pub fn defects(side: Side) -> Vec<String> {
    match side {
        Side::Emm => border::NAMES.map(str::to_owned).to_vec(),
        Side::CaiProducer => export::names().collect(),
        _ => Vec::new(),
    }
}

/// Judges one case that was run.
#[must_use]
pub fn judge(catalogue: &Catalogue, case: &PlannedCase, observation: &Observation) -> Judgement {
    let scene = Scene::new(catalogue, case, observation);
    let mut docket = Docket::new(&scene);
    step::judge(&scene, &mut docket);
    export::judge(&scene, &mut docket);
    border::judge(&scene, &mut docket);
    ledger::judge(&scene, &mut docket);
    bypass::judge(&scene, &mut docket);
    misuse::judge(&scene, &mut docket);
    order::judge(&scene, &mut docket);
    context::judge(&scene, &mut docket);
    process::judge(&scene, &mut docket);
    if scene.observation.events_lost > 0 {
        docket.not_observed(Reason::EventsLost { events: scene.observation.events_lost });
    }
    if let Some(reason) = sweep::unreached(case, observation) {
        docket.not_observed(reason);
    }
    close(&scene, docket)
}

/// The judgement on a case that was not run.
///
/// `Run` has no judgement without an observation; it is the harness's fault to ask for one.
#[must_use]
pub fn not_run(case: &PlannedCase, applicability: Applicability) -> Judgement {
    let verdict = match applicability {
        Applicability::NotApplicable(reason) => Verdict::NotApplicable { reason },
        Applicability::NotObserved(reason) => Verdict::NotObserved { reason },
        Applicability::Run => Verdict::HarnessError { message: "the case was not run".to_owned() },
    };
    Judgement { case: case.id.clone(), verdict, findings: Vec::new(), checked: Default::default() }
}

/// The verdict: what makes the record worthless comes first, then what the subject did wrong, then
/// what could not be seen.
fn close(scene: &Scene<'_>, docket: Docket<'_>) -> Judgement {
    let (mut findings, checked) = (docket.findings, docket.checked);
    if let Some(Reason::Declined { step, .. } | Reason::Refused { step, .. }) = &docket.declined {
        // What a case shows after a step that was not done, it does not show.
        findings
            .retain(|finding| finding.check.is_some() || finding.step.is_none_or(|at| at <= *step));
    }
    let contradiction =
        scene.contradiction.clone().map(|what| format!("the record contradicts itself: {what}"));
    let lost = match &scene.observation.ending {
        Ending::Lost { message } => Some(message.clone()),
        _ => None,
    };
    if docket.unusable.is_some() {
        // The steps that need no subject go on without one.
        findings.clear();
    }
    let verdict = if let Some(message) = contradiction.or(lost) {
        Verdict::HarnessError { message }
    } else if let Some(message) = docket.unusable {
        Verdict::Unusable { message }
    } else if findings.iter().any(|finding| finding.level == Level::Must) {
        Verdict::Violates
    } else if let Some(message) = docket.failure {
        Verdict::HarnessError { message }
    } else if let Some(reason) = docket.declined {
        Verdict::NotApplicable { reason }
    } else if let Some(reason) = docket.not_observed {
        Verdict::NotObserved { reason }
    } else {
        Verdict::Conforms
    };
    Judgement { case: scene.case.id.clone(), verdict, findings, checked }
}
