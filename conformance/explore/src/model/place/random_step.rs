//! Draws the next step of a sequence at random. Requests are likelier while few blocks are alive,
//! releases while many are. The model decides whether a step is legal; if it is not, the caller
//! draws again.

use allocert_suite::interface::place::{Operation, Place, PlaceKind};
use allocert_suite::interface::shared::{Drop, Fill, Read};
use allocert_suite::nouns::{Name, Need};
use smol_str::format_smolstr;

use crate::model::DrawSource;
use crate::model::place::{Block, LARGEST_BYTES, Model, PLACES, TOO_MUCH};
use crate::random_part;
use crate::step::{Step, on_fresh_thread, step};

/// Blocks that are alive at a time: enough to have neighbours, few enough to be read often.
const BLOCKS: usize = 24;
/// Sizes at the boundaries of common size classes.
const EDGES: [u64; 14] = [1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 4095, 4096, 4097, 65536];
/// One request or release in so many is made on a thread of its own. A new thread costs more than
/// any other step.
const THREADS: u64 = 64;

/// The kinds of steps, each with its weight.
const WEIGHTS: &[(DrawKind, u64)] = &[
    (alloc, 30),
    (too_much, 2),
    (free, 26),
    (free_null, 1),
    (free_inside, 2),
    (free_elsewhere, 2),
    (fill, 24),
    (read, 32),
    (used, 8),
    (release, 1),
    (churn, 1),
    (stress, 1),
];

type DrawKind = fn(&mut StepSource<'_, '_>) -> Option<Step>;

/// What a step is drawn from.
struct StepSource<'s, 'a> {
    model: &'s Model,
    draw: &'s mut DrawSource<'a>,
}

/// No caller of an allocator without a table asks for more.
const MOST_WITHOUT_TABLE: u64 = i64::MAX as u64;

/// Some step; the model may refuse it.
pub(super) fn draw(model: &Model, draw: &mut DrawSource<'_>) -> Option<Step> {
    let kind = draw.random.weighted(WEIGHTS)?;
    kind(&mut StepSource { model, draw })
}

