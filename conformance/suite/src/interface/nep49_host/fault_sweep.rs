//! The fault sweep of hosts of handlers: each request of the host to the handler answers null once.

use allocert_contract::trace::{Call, Function, handler};
use serde_json::json;

use super::operation::{Operation, eight_byte_integer};
use super::operation_arguments::Making;
use crate::expectation::{Expectation, Wanted};
use crate::interface;
use crate::interface::fault_sweep::{
    Demand, Demanded, EarlierStep, FaultSweep, InjectedError, InjectedFault, ProbeStep, is,
    or_raises, returns, same,
};
use crate::interface::shared::{Drop, NO_MANAGER};
use crate::nouns::{ErrorKind, Name};
use crate::observation::Outcome;
use crate::reason::Unswept;

/// A name that no fixture can bind.
const PROBE: Name = Name::new_static("!probe");

/// NEP 49, "NumPy C-API functions": null is the only answer by which a handler fails.
const ERRORS: [InjectedError; 1] =
    [InjectedError { code: 0, name: "NULL", why: "the handler has no memory" }];

#[derive(Debug)]
pub(super) struct HostSweep;

impl FaultSweep for HostSweep {
    fn errors(&self) -> &'static [InjectedError] {
        &ERRORS
    }

    fn leaves_out(&self, operation: &interface::Operation) -> Option<Unswept> {
        let interface::Operation::Nep49Host(operation) = operation else { return None };
        match operation {
            Operation::Install { guarded: true, .. } => Some(Unswept::LosesErrors),
            Operation::Subinterpreter {} => Some(Unswept::HalfImported),
            _ => None,
        }
    }

    fn sweeps(&self, function: Function) -> bool {
        use handler::Function::{Calloc, Malloc, Realloc};
        matches!(function, Function::Handler(Malloc | Calloc | Realloc))
    }

    fn may_answer(&self, _: Function, _: &InjectedError) -> bool {
        true
    }

    fn restores_context(&self, _: &Call, _: u64) -> bool {
        false
    }

    fn fault(&self, InjectedFault { function, nth, .. }: InjectedFault) -> interface::Operation {
        let Function::Handler(function) = function else {
            unreachable!("`sweeps` names functions of handlers only");
        };
        Operation::FailHandler { function, nth, count: 1 }.into()
    }

    fn of_step(
        &self,
        before: &[EarlierStep<'_>],
        operation: &interface::Operation,
        clean: &Outcome,
    ) -> Demanded {
        let interface::Operation::Nep49Host(operation) = operation else { return None };
        let Outcome::Returned(facts) = clean else {
            return Some((Demand::FailureSurfaces, or_no_memory(Wanted::new(), clean)));
        };
        let known: &[&str] = match operation {
            Operation::Make { .. } | Operation::Derive { .. } => &["shape", "size_bytes"],
            Operation::Resize { array, .. } if holds_as_made(before, array) => &["shape", "items"],
            Operation::Resize { .. } => &["shape"],
            Operation::Compute { .. } => &["right"],
            Operation::Describe { array } if holds_as_made(before, array) => {
                return Some((Demand::MemoryHolds, returns(same(facts, &["shape", "items"]))));
            }
            Operation::Handler { .. } => &["name", "version"],
            Operation::Elsewhere { .. } => &["inside", "made_with", "outside"],
            Operation::Guards {} => &["damaged"],
            Operation::Describe { .. }
            | Operation::Drop(_)
            | Operation::Collect {}
            | Operation::Install { .. }
            | Operation::Restore {}
            | Operation::InstallPrevious {} => &[],
            // What these tell is of references and of tracemalloc, not of results.
            Operation::HandlerEnded {}
            | Operation::InstallWrong { .. }
            | Operation::HandlerOfNumber {}
            | Operation::LentEnded {}
            | Operation::FailHandler { .. }
            | Operation::ClearHandlerFaults {}
            | Operation::TraceMemory {}
            | Operation::TracedMemory {}
            | Operation::OwnForeign { .. }
            | Operation::Subinterpreter {} => return None,
        };
        Some((Demand::FailureSurfaces, or_no_memory(same(facts, known), clean)))
    }

    fn of_teardown(&self, operation: &interface::Operation, _: &Outcome) -> Demanded {
        let drops = matches!(
            operation,
            interface::Operation::Nep49Host(Operation::Drop(_) | Operation::Restore {})
        );
        drops.then(|| (Demand::ServesAfterwards, returns(Wanted::new())))
    }

    /// Makes an array and reads it.
    fn probe(&self, _: &[EarlierStep<'_>], _: bool) -> Vec<ProbeStep> {
        let (by, dtype) = (Making::Descending, eight_byte_integer());
        let operations = [
            (Operation::ClearHandlerFaults {}, None),
            (Operation::Make { by, dtype, shape: vec![3], r#as: PROBE }, Some(Wanted::new())),
            (
                Operation::Describe { array: PROBE },
                Some(Wanted::from([is("items", json!([3, 2, 1]))])),
            ),
            (Operation::Drop(Drop { name: PROBE }), Some(Wanted::new())),
        ];
        let step = |(operation, wanted): (Operation, Option<Wanted>)| ProbeStep {
            operation: operation.into(),
            on: NO_MANAGER,
            demanded: wanted.map(|wanted| (Demand::ServesAfterwards, returns(wanted))),
        };
        operations.into_iter().map(step).collect()
    }
}

/// Whether an earlier step wrote the elements of the array, and none may have changed them since: a
/// step that fails changes nothing, and nobody knows which one failed.
fn holds_as_made(before: &[EarlierStep<'_>], name: &Name) -> bool {
    let mut holds = false;
    for step in before {
        let interface::Operation::Nep49Host(operation) = step.operation else { continue };
        match operation {
            Operation::Make { by, r#as, .. } if r#as == name => holds = *by != Making::Empty,
            Operation::Resize { array, .. } | Operation::Compute { array, .. } if array == name => {
                holds = false;
            }
            // `set_state` changes the array that it derives from.
            Operation::Derive { of, r#as, .. } if of == name || r#as == name => holds = false,
            _ => {}
        }
    }
    holds
}

/// Success, or the error of a host that has no memory, or the error of the clean run.
fn or_no_memory(wanted: Wanted, clean: &Outcome) -> Expectation {
    match clean {
        Outcome::Returned(_) => or_raises(wanted, ErrorKind::OutOfMemory),
        _ => or_raises(wanted, ErrorKind::Any),
    }
}
