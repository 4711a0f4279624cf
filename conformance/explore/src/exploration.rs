//! An exploration: all its sequences follow from a seed.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use allocert_requirements::Catalogue;
use allocert_suite::nouns::{Need, Teardown};

use crate::demand::{RequirementIds, UnmetDemand};
use crate::model::Machine;
use crate::random_numbers::Random;
use crate::random_step::{self, StepSource};
use crate::sequence::{Sequence, SequenceBuilder};

/// Steps of one sequence: enough to wear a manager out, few enough to be judged as one case.
pub const LENGTH: u64 = 400;
/// One sequence in so many ends as a program ends, with everything alive, and the next ones have a
/// process of their own. More in one process save little time and fill the caches.
const SEQUENCES_PER_PROCESS: u64 = 8;
/// How often a step is drawn again before the sequence ends early.
const TRIES: usize = 10_000;

/// What a run explores.
#[derive(Debug, Clone)]
pub struct Exploration {
    pub seed: u64,
    /// Steps altogether.
    pub ops: u64,
    /// What the subject offers: `host_memory`, `memory_info`, `ipc`, `two_devices`.
    pub offer: BTreeSet<Need>,
    requirements: Arc<RequirementIds>,
}

impl Exploration {
    /// # Errors
    /// The demand of the model that no requirement of the catalogue stands for.
    pub fn new(
        seed: u64,
        ops: u64,
        offer: BTreeSet<Need>,
        catalogue: &Catalogue,
    ) -> Result<Self, UnmetDemand> {
        let requirements = Arc::new(RequirementIds::read(catalogue, &offer)?);
        Ok(Self { seed, ops, offer, requirements })
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
        // With several managers on a device the model can say less of what must be served.
        let several_managers = number % 2 == 1;
        let machine = self.machine(number);
        let mut builder = SequenceBuilder::new(machine, teardown, Arc::clone(&self.requirements));
        while (builder.len() as u64) < length {
            let drawn = (0..TRIES).any(|_| {
                let mut source = StepSource {
                    random: &mut random,
                    model: builder.model(),
                    offer: &self.offer,
                    several_managers,
                    next_name: builder.next_name(),
                };
                let step = random_step::draw(&mut source);
                step.is_some_and(|step| builder.push(step))
            });
            if !drawn {
                break;
            }
        }
        builder.finish()
    }

    /// The sequences of one process share a machine.
    fn machine(&self, number: u64) -> Machine {
        let two = self.offer.contains(&Need::TwoDevices);
        match (number / SEQUENCES_PER_PROCESS) % 4 {
            1 if two => Machine { devices: 2, memory_bytes: 128 << 20 },
            2 => Machine { devices: 1, memory_bytes: 64 << 20 },
            _ => Machine { devices: 1, memory_bytes: 256 << 20 },
        }
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
