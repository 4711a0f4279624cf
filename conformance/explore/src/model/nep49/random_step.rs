//! Draws the next step of a sequence at random. Requests are likelier while few blocks are alive,
//! releases while many are. The model decides whether a step is legal; if it is not, the caller
//! draws again.

use allocert_suite::interface::nep49::Operation;
use allocert_suite::interface::shared::{Drop, Fill, Read};
use allocert_suite::nouns::Name;
use smol_str::format_smolstr;

use crate::model::DrawSource;
use crate::model::nep49::{Block, LARGEST_BYTES, Model, TOO_MUCH};
use crate::random_numbers::Random;
use crate::random_part;
use crate::step::{Step, on_fresh_thread, step};

/// Blocks that are alive at a time: enough to have neighbours, few enough to be read often.
const BLOCKS: usize = 24;
/// Sizes at the boundaries of common size classes.
const EDGES: [u64; 14] = [1, 7, 8, 9, 15, 16, 17, 64, 127, 129, 1024, 1025, 4096, 4097];
/// One request or release in so many is made on a thread of its own. A new thread costs more than
/// any other step.
const THREADS: u64 = 64;

/// The kinds of steps, each with its weight.
const WEIGHTS: &[(DrawKind, u64)] = &[
    (malloc, 16),
    (calloc, 12),
    (realloc, 14),
    (realloc_null, 1),
    (realloc_too_much, 2),
    (too_much, 2),
    (release, 26),
    (free_with_size, 6),
    (free_null, 1),
    (fill, 24),
    (read, 32),
    (churn, 1),
    (stress, 1),
];

type DrawKind = fn(&mut StepSource<'_>) -> Option<Step>;

/// What a step is drawn from.
struct StepSource<'a> {
    random: &'a mut Random,
    model: &'a Model,
    next_name: u32,
}

/// Some step; the model may refuse it.
pub(super) fn draw(model: &Model, source: &mut DrawSource<'_>) -> Option<Step> {
    let next_name = source.next_name;
    let source = &mut StepSource { random: &mut *source.random, model, next_name };
    source.random.weighted(WEIGHTS)?(source)
}