fn alloc(source: &mut StepSource<'_, '_>) -> Option<Step> {
    if source.model.blocks.len() >= BLOCKS {
        return None;
    }
    let (place, size, r#as) = (source.place()?, source.size(), source.name("a"));
    Some(source.on_some_thread(Operation::Alloc { place, size, r#as, stream: None }))
}

fn too_much(source: &mut StepSource<'_, '_>) -> Option<Step> {
    let (place, size) = (source.place()?, *source.draw.random.pick(&TOO_MUCH)?);
    if size > MOST_WITHOUT_TABLE && !source.has_table() {
        return None;
    }
    Some(step(Operation::Alloc { place, size, r#as: source.name("x"), stream: None }, "m"))
}

/// Often none while few blocks are alive.
fn free(source: &mut StepSource<'_, '_>) -> Option<Step> {
    let live = source.model.blocks.len();
    if live < BLOCKS / 2 && source.draw.random.below(BLOCKS as u64) >= live as u64 {
        return None;
    }
    let name = source.block()?.name.clone();
    Some(source.on_some_thread(Operation::Drop(Drop { name })))
}

fn free_null(source: &mut StepSource<'_, '_>) -> Option<Step> {
    let place = source.place()?;
    source.has_table().then(|| step(Operation::FreeNull { place }, "m"))
}

fn free_inside(source: &mut StepSource<'_, '_>) -> Option<Step> {
    let block = source.block()?;
    let (place, memory) = (block.place, block.name.clone());
    let offset = source.draw.random.between(1, block.size_bytes);
    source.has_table().then(|| step(Operation::FreeAddress { place, memory, offset }, "m"))
}

fn free_elsewhere(source: &mut StepSource<'_, '_>) -> Option<Step> {
    let memory = source.block()?.name.clone();
    let place = source.place()?;
    let step = step(Operation::FreeAddress { place, memory, offset: 0 }, "m");
    source.has_table().then_some(step)
}

fn fill(source: &mut StepSource<'_, '_>) -> Option<Step> {
    let block = source.block()?;
    let (offset, size) = random_part::to_fill(source.draw.random, block.size_bytes);
    let byte = source.draw.random.between(1, 255) as u8;
    Some(step(Operation::Fill(Fill { memory: block.name.clone(), byte, offset, size }), "m"))
}

/// Reads a part of a block whose bytes are known.
fn read(source: &mut StepSource<'_, '_>) -> Option<Step> {
    let block = source.block()?;
    let known = block.bytes.within(0, block.size_bytes);
    let (offset, size) = random_part::to_read(source.draw.random, &known, block.size_bytes)?;
    let read = Read { memory: block.name.clone(), offset, size, device: false };
    Some(step(Operation::Read(read), "m"))
}

fn used(source: &mut StepSource<'_, '_>) -> Option<Step> {
    let offered = source.draw.offer.contains(&Need::Used);
    let place = source.place()?;
    offered.then(|| step(Operation::Used { place, since: None, r#as: None }, "m"))
}

fn release(source: &mut StepSource<'_, '_>) -> Option<Step> {
    let offered = source.draw.offer.contains(&Need::Release);
    let place = source.place()?;
    offered.then(|| step(Operation::Release { place }, "m"))
}

fn churn(source: &mut StepSource<'_, '_>) -> Option<Step> {
    let place = source.place()?;
    let times = source.draw.random.between(2, 32);
    let hold = source.draw.random.between(1, times.min(6));
    let size = source.draw.random.between(1, 1 << 13);
    Some(step(Operation::Churn { place, size, times, hold, then: None }, "m"))
}

/// Rarely: it starts threads.
fn stress(source: &mut StepSource<'_, '_>) -> Option<Step> {
    let place = source.place()?;
    let threads = source.draw.random.between(2, 4) as u32;
    let size = source.draw.random.between(1, 4096);
    let times = source.draw.random.between(4, 24);
    let stress = step(Operation::Stress { place, threads, size, times }, "m");
    source.draw.random.once_in(4).then_some(stress)
}

impl<'s> StepSource<'s, '_> {
    fn name(&self, prefix: &str) -> Name {
        format_smolstr!("{prefix}{}", self.draw.next_name)
    }

    fn block(&mut self) -> Option<&'s Block> {
        self.draw.random.pick(&self.model.blocks)
    }

    fn has_table(&self) -> bool {
        self.draw.offer.contains(&Need::Table)
    }

    /// The one that an allocator without a table serves. For a table the host in every second
    /// sequence, since a library need not serve any other place.
    fn place(&mut self) -> Option<Place> {
        let of = |kind| Some(Place { kind, device: 0 });
        if self.draw.offer.contains(&Need::DeviceMemory) {
            of(PlaceKind::Cuda)
        } else if self.draw.offer.contains(&Need::HostMemory) || !self.draw.varied {
            of(PlaceKind::Cpu)
        } else {
            self.draw.random.pick(&PLACES).copied()
        }
    }

    /// Mostly small, and often that of another block.
    fn size(&mut self) -> u64 {
        if self.draw.random.once_in(4)
            && let Some(other) = self.block()
        {
            return other.size_bytes;
        }
        let random = &mut *self.draw.random;
        match random.below(100) {
            0 => random.between(1, LARGEST_BYTES),
            1..3 => random.between(1, 1 << 20),
            3..10 => random.between(1, 1 << 16),
            10..35 => EDGES[random.below(EDGES.len() as u64) as usize],
            35..60 => random.between(1, 4096),
            _ => random.between(1, 256),
        }
    }

    fn on_some_thread(&mut self, operation: Operation) -> Step {
        let step = step(operation, "m");
        if self.draw.random.once_in(THREADS) { on_fresh_thread(step) } else { step }
    }
}
