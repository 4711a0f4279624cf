//! Draws the next step of a sequence at random. Allocations are likelier while few are alive,
//! releases while many are. The model decides whether a step is legal; if it is not, the caller
//! draws again.

use std::collections::BTreeSet;

use allocert_suite::interface::emm::Operation;
use allocert_suite::interface::shared::{Attach, Drop, Fill, HostBuffer, Read};
use allocert_suite::nouns::{Name, Need};
use smol_str::format_smolstr;

use crate::model::DrawSource;
use crate::model::emm::{HUGE_SIZES, LARGEST_BYTES, Manager, Memory, MemoryKind, Model};
use crate::random_numbers::Random;
use crate::random_part;
use crate::step::{Step, on_fresh_thread, step};

/// Names of memory that are alive at a time: enough to have neighbours, few enough to be read
/// often.
const MEMORIES: usize = 16;
const BUFFERS: usize = 3;
const HANDLES: usize = 4;
const SCOPES: usize = 3;
/// Sizes at the boundaries of common size classes.
const EDGES: [u64; 12] = [1, 8, 255, 256, 257, 511, 512, 513, 4095, 4096, 4097, 65_537];

/// The kinds of steps, each with its weight.
const WEIGHTS: &[(DrawKind, u64)] = &[
    (memalloc, 22),
    (release, 20),
    (fill, 18),
    (read, 24),
    (view, 6),
    (memhostalloc, 6),
    (host_buffer, 1),
    (mempin, 4),
    (get_memory_info, 2),
    (get_ipc_handle, 2),
    (defer_enter, 2),
    (defer_exit, 3),
    (initialize, 2),
    (reset, 1),
    (create, 1),
    (destroy, 1),
    (attach, 2),
    (detach, 1),
    (churn, 1),
];

type DrawKind = fn(&mut StepSource<'_>) -> Option<Step>;

/// What a step is drawn from.
struct StepSource<'a> {
    random: &'a mut Random,
    model: &'a Model,
    offer: &'a BTreeSet<Need>,
    varied: bool,
    next_name: u32,
}

/// Some step; the model may refuse it.
pub(super) fn draw(model: &Model, source: &mut DrawSource<'_>) -> Option<Step> {
    let source = &mut StepSource {
        random: &mut *source.random,
        model,
        offer: source.offer,
        varied: source.varied,
        next_name: source.next_name,
    };
    let ready = |manager: &Manager| manager.is_ready(model.current);
    if !model.managers.iter().any(ready) && source.random.once_in(2) {
        return make_ready(source);
    }
    source.random.weighted(WEIGHTS)?(source)
}

/// Most steps need a manager that is ready.
fn make_ready(source: &mut StepSource<'_>) -> Option<Step> {
    if source.model.current.is_none() {
        return attach(source);
    }
    match source.random.below(3) {
        0 => attach(source),
        1 => create(source),
        _ => initialize(source),
    }
}

