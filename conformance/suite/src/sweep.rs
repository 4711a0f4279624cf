//! The fault sweep: every driver call that the subject made in a clean run fails once, and what the
//! subject does then is judged.
//!
//! A swept case is an ordinary planned case: the clean one with a `fault` right before a step, with
//! expectations of its own in the place of the fixture's, which the fault makes void, and with a
//! probe that the manager still serves. What is left out is a case too, with the reason: nothing is
//! silently unswept. Look-ups of functions, versions and error texts are no work of the subject and
//! are neither swept nor counted.

mod demands;
mod fault_site;
mod injected_error;
mod swept_case;

use std::collections::BTreeSet;

use allocert_requirements::Catalogue;

use crate::applicability::Applicability;
use crate::interface::fault_sweep::FaultSweep;
use crate::interface::interface;
use crate::observation::Observation;
use crate::plan::{Part, PlannedCase, SWEPT};
use crate::reason::{Reason, Unswept};
use crate::run::Judged;
use crate::verdict::Verdict;

use demands::Demands;
use fault_site::FaultSite;
pub use injected_error::{ERRORS, InjectedError};

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
pub fn sweep(catalogue: &Catalogue, clean: &[Judged], width: Width) -> Vec<Injection> {
    let mut met = BTreeSet::new();
    let ran = clean.iter().filter_map(|judged| Some((judged, judged.observation.as_ref()?)));
    ran.flat_map(|(judged, observation)| {
        let clean = match CleanRun::of(catalogue, judged, observation) {
            Ok(clean) => clean,
            Err(reason) => return vec![left_out(&judged.case, "*", reason)],
        };
        let sites = fault_site::fault_sites(observation, judged.case.side);
        sites.iter().flat_map(|site| clean.injections(site, width, &mut met)).collect()
    })
    .collect()
}

/// A case that conformed without a fault, and what is demanded of it with one.
struct CleanRun<'a> {
    case: &'a PlannedCase,
    observation: &'a Observation,
    demands: Demands<'a>,
    sweep: &'static dyn FaultSweep,
}

impl<'a> CleanRun<'a> {
    /// # Errors
    /// Why nothing of the case is swept.
    fn of(
        catalogue: &'a Catalogue,
        judged: &'a Judged,
        observation: &'a Observation,
    ) -> Result<Self, Unswept> {
        let Judged { case, judgement, .. } = judged;
        let interface = interface(case.operations).ok_or(Unswept::OtherSubject)?;
        let sweep = interface.facts.fault_sweep.clone()?;
        let demands = Demands::of(catalogue, case.side).ok_or(Unswept::OtherSubject)?;
        if case.steps.iter().any(|step| step.r#do.properties().fault.is_some()) {
            return Err(Unswept::OwnFaults);
        }
        if case.steps.iter().any(|step| step.r#do.properties().is_threaded) {
            return Err(Unswept::Threads);
        }
        if judgement.verdict != Verdict::Conforms || !observation.done {
            return Err(Unswept::NotClean);
        }
        Ok(Self { case, observation, demands, sweep })
    }

    /// The injections into one call, one for each error.
    fn injections(
        &self,
        site: &FaultSite,
        width: Width,
        met: &mut BTreeSet<String>,
    ) -> Vec<Injection> {
        let place = place(self.case, site, width);
        let injection = |error: &InjectedError| {
            let what = format!("{}@{}={}", site.function, site.in_case, error.code);
            let reason = injected_error::meaningless(site, error).or_else(|| {
                if width != Width::Every && site.repeats() {
                    return Some(Unswept::Repeated);
                }
                let place = place.as_ref()?;
                (!met.insert(format!("{place}={}", error.code))).then_some(Unswept::Sampled)
            });
            match reason {
                Some(reason) => left_out(self.case, &what, reason),
                None => Injection {
                    case: swept_case::swept_case(self, site, error, id(self.case, &what)),
                    applicability: Applicability::Run,
                },
            }
        };
        ERRORS.iter().map(injection).collect()
    }
}

/// What calls of different cases have in common when only one of them is swept; nothing where each
/// of them is.
fn place(case: &PlannedCase, site: &FaultSite, width: Width) -> Option<String> {
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
