//! What a model demands of a step. The catalogue says which requirement stands for each demand.

use std::collections::BTreeSet;

use allocert_requirements::{Catalogue, Side};
use allocert_suite::nouns::Need;
use smol_str::SmolStr;
use strum::IntoEnumIterator;

/// One thing that must come of a step. Each side has an enum of its own.
pub(crate) trait Demand: IntoEnumIterator + Copy + Ord + Into<&'static str> {
    /// Its place among the demands of its side.
    fn index(self) -> usize;

    /// Whether it says under which circumstances an operation works, besides that it works at all.
    /// Circumstances that shrinking leaves are the cause; those of a long sequence are chance.
    fn is_circumstance(self) -> bool;

    /// What a subject must offer for the demand to hold of it, besides the operation.
    fn need(self) -> Option<Need>;

    /// Its name in the catalogue: `explore.alloc_served`.
    fn name(self) -> String {
        format!("explore.{}", self.into())
    }
}

/// A demand, and the id of the requirement that stands for it if it holds of the subject.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DemandedRequirement {
    id: Option<SmolStr>,
    circumstance: bool,
    need: Option<Need>,
}

/// The id of the requirement that stands for each demand of a side, where the demand holds of the
/// subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequirementIds(Vec<DemandedRequirement>);

impl RequirementIds {
    /// Those of the catalogue, for a subject with this offer.
    ///
    /// # Errors
    /// The demand that no requirement stands for.
    pub(crate) fn read<D: Demand>(
        side: Side,
        catalogue: &Catalogue,
        offer: &BTreeSet<Need>,
    ) -> Result<Self, UnmetDemand> {
        let all = D::iter().map(|demand| {
            let name = demand.name();
            let requirement = catalogue.by_demand(side, &name).ok_or(UnmetDemand { side, name })?;
            let (circumstance, need) = (demand.is_circumstance(), demand.need());
            let holds = need.is_none_or(|need| offer.contains(&need));
            let id = holds.then(|| SmolStr::new(&requirement.id));
            Ok(DemandedRequirement { id, circumstance, need })
        });
        all.collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn of(&self, demand: impl Demand) -> Option<&SmolStr> {
        self.0[demand.index()].id.as_ref()
    }

    /// The requirements that a case can expect only of some subjects, with what the case then needs
    /// besides its operations.
    pub(crate) fn with_needs(&self) -> impl Iterator<Item = (&SmolStr, Need)> {
        self.0.iter().filter_map(|demanded| Some((demanded.id.as_ref()?, demanded.need?)))
    }

    /// Whether this requirement states a circumstance.
    pub(crate) fn is_circumstance(&self, id: &str) -> bool {
        self.0.iter().any(|demanded| {
            demanded.circumstance && demanded.id.as_ref().is_some_and(|of| of == id)
        })
    }
}

/// No requirement stands for this demand of the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no requirement of the catalogue stands for `{name}` of {side}")]
pub struct UnmetDemand {
    side: Side,
    name: String,
}
