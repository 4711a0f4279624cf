//! The fault sweep: each call that the subject made in a clean run, of the driver or of a handler,
//! fails once, in a case of its own, and the judge judges what the subject does then.
//!
//! A swept case is the planned case of the clean run with three changes. It has a `fault` right
//! before a step. It has expectations of its own, because those of the fixture do not hold after a
//! fault. It has a *probe*: steps that ask whether the subject still works. If a call is not swept,
//! the result has a case that says why. Calls that look up functions, versions and error texts are
//! neither swept nor counted.

mod demands;
mod fault_site;
mod swept_case;

use std::collections::BTreeSet;

use allocert_requirements::Catalogue;

use crate::applicability::Applicability;
use crate::interface::fault_sweep::{FaultSweep, InjectedError};
use crate::interface::interface;
use crate::observation::Observation;
use crate::plan::{Part, PlannedCase, SWEPT};
use crate::reason::{Reason, Unswept};
use crate::run_format::Judged;
use crate::verdict::Verdict;

use demands::Demands;
use fault_site::FaultSite;

/// How much is swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// Every call of every case. Setup is the same in all cases and is swept in the first.
    Every,
    /// As `Every`, but of the calls that a step repeats only the first few and the last.
    Edges,
    /// As `Edges`, but the calls of an operation only once in each group of cases.
    Sample,
}

/// One injection: the case that makes it, and whether it is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Injection {
    pub case: PlannedCase,
    pub applicability: Applicability,
}

/// All injections into cases that were run without a fault. Those of one case are made at a time.
/// A subject that is a table also has to do what the C contract alone states.
pub fn sweep<'a>(
    catalogue: &'a Catalogue,
    clean: &'a [Judged],
    width: Width,
    is_table: bool,
) -> impl Iterator<Item = Injection> + 'a {
    let mut met = BTreeSet::new();
    let ran = clean.iter().filter_map(|judged| Some((judged, judged.observation.as_ref()?)));
    ran.flat_map(move |(judged, observation)| {
        let clean = match CleanRun::of(catalogue, judged, observation, is_table) {
            Ok(clean) => clean,
            Err(reason) => return vec![left_out(&judged.case, "*", reason)],
        };
        let sites = fault_site::fault_sites(observation, judged.case.side, clean.sweep);
        let of_subject = sites.iter().filter(|site| clean.is_of_subject(site));
        of_subject.flat_map(|site| clean.injections(site, width, &mut met)).collect()
    })
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
        is_table: bool,
    ) -> Result<Self, Unswept> {
        let Judged { case, judgement, .. } = judged;
        let interface = interface(case.operations).ok_or(Unswept::OtherSubject)?;
        let sweep = interface.facts.fault_sweep.clone()?;
        let demands = Demands::of(catalogue, case.side, is_table).ok_or(Unswept::OtherSubject)?;
        if case.steps.iter().any(|step| step.r#do.properties().fault.is_some()) {
            return Err(Unswept::OwnFaults);
        }
        if case.steps.iter().any(|step| step.r#do.properties().is_threaded) {
            return Err(Unswept::Threads);
        }
        if let Some(reason) = case.steps.iter().find_map(|step| sweep.leaves_out(&step.r#do)) {
            return Err(reason);
        }
        if judgement.verdict != Verdict::Conforms || !observation.done {
            return Err(Unswept::NotClean);
        }
        Ok(Self { case, observation, demands, sweep })
    }

    fn is_of_subject(&self, site: &FaultSite) -> bool {
        !self.sweep.is_of_worker(&self.case.steps[site.step].r#do)
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
            let reason = self.meaningless(site, error).or_else(|| {
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
        self.sweep.errors().iter().map(injection).collect()
    }

    /// Why this call is not made to answer this error.
    fn meaningless(&self, site: &FaultSite, error: &InjectedError) -> Option<Unswept> {
        let function = site.function.name().to_owned();
        if site.restores {
            return Some(Unswept::Restores { function });
        }
        let answers = self.sweep.may_answer(site.function, error);
        (!answers).then(|| Unswept::NeverAnswers { function, error: error.name.to_owned() })
    }
}

/// A key that is equal for calls of different cases of which one is swept for all. `None` if each
/// of them is swept.
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
        | Unswept::OtherSubject
        | Unswept::OwnSource
        | Unswept::LosesErrors
        | Unswept::HalfImported => Applicability::NotApplicable,
        Unswept::NotClean
        | Unswept::Threads
        | Unswept::HostCalls
        | Unswept::Sampled
        | Unswept::Repeated
        | Unswept::Heavy => Applicability::NotObserved,
    };
    decision(Reason::Unswept { because: reason })
}
