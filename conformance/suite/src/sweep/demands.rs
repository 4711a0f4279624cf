//! The requirements of the catalogue that the demands of the fault sweep stand for.

use allocert_requirements::{Catalogue, Side};

use crate::expectation::Expectations;
use crate::interface::fault_sweep::{Demand, Demanded};

/// The ids of the requirements of one side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demands<'a> {
    failure_surfaces: &'a str,
    serves_afterwards: &'a str,
    memory_holds: &'a str,
}

impl<'a> Demands<'a> {
    /// Nothing for a side whose requirements do not say what a failing call may lead to.
    pub(crate) fn of(catalogue: &'a Catalogue, side: Side) -> Option<Self> {
        let id = |demand| Some(catalogue.by_demand(side, demand)?.id.as_str());
        Some(Self {
            failure_surfaces: id("sweep.failure_surfaces")?,
            serves_afterwards: id("sweep.serves_afterwards")?,
            memory_holds: id("sweep.memory_holds")?,
        })
    }

    pub(crate) fn expectations(&self, demanded: Demanded) -> Expectations {
        demanded.map(|(demand, expected)| (self.id(demand).into(), expected)).into_iter().collect()
    }

    fn id(&self, demand: Demand) -> &'a str {
        match demand {
            Demand::FailureSurfaces => self.failure_surfaces,
            Demand::ServesAfterwards => self.serves_afterwards,
            Demand::MemoryHolds => self.memory_holds,
        }
    }
}