fn malloc(source: &mut StepSource<'_>) -> Option<Step> {
    let size = source.size();
    let r#as = source.new_block("a")?;
    Some(source.on_some_thread(Operation::Malloc { size, r#as }))
}

/// NumPy asks for elements of one byte. A handler that does not multiply returns a block that is
/// shorter than the record says, and would seem to break more than its SHOULD.
fn calloc(source: &mut StepSource<'_>) -> Option<Step> {
    let nelem = source.size();
    let r#as = source.new_block("c")?;
    Some(source.on_some_thread(Operation::Calloc { nelem, elsize: 1, r#as }))
}

fn realloc(source: &mut StepSource<'_>) -> Option<Step> {
    let block = source.block()?;
    let size = match source.random.below(8) {
        0 => block.size_bytes,
        1..3 => source.random.between(1, block.size_bytes),
        3..5 => source.random.between(block.size_bytes, block.size_bytes.saturating_mul(2)),
        _ => source.size(),
    };
    let (block, r#as) = (block.name.clone(), source.name("r"));
    Some(source.on_some_thread(Operation::Realloc { block, size, r#as }))
}

fn realloc_null(source: &mut StepSource<'_>) -> Option<Step> {
    let size = source.size();
    let r#as = source.new_block("n")?;
    Some(step(Operation::ReallocNull { size, r#as }, "m"))
}

fn realloc_too_much(source: &mut StepSource<'_>) -> Option<Step> {
    let (block, size) = (source.block()?.name.clone(), *source.random.pick(&TOO_MUCH)?);
    Some(step(Operation::ReallocTooMuch { block, size }, "m"))
}

fn too_much(source: &mut StepSource<'_>) -> Option<Step> {
    let (size, r#as) = (*source.random.pick(&TOO_MUCH)?, source.name("x"));
    let asked = match source.random.once_in(2) {
        true => Operation::Malloc { size, r#as },
        false => Operation::Calloc { nelem: size, elsize: 1, r#as },
    };
    Some(step(asked, "m"))
}

fn release(source: &mut StepSource<'_>) -> Option<Step> {
    let name = source.block_to_free()?;
    Some(source.on_some_thread(Operation::Drop(Drop { name })))
}

fn free_with_size(source: &mut StepSource<'_>) -> Option<Step> {
    let block = source.block_to_free()?;
    let size = match source.random.below(4) {
        0 => 0,
        1 => 1,
        2 => *source.random.pick(&EDGES)?,
        _ => source.size(),
    };
    Some(source.on_some_thread(Operation::FreeWithSize { block, size }))
}

fn free_null(source: &mut StepSource<'_>) -> Option<Step> {
    let size = if source.random.once_in(2) { 0 } else { source.size() };
    Some(step(Operation::FreeNull { size }, "m"))
}

fn fill(source: &mut StepSource<'_>) -> Option<Step> {
    let block = source.block()?;
    let (offset, size) = random_part::to_fill(source.random, block.size_bytes);
    let byte = source.random.between(1, 255) as u8;
    Some(step(Operation::Fill(Fill { memory: block.name.clone(), byte, offset, size }), "m"))
}

/// Reads a part of a block whose bytes are known.
fn read(source: &mut StepSource<'_>) -> Option<Step> {
    let block = source.block()?;
    let known = block.bytes.within(0, block.size_bytes);
    let (offset, size) = random_part::to_read(source.random, &known, block.size_bytes)?;
    let read = Read { memory: block.name.clone(), offset, size, device: false };
    Some(step(Operation::Read(read), "m"))
}

fn churn(source: &mut StepSource<'_>) -> Option<Step> {
    let times = source.random.between(2, 32);
    let hold = source.random.between(1, times.min(6));
    let size = source.random.between(1, 1 << 13);
    Some(step(Operation::Churn { size, times, hold }, "m"))
}

/// Rarely: it starts threads.
fn stress(source: &mut StepSource<'_>) -> Option<Step> {
    let threads = source.random.between(2, 4) as u32;
    let (size, times) = (source.random.between(1, 4096), source.random.between(4, 24));
    let stress = step(Operation::Stress { threads, size, times }, "m");
    source.random.once_in(4).then_some(stress)
}

impl<'a> StepSource<'a> {
    fn name(&self, prefix: &str) -> Name {
        format_smolstr!("{prefix}{}", self.next_name)
    }

    /// The name of a new block, unless enough are alive.
    fn new_block(&self, prefix: &str) -> Option<Name> {
        (self.model.blocks.len() < BLOCKS).then(|| self.name(prefix))
    }

    fn block(&mut self) -> Option<&'a Block> {
        self.random.pick(&self.model.blocks)
    }

    /// The name of some block; often none while few are alive.
    fn block_to_free(&mut self) -> Option<Name> {
        let live = self.model.blocks.len();
        if live < BLOCKS / 2 && self.random.below(BLOCKS as u64) >= live as u64 {
            return None;
        }
        Some(self.block()?.name.clone())
    }

    /// Mostly small, as most arrays are, and often that of another block.
    fn size(&mut self) -> u64 {
        if self.random.once_in(4)
            && let Some(other) = self.block()
        {
            return other.size_bytes;
        }
        match self.random.below(100) {
            0 => self.random.between(1, LARGEST_BYTES),
            1..3 => self.random.between(1, 1 << 20),
            3..10 => self.random.between(1, 1 << 16),
            10..35 => EDGES[self.random.below(EDGES.len() as u64) as usize],
            35..60 => self.random.between(1, 4096),
            _ => self.random.between(1, 256),
        }
    }

    fn on_some_thread(&mut self, operation: Operation) -> Step {
        let step = step(operation, "m");
        if self.random.once_in(THREADS) { on_fresh_thread(step) } else { step }
    }
}
