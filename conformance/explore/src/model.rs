//! The models: for each side that can be explored, what a host knows of the subject, such as the
//! live names and the content of memory. For a step that is legal in this state a model says what
//! it must result in. It rejects all other steps.
//!
//! A new side needs a folder with its [`Model`] and its operations, and a line in
//! [`SideModel::all`].

mod emm;
mod nep49;
mod place;

use std::collections::BTreeSet;
use std::fmt;

use allocert_requirements::{Catalogue, Side};
use allocert_suite::expectation::Expectations;
use allocert_suite::interface::{Operation, SideOperation};
use allocert_suite::nouns::{DriverSettings, Name, Need};

use crate::demand::{Demand, RequirementIds, UnmetDemand};
use crate::expected::Expected;
use crate::random_numbers::Random;
use crate::step::Step;

/// The software driver of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    pub devices: u32,
    /// Of each device.
    pub memory_bytes: u64,
}

impl Machine {
    pub(crate) fn settings(self) -> DriverSettings {
        let devices = (self.devices > 1).then_some(self.devices);
        DriverSettings {
            devices,
            memory_bytes: Some(self.memory_bytes),
            version: None,
            peer_access: None,
        }
    }
}

/// The state after some steps.
pub(crate) trait Model: fmt::Debug {
    /// Some step that may come next; [`Model::apply`] may refuse it.
    fn draw(&self, source: &mut DrawSource<'_>) -> Option<Step>;

    /// Applies a step and says what must come of it. A step that is not legal changes nothing.
    fn apply(&mut self, step: &Step, requirements: &RequirementIds) -> Option<Expectations>;

    /// The steps that a host makes before it ends.
    fn closing_steps(&self) -> Vec<Step>;
}

/// What a step is drawn from, besides the state.
pub(crate) struct DrawSource<'a> {
    pub(crate) random: &'a mut Random,
    pub(crate) offer: &'a BTreeSet<Need>,
    /// Whether the sequence may use what subjects need not have or what a model knows less of:
    /// several managers, places of the driver.
    pub(crate) varied: bool,
    /// The number in the next name that a step may bind.
    pub(crate) next_name: u32,
}

/// What a side defines in its folder.
trait SideDefinition {
    type Demand: Demand;
    /// The operations of the side.
    type Operation: ExploredOperation + 'static;

    const SIDE: Side;
    /// The simplest machine; nothing if the subjects of the side use no driver.
    const PLAIN_MACHINE: Option<Machine>;

    /// The machine of a process. `two_devices` says whether it may have more than one.
    fn machine(process: u64, two_devices: bool) -> Option<Machine>;

    /// The state after the setup of a case.
    fn start(machine: Option<Machine>) -> Box<dyn Model>;
}

/// What exploration asks of an operation. Each side answers for its own, in its `operations.rs`.
trait ExploredOperation: SideOperation + Sized {
    /// The capability without which it is not asked for.
    fn need(&self) -> Option<Need>;

    /// Simpler forms of it, the simplest first.
    fn simpler(&self) -> Vec<Self>;

    /// The name of the memory that it asks for.
    fn requested(&self) -> Option<&Name>;

    /// The same operation where the memory `name` has this size, and is written and read whole.
    /// `None` if the operation does not concern that memory.
    fn whole(&self, name: &Name, size_bytes: u64) -> Option<Self>;

    /// The names in it that the model knows.
    fn names(&mut self) -> Vec<&mut Name>;
}

/// One side, as code sees it that works for every side.
#[derive(Debug)]
pub(crate) struct SideModel {
    pub(crate) side: Side,
    pub(crate) plain_machine: Option<Machine>,
    pub(crate) demand_names: fn() -> Vec<String>,
    pub(crate) requirements: fn(&Catalogue, &BTreeSet<Need>) -> Result<RequirementIds, UnmetDemand>,
    pub(crate) machine: fn(u64, bool) -> Option<Machine>,
    pub(crate) start: fn(Option<Machine>) -> Box<dyn Model>,
    pub(crate) need: fn(&Operation) -> Option<Need>,
    pub(crate) simpler: fn(&Operation) -> Vec<Operation>,
    pub(crate) requested: fn(&Operation) -> Option<&Name>,
    pub(crate) whole: fn(&Operation, &Name, u64) -> Option<Operation>,
    pub(crate) names: fn(&mut Operation) -> Vec<&mut Name>,
}

impl SideModel {
    /// The models that there are.
    pub(crate) fn all() -> impl Iterator<Item = &'static Self> {
        const ALL: [&SideModel; 3] = [
            const { &SideModel::of::<emm::Definition>() },
            const { &SideModel::of::<nep49::Definition>() },
            const { &SideModel::of::<place::Definition>() },
        ];
        ALL.into_iter()
    }

    const fn of<D: SideDefinition>() -> Self {
        Self {
            side: D::SIDE,
            plain_machine: D::PLAIN_MACHINE,
            demand_names: || {
                <D::Demand as strum::IntoEnumIterator>::iter().map(Demand::name).collect()
            },
            requirements: |catalogue, offer| {
                RequirementIds::read::<D::Demand>(D::SIDE, catalogue, offer)
            },
            machine: D::machine,
            start: D::start,
            need: |operation| D::Operation::of(operation).and_then(ExploredOperation::need),
            simpler: |operation| {
                let forms =
                    D::Operation::of(operation).map(ExploredOperation::simpler).unwrap_or_default();
                forms.into_iter().map(Into::into).collect()
            },
            requested: |operation| {
                D::Operation::of(operation).and_then(ExploredOperation::requested)
            },
            whole: |operation, name, size_bytes| {
                D::Operation::of(operation)?.whole(name, size_bytes).map(Into::into)
            },
            names: |operation| {
                D::Operation::of_mut(operation).map(ExploredOperation::names).unwrap_or_default()
            },
        }
    }
}

/// What is expected of a step, by requirement.
fn stated<D: Demand>(
    expected: Option<Expected<D>>,
    requirements: &RequirementIds,
) -> Option<Expectations> {
    expected.map(|expected| expected.by_requirement(requirements))
}
