//! The side `emm-host`: a host that has a memory manager installed, driven by its public interface.
//!
//! Cases of `emm` use the same operations on real numba-cuda with the subject installed.

mod bound_type;
mod operation;
mod operation_arguments;

use allocert_contract::trace::Boundary;
use allocert_requirements::Side;

use crate::interface::definition::{Left, Reference, SideDefinition, SideFacts};
use crate::interface::shared::{Drop, NO_MANAGER};
use crate::nouns::Name;
use crate::offer::Flavor;
use crate::reason::Unswept;

pub use operation::Operation;
pub use operation_arguments::{ForeignHandle, HostObject, PluginBase, PluginShape, PointerType};

pub(crate) struct Definition;

impl SideDefinition for Definition {
    type Operation = Operation;

    const FACTS: SideFacts = SideFacts {
        side: Side::EmmHost,
        may_use: &[],
        flavors: &[Flavor::Python],
        reference: Reference::None,
        python_attribute: None,
        drives_numba: true,
        only_subject_manages_contexts: false,
        // The worker plays the plugin of the host under test and records the calls into it.
        boundaries: &[Boundary::Plugin],
        implements: None,
        one_case_a_process: false,
        longest_call_s: None,
        defective: None,
        fault_sweep: Err(Unswept::HostCalls),
        exchange: None,
        first_ordered_version: None,
        last_step: "cuda.close()",
    };

    fn setup() -> Vec<Operation> {
        vec![Operation::Register { interface_version: None, plugin: PluginShape::default() }]
    }

    fn drop_name(name: Name) -> Operation {
        Operation::Drop(Drop { name })
    }

    fn teardown(left: &Left) -> Vec<(Operation, Name)> {
        if left.closed { Vec::new() } else { vec![(Operation::Close {}, NO_MANAGER)] }
    }
}
