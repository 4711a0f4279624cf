//! The side `nep49`: a NumPy data-allocation handler, whose four functions are called directly.

mod operation;

use allocert_contract::trace::Boundary;
use allocert_requirements::Side;

use crate::interface::definition::{Left, Reference, SideDefinition, SideFacts};
use crate::interface::shared::Drop;
use crate::nouns::Name;
use crate::offer::Flavor;
use crate::reason::Unswept;

pub use operation::{Function, Operation};

pub(crate) struct Definition;

impl SideDefinition for Definition {
    type Operation = Operation;

    const FACTS: SideFacts = SideFacts {
        side: Side::Nep49,
        may_use: &[],
        flavors: &[Flavor::Native, Flavor::Python],
        reference: Reference::Native(&["aligned"]),
        python_attribute: None,
        drives_numba: false,
        only_subject_manages_contexts: false,
        boundaries: &[Boundary::Handler],
        implements: Some(Boundary::Handler),
        one_case_a_process: false,
        longest_call_s: Some(4),
        defective: None,
        fault_sweep: Err(Unswept::OwnSource),
        exchange: None,
        first_ordered_version: None,
        last_step: "the last free",
    };

    fn setup() -> Vec<Operation> {
        Vec::new()
    }

    fn drop_name(name: Name) -> Operation {
        Operation::Drop(Drop { name })
    }

    fn teardown(_: &Left) -> Vec<(Operation, Name)> {
        Vec::new()
    }
}
