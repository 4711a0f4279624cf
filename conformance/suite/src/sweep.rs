//! The fault sweep: every driver call that the subject made in a clean run fails once, and what the
//! subject does then is judged.
//!
//! A swept case is an ordinary planned case: the clean one with a `fault` right before a step, with
//! expectations of its own in the place of the fixture's, which the fault makes void, and with a
//! probe that the manager still serves. What is left out is a case too, with the reason: nothing is
//! silently unswept. Look-ups of functions, versions and error texts are no work of the subject and
//! are neither swept nor counted.

mod error;
mod expect;
mod script;
mod site;

use std::collections::BTreeSet;

use crate::applicability::Applicability;
use crate::interface::interface;
use crate::observation::Observation;
use crate::plan::{Part, PlannedCase, PlannedStep, SWEPT};
use crate::reason::{Reason, Unswept};
use crate::run::Judged;
use crate::verdict::Verdict;

pub use error::{ERRORS, InjectedError};
use site::Site;

/// How much is swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// Every call of every case. Setup is the same in all cases and is swept in the first.
    Every,
    /// As `Every`; of the calls that a step makes again and again the first few and the last.
    Edges,
    /// As `Edges`, each operation's calls once in each group of cases.
    Sample,
}

/// One injection: the case that makes it, and whether it is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Injection {
    pub case: PlannedCase,
    pub applicability: Applicability,
}

/// All injections into cases that were run without a fault.
#[must_use]
pub fn sweep(clean: &[Judged], width: Width) -> Vec<Injection> {
    let mut met = BTreeSet::new();
    let ran = clean.iter().filter_map(|judged| Some((judged, judged.observation.as_ref()?)));
    ran.flat_map(|(judged, observation)| match whole(judged, observation) {
        Some(reason) => vec![left_out(&judged.case, "*", reason)],
        None => {
            let sites = site::sites(observation, judged.case.side);
            sites
                .iter()
                .flat_map(|site| injections(judged, observation, site, width, &mut met))
                .collect()
        }
    })
    .collect()
}

/// Why nothing of a case is swept.
fn whole(judged: &Judged, observation: &Observation) -> Option<Unswept> {
    let own = |step: &PlannedStep| step.r#do.properties().fault.is_some();
    let several = |step: &PlannedStep| step.r#do.properties().is_threaded;
    let unswept = interface(judged.case.operations)
        .map_or(Some(Unswept::OtherSubject), |interface| interface.facts.unswept.clone());
    match &judged.judgement.verdict {
        _ if unswept.is_some() => unswept,
        _ if judged.case.steps.iter().any(own) => Some(Unswept::OwnFaults),
        _ if judged.case.steps.iter().any(several) => Some(Unswept::Threads),
        Verdict::Conforms if observation.done => None,
        _ => Some(Unswept::NotClean),
    }
}

/// The injections into one call, one for each error.
fn injections(
    judged: &Judged,
    observation: &Observation,
    site: &Site,
    width: Width,
    met: &mut BTreeSet<String>,
) -> Vec<Injection> {
    let place = place(&judged.case, site, width);
    ERRORS
        .iter()
        .map(|error| {
            let what = format!("{}@{}={}", site.function, site.in_case, error.code);
            let reason = error::meaningless(site, error).or_else(|| {
                if width != Width::Every && site.repeats() {
                    return Some(Unswept::Repeated);
                }
                let place = place.as_ref()?;
                (!met.insert(format!("{place}={}", error.code))).then_some(Unswept::Sampled)
            });
            match reason {
                Some(reason) => left_out(&judged.case, &what, reason),
                None => Injection {
                    case: script::script(
                        &judged.case,
                        observation,
                        site,
                        error,
                        id(&judged.case, &what),
                    ),
                    applicability: Applicability::Run,
                },
            }
        })
        .collect()
}

/// What calls of different cases have in common when only one of them is swept; nothing where each
/// of them is.
fn place(case: &PlannedCase, site: &Site, width: Width) -> Option<String> {
    let step = &case.steps[site.step];
    let scope = match (step.part, width) {
        (Part::Setup, _) => "setup",
        (_, Width::Sample) => case.group(),
        (_, Width::Every | Width::Edges) => return None,
    };
    Some(format!("{scope} {} {}@{}", step.r#do.name(), site.function, site.in_step))
}

fn left_out(case: &PlannedCase, what: &str, reason: Unswept) -> Injection {
    let applicability = applicability(reason);
    let case = PlannedCase {
        id: id(case, what),
        steps: Vec::new(),
        r#finally: Default::default(),
        ..case.clone()
    };
    Injection { case, applicability }
}

fn id(case: &PlannedCase, what: &str) -> String {
    format!("{}{SWEPT}{what}", case.id)
}

fn applicability(reason: Unswept) -> Applicability {
    let decision = match &reason {
        Unswept::NeverAnswers { .. }
        | Unswept::Restores { .. }
        | Unswept::OwnFaults
        | Unswept::OtherSubject => Applicability::NotApplicable,
        Unswept::NotClean
        | Unswept::Threads
        | Unswept::HostCalls
        | Unswept::Sampled
        | Unswept::Repeated => Applicability::NotObserved,
    };
    decision(Reason::Unswept { because: reason })
}
