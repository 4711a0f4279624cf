//! The fault sweep of allocators by place: each of their calls of the CUDA driver fails once.

use serde_json::json;

use super::Operation;
use super::operation_arguments::{Place, PlaceKind};
use crate::expectation::{Expectation, Wanted};
use crate::interface;
use crate::interface::fault_sweep::{
    Demand, Demanded, EarlierStep, FaultSweep, InjectedError, InjectedFault, OUT_OF_MEMORY,
    ProbeStep, as_written, at_most, is, not, or_raises, returns, same,
};
use crate::interface::shared::{Drop, Fill, NO_MANAGER, Read};
use crate::nouns::{ErrorKind, Name};
use crate::observation::Outcome;
use crate::reason::Unswept;

/// A name that no fixture can bind.
const PROBE: Name = Name::new_static("!probe");
const PROBE_BYTES: u64 = 4096;
/// What the probe writes to its block and reads again.
const PROBE_BYTE: u8 = 0xa5;

/// A case that writes more than this once in a run would do so in each of its injections.
const MOST_CHURNED_BYTES: u64 = 1 << 30;

#[derive(Debug)]
pub(super) struct AllocatorSweep;

impl FaultSweep for AllocatorSweep {
    fn fault(&self, fault: InjectedFault) -> interface::Operation {
        Operation::Fault(fault.into()).into()
    }

    fn leaves_out(&self, operation: &interface::Operation) -> Option<Unswept> {
        let interface::Operation::Place(Operation::Churn { size, times, .. }) = operation else {
            return None;
        };
        (size.saturating_mul(*times) > MOST_CHURNED_BYTES).then_some(Unswept::Heavy)
    }

    fn is_of_worker(&self, operation: &interface::Operation) -> bool {
        matches!(operation, interface::Operation::Place(Operation::Occupy { .. }))
    }

    fn of_step(
        &self,
        before: &[EarlierStep<'_>],
        operation: &interface::Operation,
        clean: &Outcome,
    ) -> Demanded {
        let interface::Operation::Place(operation) = operation else { return None };
        let facts = match clean {
            Outcome::Returned(facts) => Some(facts),
            _ => None,
        };
        let wanted = match (operation, facts) {
            // Only the worker performs these, or they call no function that needs the driver.
            (
                Operation::Fault(_)
                | Operation::ClearFaults {}
                | Operation::Environment(_)
                | Operation::Attach(_)
                | Operation::Detach {}
                | Operation::HostBuffer(_)
                | Operation::Occupy { .. }
                | Operation::Stream { .. }
                | Operation::QueueFill { .. }
                | Operation::Synchronize { .. }
                | Operation::ContextOf { .. }
                | Operation::Describe {}
                | Operation::LastError {},
                _,
            ) => return None,
            // The library gave this memory earlier, so no later failure may take it away.
            (Operation::Fill(_), Some(_)) => {
                return Some((Demand::MemoryHolds, returns(Wanted::new())));
            }
            (Operation::Read(Read { memory, .. }), Some(facts)) => {
                let wanted = as_written(before, memory, facts);
                return Some((Demand::MemoryHolds, returns(wanted)));
            }
            (Operation::Alloc { size: 1.., .. }, Some(facts)) => {
                let mut wanted = same(facts, &["kind", "size_bytes", "device"]);
                wanted.extend([not("pointer", json!(0))]);
                wanted
            }
            (Operation::Churn { .. } | Operation::Stress { .. }, Some(facts)) => {
                // A block that a failed call kept away is not misaligned.
                at_most(facts, &["overlaps", "misaligned", "changed"])
            }
            _ => Wanted::new(),
        };
        Some((Demand::FailureSurfaces, or_raises(wanted, ErrorKind::Any)))
    }

    fn names_failure(
        &self,
        operation: &interface::Operation,
        clean: &Outcome,
        error: &InjectedError,
    ) -> Demanded {
        let (interface::Operation::Place(Operation::Alloc { .. }), Outcome::Returned(_)) =
            (operation, clean)
        else {
            return None;
        };
        let raises = Some(vec![ErrorKind::DriverError, ErrorKind::NoPlace]);
        let expected = Expectation { raises, ..returns(Wanted::new()) };
        (error.code != OUT_OF_MEMORY).then_some((Demand::NamesFailure, expected))
    }

    fn of_teardown(&self, operation: &interface::Operation, clean: &Outcome) -> Demanded {
        let interface::Operation::Place(Operation::Drop(_) | Operation::ReleaseAll {}) = operation
        else {
            return None;
        };
        let expected = match clean {
            Outcome::Returned(_) => returns(Wanted::new()),
            _ => or_raises(Wanted::new(), ErrorKind::Any),
        };
        Some((Demand::ServesAfterwards, expected))
    }

    /// Takes a block at a place of the case that needs the driver, and uses it.
    fn probe(&self, before: &[EarlierStep<'_>], memory_is_limited: bool) -> Vec<ProbeStep> {
        let served = |wanted: Wanted| {
            let expected = match memory_is_limited {
                true => or_raises(wanted, ErrorKind::OutOfMemory),
                false => returns(wanted),
            };
            Some((Demand::ServesAfterwards, expected))
        };
        let (place, memory) = (place_of_driver(before), PROBE);
        let mut operations = vec![
            (Operation::ClearFaults {}, None),
            (
                Operation::Alloc { place, size: PROBE_BYTES, r#as: PROBE, stream: None },
                served(Wanted::from([not("pointer", json!(0))])),
            ),
            (
                Operation::Fill(Fill { memory: PROBE, byte: PROBE_BYTE, offset: 0, size: None }),
                served(Wanted::new()),
            ),
            (
                Operation::Read(Read { memory, offset: 0, size: None, device: false }),
                served(Wanted::from([is("uniform", json!(PROBE_BYTE))])),
            ),
            (Operation::Drop(Drop { name: PROBE }), served(Wanted::new())),
        ];
        if before.last().is_some_and(is_last_release) {
            // The failed release of the teardown left something, and the library may keep the block
            // of the probe: another release must give both back.
            operations.push((Operation::ReleaseAll {}, served(Wanted::new())));
        }
        let step = |(operation, demanded): (Operation, Demanded)| ProbeStep {
            operation: operation.into(),
            on: NO_MANAGER,
            demanded,
        };
        operations.into_iter().map(step).collect()
    }
}

fn is_last_release(step: &EarlierStep<'_>) -> bool {
    step.in_teardown && *step.operation == interface::Operation::Place(Operation::ReleaseAll {})
}

/// The first place of the case whose memory comes from the driver.
fn place_of_driver(before: &[EarlierStep<'_>]) -> Place {
    let places = before.iter().filter_map(|step| match step.operation {
        interface::Operation::Place(Operation::Alloc { place, .. }) => Some(*place),
        _ => None,
    });
    places
        .into_iter()
        .find(|place| matches!(place.kind, PlaceKind::Cuda | PlaceKind::CudaPinned))
        .unwrap_or(Place { kind: PlaceKind::Cuda, device: 0 })
}
