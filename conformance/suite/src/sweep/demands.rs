//! The requirements of the catalogue that the demands of the fault sweep stand for.

use allocert_requirements::{Catalogue, Side};

use crate::expectation::Expectations;
use crate::interface::fault_sweep::{Demand, Demanded};

/// The ids of the requirements of one side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demands<'a> {
    failure_surfaces: &'a str,
    /// Not every side asks for it.
    names_failure: Option<&'a str>,
    serves_afterwards: &'a str,
    memory_holds: &'a str,
}

impl<'a> Demands<'a> {
    /// Nothing for a side whose requirements do not say what a failing call may lead to. What the
    /// C contract alone states is asked of a table alone.
    pub(crate) fn of(catalogue: &'a Catalogue, side: Side, is_table: bool) -> Option<Self> {
        let id = |demand| {
            let requirement = catalogue.by_demand(side, demand)?;
            let binds = is_table || !catalogue.is_of_contract_alone(requirement);
            binds.then_some(requirement.id.as_str())
        };
        Some(Self {
            failure_surfaces: id("sweep.failure_surfaces")?,
            names_failure: id("sweep.names_failure"),
            serves_afterwards: id("sweep.serves_afterwards")?,
            memory_holds: id("sweep.memory_holds")?,
        })
    }

    pub(crate) fn expectations(&self, demanded: Demanded) -> Expectations {
        let known = demanded.and_then(|(demand, expected)| Some((self.id(demand)?, expected)));
        known.map(|(id, expected)| (id.into(), expected)).into_iter().collect()
    }

    fn id(&self, demand: Demand) -> Option<&'a str> {
        match demand {
            Demand::FailureSurfaces => Some(self.failure_surfaces),
            Demand::NamesFailure => self.names_failure,
            Demand::ServesAfterwards => Some(self.serves_afterwards),
            Demand::MemoryHolds => Some(self.memory_holds),
        }
    }
}
