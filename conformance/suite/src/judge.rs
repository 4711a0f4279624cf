//! The judge: case x observation -> findings. It is a pure function. It never runs in the process
//! of the subject, and treats everything in an observation as written by the subject.

mod addresses;
mod c_table_defects;
mod case_record;
mod cuda;
mod error_kinds;
mod expected_calls;
mod exported_arrays;
mod failed_alloc;
mod fault_record;
mod findings;
mod freed_bytes;
mod handle_map;
mod host_own_allocations;
mod ledger;
mod markers;
mod memory_of_names;
mod messages;
mod page_locked;
mod predicates;
mod process;
mod race_requirement;
mod range_list;
mod steps;
pub(crate) mod timeline;

use allocert_contract::trace::Event;
use allocert_requirements::{Catalogue, Level, Side};

use crate::applicability::Applicability;
use crate::interface::{Defective, interface};
use crate::judge::case_record::CaseRecord;
use crate::judge::findings::FindingSink;
use crate::observation::{Ending, Observation};
use crate::plan::PlannedCase;
use crate::reason::Reason;
use crate::verdict::{Check, Finding, Judgement, Verdict};

pub use error_kinds::kinds;

/// The names of the defects that requirements of a side may carry.
#[must_use]
pub fn defects(side: Side) -> Vec<String> {
    match interface(side).and_then(|interface| interface.facts.defective) {
        Some(Defective::TableCalls(names)) => names.iter().copied().map(str::to_owned).collect(),
        Some(Defective::ExportedArrays) => exported_arrays::names().collect(),
        None => Vec::new(),
    }
}

/// Judges one case that was run.
#[must_use]
pub fn judge(catalogue: &Catalogue, case: &PlannedCase, observation: &Observation) -> Judgement {
    if let Ending::Stopped { timeouts } = observation.ending {
        return not_run(case, Applicability::NotObserved(Reason::Stopped { timeouts }));
    }
    if let Ending::OutOfTime { limit_s } = observation.ending {
        return not_run(case, Applicability::NotObserved(Reason::OutOfTime { limit_s }));
    }
    let record = CaseRecord::new(catalogue, case, observation);
    let mut sink = FindingSink::new(&record);
    if let Ending::Slow { after_s } = observation.ending {
        sink.not_observed(Reason::Slow { after_s });
    }
    steps::judge(&record, &mut sink);
    exported_arrays::judge(&record, &mut sink);
    c_table_defects::judge(&record, &mut sink);
    ledger::judge(&record, &mut sink);
    host_own_allocations::judge(&record, &mut sink);
    page_locked::judge(&record, &mut sink);
    freed_bytes::judge(&record, &mut sink);
    cuda::judge(&record, &mut sink);
    race_requirement::assign(&record, &mut sink);
    process::judge(&record, &mut sink);
    if record.observation.events_lost > 0 {
        sink.not_observed(Reason::EventsLost { events: record.observation.events_lost });
    }
    if let Some(reason) = unreached_fault(case, observation) {
        sink.not_observed(reason);
    }
    close(&record, sink)
}

/// The reason why no fault happened in a swept case: the subject did not make the call that it made
/// in the clean run.
fn unreached_fault(case: &PlannedCase, observation: &Observation) -> Option<Reason> {
    if !case.is_swept()
        || observation.events.iter().filter_map(Event::call).any(|call| call.injected)
    {
        return None;
    }
    let fault = case.steps.iter().find_map(|step| step.r#do.properties().fault)?;
    Some(Reason::FaultNotReached { call: fault.to_owned() })
}

/// The judgement on a case that was not run.
///
/// If the case should have been run and has no observation, that is an error of the harness.
#[must_use]
pub fn not_run(case: &PlannedCase, applicability: Applicability) -> Judgement {
    let verdict = match applicability {
        Applicability::NotApplicable(reason) => Verdict::NotApplicable { reason },
        Applicability::NotObserved(reason) => Verdict::NotObserved { reason },
        Applicability::Run => Verdict::HarnessError { message: "the case was not run".to_owned() },
    };
    Judgement::without_findings(&case.id, verdict)
}

/// Whether a finding may be there only because the driver lacks a function that the subject called
/// in a step. The subject may go on with memory that it did not get: an address that a variable
/// still holds is freed twice, or ends the process. What the subject did up to that step, what it
/// printed, and memory that it never gives back do not come from that.
fn may_follow_from_missing_function(finding: &Finding, step: u32) -> bool {
    match finding.step {
        Some(at) => at > step,
        None => matches!(finding.check, Some(Check::Crash | Check::Hang | Check::Exit)),
    }
}

/// The verdict. A record that cannot be trusted decides first, then the violations of the subject,
/// then the things that the record does not show.
fn close(record: &CaseRecord<'_>, sink: FindingSink<'_>) -> Judgement {
    let (mut findings, checked) = (sink.findings, sink.checked);
    // What the steps show after one that was declined, or after an error of the adapter, comes from
    // that. Always-on checks still hold.
    let declined = match &sink.declined {
        Some(Reason::Declined { step, .. } | Reason::Refused { step, .. }) => Some(*step),
        _ => None,
    };
    let failed = sink.adapter_error.as_ref().map(|(step, _)| *step);
    if let Some(last) = declined.into_iter().chain(failed).min() {
        findings
            .retain(|finding| finding.check.is_some() || finding.step.is_none_or(|at| at <= last));
    }
    if let Some(step) = sink.without_function {
        findings.retain(|finding| !may_follow_from_missing_function(finding, step));
    }
    let contradiction =
        record.contradiction.clone().map(|what| format!("the record contradicts itself: {what}"));
    let lost = match &record.observation.ending {
        Ending::Lost { message } => Some(message.clone()),
        _ => None,
    };
    if sink.unusable.is_some() {
        // The worker went on with the steps that need no subject.
        findings.clear();
    }
    let verdict = if let Some(message) = contradiction.or(lost) {
        Verdict::HarnessError { message }
    } else if let Some(message) = sink.unusable {
        Verdict::Unusable { message }
    } else if findings.iter().any(|finding| finding.level == Level::Must) {
        Verdict::Violates
    } else if let Some((_, message)) = sink.adapter_error {
        Verdict::Unusable { message }
    } else if let Some(message) = sink.failure {
        Verdict::HarnessError { message }
    } else if let Some(reason @ Reason::NotInDriver { .. }) = sink.declined {
        Verdict::NotObserved { reason }
    } else if let Some(reason) = sink.declined {
        Verdict::NotApplicable { reason }
    } else if let Some(reason) = sink.not_observed {
        Verdict::NotObserved { reason }
    } else {
        Verdict::Conforms
    };
    Judgement { findings, checked, ..Judgement::without_findings(&record.case.id, verdict) }
}
