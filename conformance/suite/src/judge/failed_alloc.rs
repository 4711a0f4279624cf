//! Why a request at a place fails that the fixture expects to be served: what the driver answered,
//! the place that was asked, and what came before tell it from others.

use crate::interface::Operation;
use crate::interface::place::{Operation as PlaceOperation, Place};
use crate::judge::case_record::CaseRecord;
use crate::judge::{error_kinds, expected_calls};
use crate::nouns::ErrorKind;
use crate::observation::{Outcome, Raised};
use crate::plan::PlannedStep;
use crate::verdict::Check;

/// The check whose requirement such an error breaks, if it is not that of every request.
pub(crate) fn told_by_case(
    record: &CaseRecord<'_>,
    step: &PlannedStep,
    raised: &Raised,
) -> Option<Check> {
    let request = Request::of(step)?;
    let is = |kind| error_kinds::is_one_of(raised, &[kind]);
    if !is(ErrorKind::OutOfMemory) && expected_calls::lacks_context(record, step.index) {
        return Some(Check::NoContext);
    }
    if request.place.device > 0 && is(ErrorKind::NoPlace) {
        return Some(Check::DeviceNotServed);
    }
    let earlier = record.case.steps.iter().enumerate().take(step.index as usize);
    let told = earlier
        .rev()
        .find_map(|(index, earlier)| ended_by(request, earlier, record.outcome(index)?));
    let is_of_driver = !is(ErrorKind::OutOfMemory);
    told.or_else(|| (is_of_driver && follows_fault(record, step)).then_some(Check::EndedByFault))
}

/// Whether an earlier step made calls of the driver fail, and a later one ended that.
fn follows_fault(record: &CaseRecord<'_>, step: &PlannedStep) -> bool {
    let earlier = record.case.steps.iter().take(step.index as usize);
    let mut properties = earlier.rev().map(|step| step.r#do.properties());
    properties.any(|one| one.clears_driver_faults)
        && properties.any(|one| one.driver_fault.is_some())
}

/// What ended the service, if it was this earlier step.
fn ended_by(request: Request, earlier: &PlannedStep, outcome: &Outcome) -> Option<Check> {
    match (&earlier.r#do, outcome) {
        (Operation::Place(PlaceOperation::Release { place }), Outcome::Returned(_)) => {
            (request.place == *place).then_some(Check::EndedByRelease)
        }
        (_, Outcome::Raised(error)) => {
            let other = Request::of(earlier)?;
            let was_short = error_kinds::is_one_of(error, &[ErrorKind::OutOfMemory]);
            (was_short && request.asks_for_no_more_than(other)).then_some(Check::EndedByShortage)
        }
        _ => None,
    }
}

#[derive(Clone, Copy)]
struct Request {
    place: Place,
    size_bytes: u64,
}

impl Request {
    fn of(step: &PlannedStep) -> Option<Self> {
        match &step.r#do {
            Operation::Place(PlaceOperation::Alloc { place, size, .. }) => {
                Some(Self { place: *place, size_bytes: *size })
            }
            _ => None,
        }
    }

    fn asks_for_no_more_than(self, other: Self) -> bool {
        self.place == other.place && self.size_bytes <= other.size_bytes
    }
}
