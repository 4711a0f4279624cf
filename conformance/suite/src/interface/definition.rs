//! What each side defines in its folder.

use allocert_contract::trace::Boundary;
use allocert_requirements::Side;
use serde::de::DeserializeOwned;
use strum::VariantNames;

use super::arguments::Arguments;
use super::exchange::ExchangeDefinition;
use super::fault_sweep::FaultSweep;
use super::properties::{BoundType, Properties};
use crate::nouns::Name;
use crate::offer::Flavor;
use crate::reason::Unswept;

/// What is the same for all cases of a side.
#[derive(Debug)]
pub struct SideFacts {
    pub side: Side,
    /// Other sides whose operations a case of this one may use instead of its own.
    pub may_use: &'static [Side],
    /// The kinds of subject whose worker has the operations.
    pub flavors: &'static [Flavor],
    /// What `reference` stands for as the subject.
    pub reference: Reference,
    /// The attribute of a Python module that is the subject, where the user names none. Without it
    /// the module itself is the subject.
    pub python_attribute: Option<&'static str>,
    /// The steps call numba-cuda, which not every worker can use.
    pub drives_numba: bool,
    /// In a step only the subject may make, retain or end contexts, and no host or library.
    pub only_subject_manages_contexts: bool,
    /// The boundaries other than CUDA of which `calls` may speak.
    pub boundaries: &'static [Boundary],
    /// The boundary whose functions are the subject's. The worker makes the calls of it, so what
    /// they give back wrongly is the case's doing.
    pub implements: Option<Boundary>,
    /// The subject keeps its state until its process ends, so that a case needs a process of its
    /// own.
    pub one_case_a_process: bool,
    /// A call of the boundary that the subject implements takes no longer. Nothing where calls may
    /// take as long as their case.
    pub longest_call_s: Option<u32>,
    /// What can have a defect, and `defects:` of the catalogue names the defects of.
    pub defective: Option<Defective>,
    /// How the fault sweep treats the cases, or why it leaves them out.
    pub fault_sweep: Result<&'static dyn FaultSweep, Unswept>,
    /// What subjects of this side give to subjects of another one in the matrix of libraries.
    pub exchange: Option<&'static ExchangeDefinition>,
    /// The first version of an export whose text says who waits for whom. Races with exports of
    /// earlier versions are left to the user.
    pub first_ordered_version: Option<i64>,
    /// What ends a case that ends cleanly, for the message that something is left.
    pub last_step: &'static str,
}

/// The project's own subject of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// Subjects inside the native worker, `reference:NAME`; the first one is also `reference`.
    Native(&'static [&'static str]),
    /// A Python module.
    Python(&'static str),
    /// There is none.
    None,
}

/// What the judge looks through for defects in every case that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defective {
    /// Calls of a C table, with the names of all defects that they can have.
    TableCalls(&'static [&'static str]),
    /// Descriptions that objects export.
    ExportedArrays,
}

/// One operation of a side. Every method names every operation: one that is forgotten does not
/// compile.
pub trait OperationSet {
    /// The operation's name in a fixture.
    fn name(&self) -> &'static str;

    fn properties(&self) -> Properties<'_>;

    /// The names that it uses, and whether its fields agree.
    fn arguments(&self) -> Arguments<'_>;
}

/// The definition of a side.
pub(crate) trait SideDefinition {
    /// All operations of the side.
    type Operation: OperationSet + DeserializeOwned + VariantNames;

    const FACTS: SideFacts;

    /// What happens before the first step of a case.
    fn setup() -> Vec<Self::Operation>;

    /// Lets a name go.
    fn drop_name(name: Name) -> Self::Operation;

    /// What happens after the last step of a case, when all names that can be dropped are: each
    /// operation with the name that it is done on.
    fn teardown(left: &Left) -> Vec<(Self::Operation, Name)>;
}

/// What is left at the end of a case.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// In the order in which they were bound.
    pub(crate) names: Vec<LeftName>,
    /// Whether a context is attached to the main thread.
    pub(crate) attached: bool,
    /// Whether the last step closed the host.
    pub(crate) closed: bool,
}

#[derive(Debug)]
pub(crate) struct LeftName {
    pub(crate) name: Name,
    pub(crate) bound: BoundType,
    /// The manager that it was made on.
    pub(crate) on: Name,
}
