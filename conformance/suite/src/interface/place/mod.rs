//! The side `place`: an allocator of memory by place, whose functions are called directly. They are
//! those of the C table of `allocert_place.h`, or have another [`Abi`].

mod abi;
mod fault_sweep;
mod operation;
mod operation_arguments;

use allocert_contract::trace::Boundary;
use allocert_requirements::Side;

use crate::interface::definition::{Defective, Left, Reference, SideDefinition, SideFacts};
use crate::interface::shared::{Drop, NO_MANAGER};
use crate::nouns::Name;
use crate::offer::Flavor;

pub use abi::{Abi, AbiError, FunctionAbi, FunctionNames, ObjectAbi};
pub use operation::Operation;
pub use operation_arguments::{Place, PlaceKind};

pub(crate) struct Definition;

impl SideDefinition for Definition {
    type Operation = Operation;

    const FACTS: SideFacts = SideFacts {
        side: Side::Place,
        may_use: &[],
        flavors: &[Flavor::Native, Flavor::Python],
        reference: Reference::Native(&["pool"]),
        python_attribute: None,
        drives_numba: false,
        only_subject_manages_contexts: true,
        boundaries: &[Boundary::Place],
        implements: Some(Boundary::Place),
        one_case_a_process: true,
        longest_call_s: None,
        defective: Some(Defective::TableCalls(&[
            "unknown_status",
            "written_on_failure",
            "no_error_text",
        ])),
        fault_sweep: Ok(&fault_sweep::AllocatorSweep),
        exchange: None,
        first_ordered_version: None,
        last_step: "the last free() and release()",
    };

    fn setup() -> Vec<Operation> {
        Vec::new()
    }

    fn drop_name(name: Name) -> Operation {
        Operation::Drop(Drop { name })
    }

    /// Idle memory of the library is no leak.
    fn teardown(left: &Left) -> Vec<(Operation, Name)> {
        let mut steps = Vec::from([(Operation::ReleaseAll {}, NO_MANAGER)]);
        if left.attached {
            steps.push((Operation::Detach {}, NO_MANAGER));
        }
        steps
    }
}
