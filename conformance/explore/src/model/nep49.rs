//! The model of `nep49`: the live blocks of a NumPy handler, and what is known of their bytes.
//!
//! The requests are those that NumPy makes, and some that it may make: the model leaves out
//! requests for no bytes, and those that a handler SHOULD refuse because their size wraps. The
//! block that a handler wrongly gives for such a size has no end that a model could know.
//!
//! - [`blocks`]: what each operation does to the blocks, and what must come of it.
//! - [`random_step`]: which step comes next.

mod blocks;
mod demand;
mod operations;
mod random_step;

use allocert_requirements::Side;
use allocert_suite::expectation::Expectations;
use allocert_suite::interface::SideOperation;
use allocert_suite::interface::nep49::Operation;
use allocert_suite::interface::shared::Drop;
use allocert_suite::nouns::{Name, Thread};

use crate::demand::RequirementIds;
use crate::expected;
use crate::model::{self, DrawSource, Machine, SideDefinition};
use crate::step::Step;
use crate::written_bytes::{LONGEST_BYTES, WrittenBytes};

use demand::Demand;

type Expected = expected::Expected<Demand>;

/// The largest block that is asked for; two dozen of them are at hand on every machine.
const LARGEST_BYTES: u64 = 4 << 20;
/// More than any machine has; NumPy passes on every size up to the second.
const TOO_MUCH: [u64; 2] = [1 << 62, i64::MAX as u64];

pub(super) struct Definition;

impl SideDefinition for Definition {
    type Demand = Demand;
    type Operation = Operation;

    const SIDE: Side = Side::Nep49;
    const PLAIN_MACHINE: Option<Machine> = None;

    fn machine(_process: u64, _two_devices: bool) -> Option<Machine> {
        None
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
    size_bytes: u64,
    /// It was given on a thread that has ended.
    of_other_thread: bool,
    /// A handler SHOULD have given it, and need not: it may only be freed.
    doubtful: bool,
    bytes: WrittenBytes,
    /// Where the known bytes come from: the number of an [`Origin`] for each.
    origins: WrittenBytes,
}

/// Where a byte comes from. It says which requirement it breaks if the byte is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Calloc = 1,
    Realloc,
    /// It was there when a request of realloc() failed.
    FailedRealloc,
    Fill,
}

impl Block {
    fn know(&mut self, start: u64, end: u64, byte: u8, origin: Origin) {
        self.bytes.fill(start, end, byte);
        self.origins.fill(start, end, origin as u8);
    }

    /// All known bytes now come from there.
    fn mark(&mut self, origin: Origin) {
        for range in self.bytes.within(0, self.size_bytes) {
            self.origins.fill(range.start, range.end, origin as u8);
        }
    }

    /// The demand that these bytes are what they were.
    fn demand(&self, start: u64, end: u64) -> Demand {
        let is = |origin: Origin| self.origins.uniform(start, end) == Some(origin as u8);
        if is(Origin::Calloc) {
            Demand::CallocZeros
        } else if is(Origin::Realloc) {
            Demand::ReallocKeepsBytes
        } else if is(Origin::FailedRealloc) {
            Demand::FailedReallocKeepsBlock
        } else {
            Demand::BlockKeepsBytes
        }
    }

    /// A part of it that the host may touch.
    fn part(&self, offset: u64, size: Option<u64>) -> Option<(u64, u64)> {
        let size_bytes = size.or_else(|| self.size_bytes.checked_sub(offset))?;
        let end = offset.checked_add(size_bytes)?;
        let touched = (1..=LONGEST_BYTES).contains(&size_bytes) && end <= self.size_bytes;
        (touched && !self.doubtful).then_some((offset, end))
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
        match Operation::of(&step.r#do)? {
            Operation::Malloc { size, r#as } => {
                self.request(r#as, *size, Demand::MallocServed, fresh)
            }
            Operation::Calloc { nelem, elsize: 1, r#as } => {
                let expected = self.request(r#as, *nelem, Demand::CallocServed, fresh)?;
                if let Some(at) = self.block(r#as) {
                    self.blocks[at].know(0, *nelem, 0, Origin::Calloc);
                }
                Some(expected)
            }
            Operation::Realloc { block, size, r#as } => self.realloc(block, *size, r#as, fresh),
            Operation::Drop(Drop { name }) => self.free(name, fresh, Expected::nothing()),
            Operation::FreeWithSize { block, .. } => {
                let expected = Expected::nothing().returns(Demand::FreeWithSizeServed);
                self.free(block, fresh, expected)
            }
            _ if fresh => None,
            Operation::ReallocNull { size, r#as } => {
                let expected = self.request(r#as, *size, Demand::ReallocNullServed, false)?;
                self.blocks.last_mut()?.doubtful = true;
                Some(expected)
            }
            Operation::ReallocTooMuch { block, size } => self.realloc_too_much(block, *size),
            Operation::FreeNull { .. } => {
                Some(Expected::nothing().returns(Demand::FreeOfNullServed))
            }
            Operation::Fill(fill) => self.fill(fill),
            Operation::Read(read) => self.read(read),
            Operation::Churn { size, times, hold } => blocks::churn(*size, *times, *hold),
            Operation::Stress { threads, size, times } => blocks::stress(*threads, *size, *times),
            _ => None,
        }
    }

    /// The place of a live block.
    fn block(&self, name: &str) -> Option<usize> {
        self.blocks.iter().position(|block| block.name == name)
    }
}
