//! The model of `place`: the live blocks of each place, and what is known of their bytes.
//!
//! It leaves out requests for no bytes, which a library may answer in two ways, and the misuse
//! whose outcome depends on where the library puts its blocks: a block that is freed twice may be
//! another one's by then.
//!
//! - [`random_step`]: which step comes next.

mod demand;
mod operations;
mod random_step;

use allocert_requirements::Side;
use allocert_suite::expectation::Expectations;
use allocert_suite::interface::SideOperation;
use allocert_suite::interface::place::{Operation, Place, PlaceKind};
use allocert_suite::interface::shared::{Drop, Fill, Read};
use allocert_suite::nouns::{ErrorKind, Name, Thread};

use crate::demand::RequirementIds;
use crate::expected::{self, at_least, is, multiple_of, not};
use crate::model::{self, DrawSource, Machine, SideDefinition};
use crate::step::Step;
use crate::written_bytes::{LONGEST_BYTES, WrittenBytes};

use demand::Demand;

type Expected = expected::Expected<Demand>;

/// The largest block that is asked for; two dozen of them are at hand at every place.
const LARGEST_BYTES: u64 = 4 << 20;
/// More than any machine has.
const TOO_MUCH: [u64; 3] = [1 << 62, i64::MAX as u64, u64::MAX];
/// Limits of the two operations with many blocks, so that a step takes little time.
const LONGEST_TIMES: u64 = 64;
const MOST_THREADS: u32 = 8;
const LARGEST_OF_MANY: u64 = 64 << 10;

const PLACES: [Place; 3] = [
    Place { kind: PlaceKind::Cpu, device: 0 },
    Place { kind: PlaceKind::Cuda, device: 0 },
    Place { kind: PlaceKind::CudaPinned, device: 0 },
];

/// Enough for all blocks, and for a library that takes its memory in large pieces.
const MACHINE: Machine = Machine { devices: 1, memory_bytes: 2 << 30 };

pub(super) struct Definition;

impl SideDefinition for Definition {
    type Demand = Demand;
    type Operation = Operation;

    const SIDE: Side = Side::Place;
    const PLAIN_MACHINE: Option<Machine> = Some(MACHINE);

    fn machine(_process: u64, _two_devices: bool) -> Option<Machine> {
        Some(MACHINE)
    }

    fn start(_machine: Option<Machine>) -> Box<dyn model::Model> {
        Box::new(Model::default())
    }
}

/// The blocks after some steps.
#[derive(Debug, Default)]
struct Model {
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    name: Name,
    place: Place,
    size_bytes: u64,
    /// It was given on a thread that has ended.
    of_other_thread: bool,
    bytes: WrittenBytes,
}

impl Block {
    /// A part of it that the host may touch.
    fn part(&self, offset: u64, size: Option<u64>) -> Option<(u64, u64)> {
        let size_bytes = size.or_else(|| self.size_bytes.checked_sub(offset))?;
        let end = offset.checked_add(size_bytes)?;
        let touched = (1..=LONGEST_BYTES).contains(&size_bytes) && end <= self.size_bytes;
        touched.then_some((offset, end))
    }
}

impl model::Model for Model {
    fn draw(&self, source: &mut DrawSource<'_>) -> Option<Step> {
        random_step::draw(self, source)
    }

    fn apply(&mut self, step: &Step, requirements: &RequirementIds) -> Option<Expectations> {
        model::stated(self.expected(step), requirements)
    }

    /// A program may end with every block alive.
    fn closing_steps(&self) -> Vec<Step> {
        Vec::new()
    }
}

