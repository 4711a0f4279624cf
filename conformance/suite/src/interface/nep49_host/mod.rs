//! The side `nep49-host`: NumPy, or what has its API, as the host of a handler of the worker.

mod fault_sweep;
mod operation;
mod operation_arguments;

use allocert_contract::trace::Boundary;
use allocert_requirements::Side;

use crate::interface::definition::{Left, Reference, SideDefinition, SideFacts};
use crate::interface::shared::{Drop, NO_MANAGER};
use crate::nouns::Name;
use crate::offer::Flavor;

pub use operation::Operation;
pub use operation_arguments::{Computation, Deriving, Making, Place};

pub(crate) struct Definition;

impl SideDefinition for Definition {
    type Operation = Operation;

    const FACTS: SideFacts = SideFacts {
        side: Side::Nep49Host,
        may_use: &[],
        flavors: &[Flavor::Python],
        reference: Reference::None,
        python_attribute: None,
        drives_numba: false,
        only_subject_manages_contexts: false,
        // The worker's handler records the calls of the host.
        boundaries: &[Boundary::Handler],
        implements: None,
        one_case_a_process: false,
        longest_call_s: None,
        defective: None,
        fault_sweep: Ok(&fault_sweep::HostSweep),
        exchange: None,
        first_ordered_version: None,
        last_step: "the end of the last array",
    };

    fn setup() -> Vec<Operation> {
        vec![Operation::install("recording")]
    }

    fn drop_name(name: Name) -> Operation {
        Operation::Drop(Drop { name })
    }

    fn teardown(_: &Left) -> Vec<(Operation, Name)> {
        vec![(Operation::Restore {}, NO_MANAGER)]
    }
}