fn memalloc(source: &mut StepSource<'_>) -> Option<Step> {
    if source.is_full() {
        return None;
    }
    let on = source.ready_manager()?;
    let size = match source.random.below(100) {
        0..3 => 0,
        3..5 => *source.random.pick(&HUGE_SIZES)?,
        5..9 => source.size_near_capacity(on.device)?,
        9..13 => source.random.between(1, LARGEST_BYTES),
        13..25 => source.random.between(1, 1 << 20),
        25..45 => *source.random.pick(&EDGES)?,
        _ => source.random.between(1, 4096),
    };
    let r#as = source.name("a");
    Some(step(Operation::Memalloc { size: size.into(), r#as }, &on.name))
}

fn memhostalloc(source: &mut StepSource<'_>) -> Option<Step> {
    if source.is_full() || !source.offer.contains(&Need::HostMemory) {
        return None;
    }
    let on = source.ready_manager()?;
    let size = match source.random.below(20) {
        0 => 0,
        1..5 => *source.random.pick(&EDGES)?,
        5..8 => source.random.between(1, 1 << 16),
        _ => source.random.between(1, 4096),
    };
    let (mapped, portable, wc) =
        (source.random.once_in(2), source.random.once_in(4), source.random.once_in(6));
    let r#as = source.name("p");
    Some(step(Operation::Memhostalloc { size, mapped, portable, wc, r#as }, &on.name))
}

fn host_buffer(source: &mut StepSource<'_>) -> Option<Step> {
    if source.model.buffers.len() >= BUFFERS || !source.offer.contains(&Need::HostMemory) {
        return None;
    }
    let size = 4096 * source.random.between(1, 4);
    let r#as = source.name("b");
    Some(step(Operation::HostBuffer(HostBuffer { size, offset: 0, r#as }), "m"))
}

fn mempin(source: &mut StepSource<'_>) -> Option<Step> {
    let on = source.ready_manager()?;
    let buffer = source.random.pick(&source.model.buffers)?;
    // Few regions are pinned twice.
    if !buffer.pins.is_empty() && source.random.below(6) > 0 {
        return None;
    }
    let (buffer, mapped) = (buffer.name.clone(), source.random.once_in(2));
    let r#as = source.name("p");
    Some(step(Operation::Mempin { buffer, mapped, r#as }, &on.name))
}

fn view(source: &mut StepSource<'_>) -> Option<Step> {
    if source.is_full() {
        return None;
    }
    let of = source.memory()?;
    let offset = if source.random.once_in(4) { 0 } else { source.random.below(of.size_bytes) };
    let size = source.random.between(1, (of.size_bytes - offset).max(1));
    let on = &source.model.managers[source.model.allocation(of).manager].name;
    let (of, r#as) = (of.name.clone(), source.name("v"));
    Some(step(Operation::View { of, offset, size, r#as }, on))
}

fn release(source: &mut StepSource<'_>) -> Option<Step> {
    let live = source.model.memories.len();
    if live < MEMORIES / 2 && source.random.below(MEMORIES as u64) >= live as u64 {
        return None;
    }
    let name = match source.random.once_in(12) {
        true => source.random.pick(&source.model.handles)?.name.clone(),
        false => source.memory()?.name.clone(),
    };
    let release = step(Operation::Drop(Drop { name }), "m");
    // Few, because a new thread costs more than any other step.
    Some(if source.random.once_in(48) { on_fresh_thread(release) } else { release })
}

fn fill(source: &mut StepSource<'_>) -> Option<Step> {
    let (name, whole) = source.touchable()?;
    let (offset, size) = random_part::to_fill(source.random, whole);
    let byte = source.random.between(1, 255) as u8;
    Some(step(Operation::Fill(Fill { memory: name, byte, offset, size }), "m"))
}

/// Reads a part of memory whose contents are known.
fn read(source: &mut StepSource<'_>) -> Option<Step> {
    let (memory, whole, known) = if source.random.once_in(12) {
        let buffer = source.random.pick(&source.model.buffers)?;
        (buffer.name.clone(), buffer.size_bytes, buffer.bytes.within(0, buffer.size_bytes))
    } else {
        let memory = source.memory()?;
        let allocation = source.model.allocation(memory);
        let bytes = match allocation.kind {
            MemoryKind::Pin(buffer) => &source.model.buffers[buffer].bytes,
            MemoryKind::Device | MemoryKind::Host => &allocation.bytes,
        };
        let (start, end) = (memory.offset, memory.offset + memory.size_bytes);
        let mut known = bytes.within(start, end);
        known
            .iter_mut()
            .for_each(|range| (range.start, range.end) = (range.start - start, range.end - start));
        (memory.name.clone(), memory.size_bytes, known)
    };
    let (offset, size) = random_part::to_read(source.random, &known, whole)?;
    Some(step(Operation::Read(Read { memory, offset, size, device: false }), "m"))
}

fn get_memory_info(source: &mut StepSource<'_>) -> Option<Step> {
    let on = source.ready_manager()?;
    let asked = step(Operation::GetMemoryInfo { r#as: None }, &on.name);
    source.offer.contains(&Need::MemoryInfo).then_some(asked)
}

fn get_ipc_handle(source: &mut StepSource<'_>) -> Option<Step> {
    if source.model.handles.len() >= HANDLES || !source.offer.contains(&Need::Ipc) {
        return None;
    }
    let memory = source.memory()?;
    let allocation = source.model.allocation(memory);
    let on = source.model.managers[allocation.manager].name.clone();
    let (memory, r#as) = (memory.name.clone(), source.name("h"));
    Some(step(Operation::GetIpcHandle { memory, r#as }, &on))
}

fn defer_enter(source: &mut StepSource<'_>) -> Option<Step> {
    let on = source.ready_manager()?;
    let r#as = source.name("s");
    (on.scopes.len() < SCOPES).then(|| step(Operation::DeferEnter { r#as }, &on.name))
}

fn defer_exit(source: &mut StepSource<'_>) -> Option<Step> {
    let on = source.ready_manager()?;
    let scope = on.scopes.last()?.clone();
    let raising = source.random.once_in(6);
    Some(step(Operation::DeferExit { scope, raising }, &on.name))
}

fn initialize(source: &mut StepSource<'_>) -> Option<Step> {
    let on = source.living_manager()?;
    Some(step(Operation::Initialize {}, &on.name))
}

fn reset(source: &mut StepSource<'_>) -> Option<Step> {
    let on = source.living_manager()?;
    let reset = step(Operation::Reset {}, &on.name);
    Some(if source.random.once_in(8) { on_fresh_thread(reset) } else { reset })
}

fn create(source: &mut StepSource<'_>) -> Option<Step> {
    if !source.varied && source.model.managers.iter().any(|manager| !manager.destroyed) {
        return None;
    }
    let device = source.random.below(source.model.machine.devices.into()) as u32;
    let r#as = source.name("m");
    Some(step(Operation::Create { r#as, device }, "m"))
}

fn destroy(source: &mut StepSource<'_>) -> Option<Step> {
    let on = source.living_manager()?;
    Some(step(Operation::Destroy {}, &on.name))
}

fn attach(source: &mut StepSource<'_>) -> Option<Step> {
    let device = source.random.below(source.model.machine.devices.into()) as u32;
    Some(step(Operation::Attach(Attach { device }), "m"))
}

/// Rarely: without a context hardly any step is legal.
fn detach(source: &mut StepSource<'_>) -> Option<Step> {
    source.random.once_in(2).then(|| step(Operation::Detach {}, "m"))
}

fn churn(source: &mut StepSource<'_>) -> Option<Step> {
    let on = source.ready_manager()?;
    let times = source.random.between(2, 32);
    let hold = source.random.between(1, times.min(6));
    let churn = match source.random.below(8) {
        0 => Operation::Churn { size: 0, times: hold, hold, mixed: false },
        1..3 => {
            Operation::Churn { size: source.random.between(1, 1 << 20), times, hold, mixed: false }
        }
        _ => {
            Operation::Churn { size: source.random.between(1, 1 << 14), times, hold, mixed: false }
        }
    };
    Some(step(churn, &on.name))
}

impl<'a> StepSource<'a> {
    fn name(&self, prefix: &str) -> Name {
        format_smolstr!("{prefix}{}", self.next_name)
    }

    fn is_full(&self) -> bool {
        self.model.memories.len() >= MEMORIES
    }

    fn memory(&mut self) -> Option<&'a Memory> {
        self.random.pick(&self.model.memories)
    }

    fn living_manager(&mut self) -> Option<&'a Manager> {
        self.random.pick(&self.model.managers).filter(|manager| !manager.destroyed)
    }

    fn ready_manager(&mut self) -> Option<&'a Manager> {
        let current = self.model.current;
        let ready: Vec<&Manager> =
            self.model.managers.iter().filter(|manager| manager.is_ready(current)).collect();
        self.random.pick(&ready).copied()
    }

    /// A name that has bytes, and how many.
    fn touchable(&mut self) -> Option<(Name, u64)> {
        if self.random.once_in(12) {
            let buffer = self.random.pick(&self.model.buffers)?;
            return Some((buffer.name.clone(), buffer.size_bytes));
        }
        let memory = self.memory()?;
        Some((memory.name.clone(), memory.size_bytes))
    }

    /// A size slightly below or above what the device has left. Managed memory may be more than the
    /// device has.
    fn size_near_capacity(&mut self, device: u32) -> Option<u64> {
        if !self.offer.contains(&Need::DeviceMemory) {
            return None;
        }
        let memory_bytes = self.model.machine.memory_bytes;
        let left = memory_bytes.saturating_sub(self.model.held_bytes(device));
        Some(match self.random.below(3) {
            0 => left + self.random.between(1, 1 << 20),
            1 => memory_bytes + self.random.between(1, 1 << 30),
            _ => left / self.random.between(2, 4),
        })
    }
}