impl Model {
    /// What must come of a step, if it is legal.
    fn expected(&mut self, step: &Step) -> Option<Expected> {
        let fresh = step.thread == Some(Thread::Fresh);
        let nothing = Expected::nothing();
        match Operation::of(&step.r#do)? {
            Operation::Alloc { place, size, r#as, .. } => self.alloc(*place, *size, r#as, fresh),
            Operation::Drop(Drop { name }) => self.free(name, fresh),
            _ if fresh => None,
            Operation::FreeNull { .. } => Some(nothing.returns(Demand::FreeOfNullAtPlaceServed)),
            Operation::FreeAddress { place, memory, offset } => {
                self.free_address(*place, memory, *offset)
            }
            Operation::Fill(fill) => self.fill(fill),
            Operation::Read(read) => self.read(read),
            Operation::Used { place, since: None, r#as: None } => Some(self.used(*place)),
            Operation::Release { .. } => Some(nothing.returns(Demand::ReleaseServed)),
            Operation::Churn { size, times, hold, .. } => churn(*size, *times, *hold),
            Operation::Stress { threads, size, times, .. } => stress(*threads, *size, *times),
            _ => None,
        }
    }

    fn alloc(&mut self, place: Place, size: u64, name: &str, fresh: bool) -> Option<Expected> {
        let nothing = Expected::nothing();
        if TOO_MUCH.contains(&size) && !fresh {
            return Some(nothing.raises(Demand::TooMuchAtPlaceFails, &[ErrorKind::Any]));
        }
        if !(1..=LARGEST_BYTES).contains(&size) {
            return None;
        }
        self.blocks.push(Block {
            name: name.into(),
            place,
            size_bytes: size,
            of_other_thread: fresh,
            bytes: WrittenBytes::default(),
        });
        let served = nothing.facts(Demand::AllocAtPlaceServed, [("pointer", not(0))]);
        Some(served.facts(Demand::BlockOfPlaceAligned, [("pointer", multiple_of(32))]))
    }

    fn free(&mut self, name: &str, fresh: bool) -> Option<Expected> {
        let block = self.blocks.remove(self.block(name)?);
        let served = Expected::nothing().returns(Demand::FreeAtPlaceServed);
        Some(match fresh || block.of_other_thread {
            true => served.returns(Demand::BlockOfOtherThreadFreed),
            false => served,
        })
    }

    /// Legal where the library must refuse the address: inside a block, or at another place.
    fn free_address(&self, place: Place, memory: &str, offset: u64) -> Option<Expected> {
        let block = &self.blocks[self.block(memory)?];
        let demand = match (offset, block.place == place) {
            (0, false) => Demand::BlockOfOtherPlaceRefused,
            (1.., true) if offset < block.size_bytes => Demand::AddressInsideRefused,
            _ => return None,
        };
        Some(Expected::nothing().raises(demand, &[ErrorKind::InvalidValue]))
    }

    fn fill(&mut self, fill: &Fill) -> Option<Expected> {
        let at = self.block(&fill.memory)?;
        let block = &mut self.blocks[at];
        let (start, end) = block.part(fill.offset, fill.size)?;
        block.bytes.fill(start, end, fill.byte);
        Some(Expected::nothing().returns(Demand::BlockOfPlaceKeepsBytes))
    }

    /// Legal only where the bytes are known.
    fn read(&self, read: &Read) -> Option<Expected> {
        let block = &self.blocks[self.block(&read.memory)?];
        let (start, end) = block.part(read.offset, read.size)?;
        let byte = block.bytes.uniform(start, end)?;
        let same = [("uniform", is(byte))];
        Some(Expected::nothing().facts(Demand::BlockOfPlaceKeepsBytes, same))
    }

    fn used(&self, place: Place) -> Expected {
        let live = self.blocks.iter().filter(|block| block.place == place);
        let (demand, bytes) = match live.map(|block| block.size_bytes).sum() {
            0 => (Demand::UsedFallsToZero, is(0)),
            least => (Demand::UsedCountsLive, at_least(least)),
        };
        Expected::nothing().facts(demand, [("bytes", bytes)])
    }

    /// The index of a live block.
    fn block(&self, name: &str) -> Option<usize> {
        self.blocks.iter().position(|block| block.name == name)
    }
}

/// Many requests and releases in a row.
fn churn(size_bytes: u64, times: u64, hold: u64) -> Option<Expected> {
    let modest = (1..=LARGEST_OF_MANY).contains(&size_bytes)
        && (1..=LONGEST_TIMES).contains(&times)
        && hold > 0;
    modest.then(|| {
        Expected::nothing()
            .facts(Demand::BlocksOfPlaceInTurn, [("failed", is(0))])
            .facts(Demand::BlocksOfPlaceDisjoint, [("overlaps", is(0))])
            .facts(Demand::BlockOfPlaceAligned, [("misaligned", is(0))])
            .facts(Demand::BlockOfPlaceKeepsBytes, [("changed", is(0))])
    })
}

/// The same on several threads at once.
fn stress(threads: u32, size_bytes: u64, times: u64) -> Option<Expected> {
    let modest = (1..=LARGEST_OF_MANY).contains(&size_bytes)
        && (1..=LONGEST_TIMES).contains(&times)
        && (2..=MOST_THREADS).contains(&threads);
    let none = ["failed", "changed", "misaligned"].map(|fact| (fact, is(0)));
    modest.then(|| Expected::nothing().facts(Demand::ThreadsAtPlaceAtOnce, none))
}
