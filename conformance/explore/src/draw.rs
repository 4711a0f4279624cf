//! The next step of a sequence, drawn with an eye on the state: what fills memory is likelier while
//! there is little, what empties it while there is much. Whether a step is legal the model decides;
//! one that is not is drawn again.

use std::collections::BTreeSet;

use allocert_suite::case::Step;
use allocert_suite::nouns::{Name, Need};
use allocert_suite::operation::Operation;
use smol_str::format_smolstr;

use crate::model::{HUGE_SIZES, Kind, Manager, Memory, Model};
use crate::random::Random;
use crate::sequence::{on_fresh_thread, step};

/// Names of memory at a time: enough for neighbours, few enough to be read back often.
const MEMORIES: usize = 16;
const BUFFERS: usize = 3;
const HANDLES: usize = 4;
const SCOPES: usize = 3;
const LONGEST_TOUCH_BYTES: u64 = crate::model::LONGEST_BYTES;
/// Sizes at which allocators change their ways.
const EDGES: [u64; 12] = [1, 8, 255, 256, 257, 511, 512, 513, 4095, 4096, 4097, 65_537];

/// The kinds of steps and how often each is drawn.
const WEIGHTS: &[(Draw, u64)] = &[
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

type Draw = fn(&mut Hand<'_>) -> Option<Step>;

/// What a draw is made from.
pub(crate) struct Hand<'a> {
    pub(crate) random: &'a mut Random,
    pub(crate) model: &'a Model,
    pub(crate) offer: &'a BTreeSet<Need>,
    /// More managers than the first are made.
    pub(crate) plural: bool,
    pub(crate) next_name: u32,
}

/// Some step; the model may refuse it.
pub(crate) fn step_of(hand: &mut Hand<'_>) -> Option<Step> {
    let model = hand.model;
    let ready = |manager: &Manager| manager.is_ready(model.current);
    if !model.managers.iter().any(ready) && hand.random.once_in(2) {
        return make_ready(hand);
    }
    let total: u64 = WEIGHTS.iter().map(|(_, weight)| weight).sum();
    let mut at = hand.random.below(total);
    let (draw, _) = WEIGHTS.iter().find(|(_, weight)| {
        let found = at < *weight;
        at = at.saturating_sub(*weight);
        found
    })?;
    draw(hand)
}

/// Nothing but a manager that is ready can do much.
fn make_ready(hand: &mut Hand<'_>) -> Option<Step> {
    if hand.model.current.is_none() {
        return attach(hand);
    }
    match hand.random.below(3) {
        0 => attach(hand),
        1 => create(hand),
        _ => initialize(hand),
    }
}

fn memalloc(hand: &mut Hand<'_>) -> Option<Step> {
    if hand.is_full() {
        return None;
    }
    let on = hand.ready_manager()?;
    let size = match hand.random.below(100) {
        0..3 => 0,
        3..5 => *hand.random.pick(&HUGE_SIZES)?,
        5..9 => hand.near_the_end(on.device),
        9..13 => hand.random.between(1, hand.model.machine.memory_bytes / 32),
        13..25 => hand.random.between(1, 1 << 20),
        25..45 => *hand.random.pick(&EDGES)?,
        _ => hand.random.between(1, 4096),
    };
    let r#as = hand.name("a");
    Some(step(Operation::Memalloc { size: size.into(), r#as }, &on.name))
}

fn memhostalloc(hand: &mut Hand<'_>) -> Option<Step> {
    if hand.is_full() || !hand.offer.contains(&Need::HostMemory) {
        return None;
    }
    let on = hand.ready_manager()?;
    let size = match hand.random.below(20) {
        0 => 0,
        1..5 => *hand.random.pick(&EDGES)?,
        5..8 => hand.random.between(1, 1 << 16),
        _ => hand.random.between(1, 4096),
    };
    let (mapped, portable, wc) =
        (hand.random.once_in(2), hand.random.once_in(4), hand.random.once_in(6));
    let r#as = hand.name("p");
    Some(step(Operation::Memhostalloc { size, mapped, portable, wc, r#as }, &on.name))
}

fn host_buffer(hand: &mut Hand<'_>) -> Option<Step> {
    if hand.model.buffers.len() >= BUFFERS || !hand.offer.contains(&Need::HostMemory) {
        return None;
    }
    let size = 4096 * hand.random.between(1, 4);
    let r#as = hand.name("b");
    Some(step(Operation::HostBuffer { size, r#as }, "m"))
}

fn mempin(hand: &mut Hand<'_>) -> Option<Step> {
    let on = hand.ready_manager()?;
    let buffer = hand.random.pick(&hand.model.buffers)?;
    // A second pinning of a pinned region is a rare thing.
    if !buffer.pins.is_empty() && hand.random.below(6) > 0 {
        return None;
    }
    let (buffer, mapped) = (buffer.name.clone(), hand.random.once_in(2));
    let r#as = hand.name("p");
    Some(step(Operation::Mempin { buffer, mapped, r#as }, &on.name))
}

fn view(hand: &mut Hand<'_>) -> Option<Step> {
    if hand.is_full() {
        return None;
    }
    let of = hand.memory()?;
    let offset = if hand.random.once_in(4) { 0 } else { hand.random.below(of.size_bytes) };
    let size = hand.random.between(1, (of.size_bytes - offset).max(1));
    let on = &hand.model.managers[hand.model.root(of).manager].name;
    let (of, r#as) = (of.name.clone(), hand.name("v"));
    Some(step(Operation::View { of, offset, size, r#as }, on))
}

fn release(hand: &mut Hand<'_>) -> Option<Step> {
    let live = hand.model.memories.len();
    if live < MEMORIES / 2 && hand.random.below(MEMORIES as u64) >= live as u64 {
        return None;
    }
    let name = match hand.random.once_in(12) {
        true => hand.random.pick(&hand.model.handles)?.name.clone(),
        false => hand.memory()?.name.clone(),
    };
    let release = step(Operation::Drop { name }, "m");
    // A thread takes longer than all else.
    Some(if hand.random.once_in(48) { on_fresh_thread(release) } else { release })
}

fn fill(hand: &mut Hand<'_>) -> Option<Step> {
    let (name, whole) = hand.touchable()?;
    let (offset, size) = hand.part(whole);
    let byte = hand.random.between(1, 255) as u8;
    Some(step(Operation::Fill { memory: name, byte, offset, size }, "m"))
}

/// What is known of a name: all of it, or the part that was written last.
fn read(hand: &mut Hand<'_>) -> Option<Step> {
    let (memory, whole, known) = if hand.random.once_in(12) {
        let buffer = hand.random.pick(&hand.model.buffers)?;
        (buffer.name.clone(), buffer.size_bytes, buffer.bytes.within(0, buffer.size_bytes))
    } else {
        let memory = hand.memory()?;
        let root = hand.model.root(memory);
        let bytes = match root.kind {
            Kind::Pin(buffer) => &hand.model.buffers[buffer].bytes,
            Kind::Device | Kind::Host => &root.bytes,
        };
        let (start, end) = (memory.offset, memory.offset + memory.size_bytes);
        let mut known = bytes.within(start, end);
        known
            .iter_mut()
            .for_each(|range| (range.start, range.end) = (range.start - start, range.end - start));
        (memory.name.clone(), memory.size_bytes, known)
    };
    let range = *hand.random.pick(&known)?;
    let size = (range.end - range.start).min(LONGEST_TOUCH_BYTES);
    let (offset, size) =
        if range.start == 0 && size == whole { (0, None) } else { (range.end - size, Some(size)) };
    Some(step(Operation::Read { memory, offset, size, device: false }, "m"))
}

fn get_memory_info(hand: &mut Hand<'_>) -> Option<Step> {
    let on = hand.ready_manager()?;
    let asked = step(Operation::GetMemoryInfo { r#as: None }, &on.name);
    hand.offer.contains(&Need::MemoryInfo).then_some(asked)
}

fn get_ipc_handle(hand: &mut Hand<'_>) -> Option<Step> {
    if hand.model.handles.len() >= HANDLES || !hand.offer.contains(&Need::Ipc) {
        return None;
    }
    let memory = hand.memory()?;
    let root = hand.model.root(memory);
    let on = hand.model.managers[root.manager].name.clone();
    let (memory, r#as) = (memory.name.clone(), hand.name("h"));
    Some(step(Operation::GetIpcHandle { memory, r#as }, &on))
}

fn defer_enter(hand: &mut Hand<'_>) -> Option<Step> {
    let on = hand.ready_manager()?;
    let r#as = hand.name("s");
    (on.scopes.len() < SCOPES).then(|| step(Operation::DeferEnter { r#as }, &on.name))
}

fn defer_exit(hand: &mut Hand<'_>) -> Option<Step> {
    let on = hand.ready_manager()?;
    let scope = on.scopes.last()?.clone();
    let raising = hand.random.once_in(6);
    Some(step(Operation::DeferExit { scope, raising }, &on.name))
}

fn initialize(hand: &mut Hand<'_>) -> Option<Step> {
    let on = hand.living_manager()?;
    Some(step(Operation::Initialize {}, &on.name))
}

fn reset(hand: &mut Hand<'_>) -> Option<Step> {
    let on = hand.living_manager()?;
    let reset = step(Operation::Reset {}, &on.name);
    Some(if hand.random.once_in(8) { on_fresh_thread(reset) } else { reset })
}

fn create(hand: &mut Hand<'_>) -> Option<Step> {
    if !hand.plural && hand.model.managers.iter().any(|manager| !manager.gone) {
        return None;
    }
    let device = hand.random.below(hand.model.machine.devices.into()) as u32;
    let r#as = hand.name("m");
    Some(step(Operation::Create { r#as, device }, "m"))
}

fn destroy(hand: &mut Hand<'_>) -> Option<Step> {
    let on = hand.living_manager()?;
    Some(step(Operation::Destroy {}, &on.name))
}

fn attach(hand: &mut Hand<'_>) -> Option<Step> {
    let device = hand.random.below(hand.model.machine.devices.into()) as u32;
    Some(step(Operation::Attach { device }, "m"))
}

/// For a moment: nearly nothing can be done without a context.
fn detach(hand: &mut Hand<'_>) -> Option<Step> {
    hand.random.once_in(2).then(|| step(Operation::Detach {}, "m"))
}

fn churn(hand: &mut Hand<'_>) -> Option<Step> {
    let on = hand.ready_manager()?;
    let times = hand.random.between(2, 32);
    let hold = hand.random.between(1, times.min(6));
    let churn = match hand.random.below(8) {
        0 => Operation::Churn { size: 0, times: hold, hold, mixed: false },
        1..3 => {
            Operation::Churn { size: hand.random.between(1, 1 << 20), times, hold, mixed: false }
        }
        _ => Operation::Churn { size: hand.random.between(1, 1 << 14), times, hold, mixed: false },
    };
    Some(step(churn, &on.name))
}

impl<'a> Hand<'a> {
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
        self.random.pick(&self.model.managers).filter(|manager| !manager.gone)
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

    /// Mostly all; of what is long the beginning or the end, where neighbours are.
    fn part(&mut self, whole: u64) -> (u64, Option<u64>) {
        if whole <= LONGEST_TOUCH_BYTES && !self.random.once_in(4) {
            return (0, None);
        }
        let size = self.random.between(1, whole.clamp(1, 4096));
        let offset = match self.random.below(3) {
            0 => 0,
            1 => whole - size.min(whole),
            _ => self.random.below(whole - size.min(whole) + 1),
        };
        (offset, Some(size))
    }

    /// A size near what the device has left, on either side of it.
    fn near_the_end(&mut self, device: u32) -> u64 {
        let memory_bytes = self.model.machine.memory_bytes;
        let left = memory_bytes.saturating_sub(self.model.held_bytes(device));
        match self.random.below(3) {
            0 => left + self.random.between(1, 1 << 20),
            1 => memory_bytes + self.random.between(1, 1 << 30),
            _ => left / self.random.between(2, 4),
        }
    }
}
