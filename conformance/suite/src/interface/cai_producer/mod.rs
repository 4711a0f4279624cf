//! The side `cai-producer`: a library that makes arrays with the CUDA Array Interface, called by an
//! adapter.

mod bound_type;
mod exchange;
mod operation;
mod operation_arguments;

use allocert_requirements::Side;

use crate::interface::definition::{Defective, Left, Reference, SideDefinition, SideFacts};
use crate::interface::shared::{self, Attach, Drop, Instantiate};
use crate::nouns::Name;
use crate::offer::Flavor;
use crate::reason::Unswept;
use exchange::EXCHANGE;

pub use operation::Operation;
pub use operation_arguments::{Array, Derive, Field, Layout, Memory, ObjectKind};

pub(crate) struct Definition;

impl SideDefinition for Definition {
    type Operation = Operation;

    const FACTS: SideFacts = SideFacts {
        side: Side::CaiProducer,
        may_use: &[],
        flavors: &[Flavor::Python],
        reference: Reference::Python("allocert.adapters.reference"),
        python_attribute: None,
        drives_numba: false,
        only_subject_manages_contexts: false,
        boundaries: &[],
        implements: None,
        one_case_a_process: false,
        longest_call_s: None,
        defective: Some(Defective::ExportedArrays),
        fault_sweep: Err(Unswept::OtherSubject),
        exchange: Some(&EXCHANGE),
        first_ordered_version: Some(3),
        last_step: "the last name was dropped",
    };

    fn setup() -> Vec<Operation> {
        vec![
            Operation::Attach(Attach { device: 0 }),
            Operation::Instantiate(Instantiate { r#as: shared::ADAPTER_NAME }),
        ]
    }

    fn drop_name(name: Name) -> Operation {
        Operation::Drop(Drop { name })
    }

    fn teardown(left: &Left) -> Vec<(Operation, Name)> {
        let detach = left.attached.then_some((Operation::Detach {}, shared::NO_MANAGER));
        detach.into_iter().collect()
    }
}
