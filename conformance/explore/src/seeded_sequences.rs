//! An exploration: all its sequences follow from a seed.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use allocert_requirements::{Catalogue, Side};
use allocert_suite::nouns::{Need, Teardown};

use crate::demand::{RequirementIds, UnmetDemand};
use crate::model::SideModel;
use crate::random_numbers::Random;
use crate::sequence::{Sequence, SequenceBuilder};

/// Steps of one sequence: enough to wear a manager out, few enough to be judged as one case.
pub const LENGTH: u64 = 400;
/// One sequence in so many ends as a program ends, with everything alive, and the next ones have a
/// process of their own. More in one process save little time and fill the caches.
const SEQUENCES_PER_PROCESS: u64 = 8;
/// How often a step is drawn again before the sequence ends early.
const TRIES: usize = 10_000;

/// The sides that there is a model of.
pub fn sides() -> impl Iterator<Item = Side> {
    SideModel::all().map(|model| model.side)
}

/// The names of the demands of all models, as `demands` of the catalogue spells them.
pub fn demand_names() -> impl Iterator<Item = String> {
    SideModel::all().flat_map(|model| (model.demand_names)())
}

/// Why nothing can be explored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unexplorable {
    #[error("there is no model of `{0}`")]
    NoModel(Side),
    #[error(transparent)]
    UnmetDemand(#[from] UnmetDemand),
}

/// What a run explores.
#[derive(Debug, Clone)]
pub struct Exploration {
    pub seed: u64,
    /// Steps altogether.
    pub ops: u64,
    /// What the subject offers: `host_memory`, `memory_info`, `ipc`, `two_devices`.
    pub offer: BTreeSet<Need>,
    side: &'static SideModel,
    requirements: Arc<RequirementIds>,
}

impl Exploration {
    /// # Errors
    /// There is no model of the side, or no requirement of the catalogue stands for one of its
    /// demands.
    pub fn new(
        side: Side,
        seed: u64,
        ops: u64,
        offer: BTreeSet<Need>,
        catalogue: &Catalogue,
    ) -> Result<Self, Unexplorable> {
        let model = SideModel::all().find(|model| model.side == side);
        let side = model.ok_or(Unexplorable::NoModel(side))?;
        let requirements = Arc::new((side.requirements)(catalogue, &offer)?);
        Ok(Self { seed, ops, offer, side, requirements })
    }

    #[must_use]
    pub fn side(&self) -> Side {
        self.side.side
    }

    /// What the case of a drawn sequence is called.
    #[must_use]
    pub fn case_id(&self, number: u64) -> String {
        format!("{}/explored/{number}", self.side())
    }

    /// The requirements that the model can find violated.
    #[must_use]
    pub fn requirements(&self) -> &Arc<RequirementIds> {
        &self.requirements
    }

    /// The number of sequences.
    #[must_use]
    pub fn sequences(&self) -> u64 {
        self.ops.div_ceil(LENGTH)
    }

    /// The steps of one sequence. They are the same for the same seed and offer on any machine,
    /// whatever other sequences are drawn.
    #[must_use]
    pub fn sequence(&self, number: u64) -> Sequence {
        let mut random = Random::new(self.seed, number);
        let length = LENGTH.min(self.ops.saturating_sub(number.saturating_mul(LENGTH)));
        let last = number % SEQUENCES_PER_PROCESS == SEQUENCES_PER_PROCESS - 1;
        let teardown = if last { Teardown::Exit } else { Teardown::Clean };
        // Every second sequence, because such a sequence shows less, or nothing on some subjects.
        let varied = number % 2 == 1;
        // The sequences of one process share a machine.
        let two_devices = self.offer.contains(&Need::TwoDevices);
        let machine = (self.side.machine)(number / SEQUENCES_PER_PROCESS, two_devices);
        let requirements = Arc::clone(&self.requirements);
        let mut builder = SequenceBuilder::new(self.side, machine, teardown, requirements);
        while (builder.len() as u64) < length {
            let drawn = (0..TRIES).any(|_| {
                let step = builder.draw(&mut random, &self.offer, varied);
                step.is_some_and(|step| builder.push(step))
            });
            if !drawn {
                break;
            }
        }
        builder.finish()
    }

    /// Sequences that one process may perform. The first chunks are short, so that what is broken
    /// everywhere is found at once.
    #[must_use]
    pub fn chunks(&self) -> Vec<Range<u64>> {
        let (mut chunks, mut start) = (Vec::new(), 0);
        while start < self.sequences() {
            // The machine may change at a multiple of SEQUENCES_PER_PROCESS.
            let longest = SEQUENCES_PER_PROCESS - start % SEQUENCES_PER_PROCESS;
            let end = (start + (start + 1).min(longest)).min(self.sequences());
            chunks.push(start..end);
            start = end;
        }
        chunks
    }

    /// The sequences that ran before this one in its process, and itself.
    #[must_use]
    pub fn with_predecessors(&self, number: u64) -> RangeInclusive<u64> {
        let chunk = self.chunks().into_iter().find(|chunk| chunk.contains(&number));
        chunk.map_or(number, |chunk| chunk.start)..=number
    }
}
