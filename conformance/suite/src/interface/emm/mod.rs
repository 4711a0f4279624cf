//! The side `emm`: a memory manager of Numba's External Memory Manager interface, called directly.

mod bound_type;
mod fault_sweep;
mod operation;
mod table_call;

use allocert_requirements::Side;

use crate::interface::definition::{Defective, Left, Reference, SideDefinition, SideFacts};
use crate::interface::shared::{Attach, Drop};
use crate::nouns::Name;
use crate::offer::Flavor;
use bound_type::MANAGER;
use fault_sweep::ManagerSweep;

pub use operation::Operation;
pub use table_call::{MAX_EXTRA_BYTES, TableCall};

/// The manager that the setup makes, and that a step uses unless it says another one.
const FIRST_MANAGER: Name = Name::new_static("m");

/// What can be wrong with a call of the table, besides its answer.
const TABLE_DEFECTS: [&str; 7] = [
    "unknown_status",
    "written_on_failure",
    "no_error_text",
    "written_beyond_size",
    "size_changed",
    "token_not_new",
    "wrong_members",
];

pub(crate) struct Definition;

impl SideDefinition for Definition {
    type Operation = Operation;

    const FACTS: SideFacts = SideFacts {
        side: Side::Emm,
        may_use: &[Side::EmmHost],
        flavors: &[Flavor::Native, Flavor::Python],
        reference: Reference::Native(&["pool", "deferred", "host-only"]),
        // Numba EMM documentation, "Environment Variable".
        python_attribute: Some("_numba_memory_manager"),
        drives_numba: false,
        only_subject_manages_contexts: true,
        boundaries: &[],
        implements: None,
        one_case_a_process: false,
        longest_call_s: None,
        defective: Some(Defective::TableCalls(&TABLE_DEFECTS)),
        fault_sweep: Ok(&ManagerSweep),
        exchange: None,
        first_ordered_version: None,
        last_step: "the last reset and destroy",
    };

    fn setup() -> Vec<Operation> {
        vec![
            Operation::Attach(Attach { device: 0 }),
            Operation::Create { r#as: FIRST_MANAGER, device: 0 },
        ]
    }

    fn drop_name(name: Name) -> Operation {
        Operation::Drop(Drop { name })
    }

    fn teardown(left: &Left) -> Vec<(Operation, Name)> {
        let managers = left.names.iter().filter(|left| left.bound == MANAGER);
        let mut steps: Vec<(Operation, Name)> = managers
            .flat_map(|manager| {
                [Operation::Reset {}, Operation::Destroy {}].map(|end| (end, manager.name.clone()))
            })
            .collect();
        if left.attached {
            steps.push((Operation::Detach {}, FIRST_MANAGER));
        }
        steps
    }
}
