//! Many blocks, in a row or on several threads at once. The facts count what was wrong.

use std::sync::Barrier;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::host_bytes;
use crate::interface::nep49::blocks::Block;
use crate::interface::nep49::handler::HandlerCalls;
use crate::live_blocks::{LiveBlocks, Random};
use crate::step_result::{NoResult, facts};

/// What NumPy's sorts and casts rely on: the alignment of the C type `max_align_t`, or that of the
/// largest element that the block has room for.
fn alignment_of(size_bytes: u64) -> u64 {
    1 << size_bytes.clamp(1, 16).ilog2()
}

/// So many blocks each thread of a stress keeps alive.
const STRESS_HOLD: usize = 4;

/// A block that is filled with its byte.
type Filled = (Block, u8);

/// Blocks lost their byte, or were not zero.
#[derive(Debug, Default)]
struct Damage {
    changed: u64,
    dirty: u64,
}

impl Damage {
    fn facts(&self) -> Facts {
        facts([("changed", json!(self.changed)), ("dirty", json!(self.dirty))])
    }

    /// Takes a block by one of the three functions, chosen by `number`, and fills it.
    fn take(
        &mut self,
        calls: HandlerCalls<'_>,
        number: u64,
        size_bytes: u64,
    ) -> Result<Option<Filled>, Raised> {
        let address = match number % 3 {
            0 => calls.malloc(size_bytes)?,
            1 => calls.calloc(size_bytes, 1)?,
            _ => match calls.malloc(size_bytes.div_ceil(2))? {
                0 => 0,
                half => match calls.realloc(half, size_bytes)? {
                    0 => {
                        calls.free(half, size_bytes.div_ceil(2))?;
                        0
                    }
                    whole => whole,
                },
            },
        };
        if address == 0 {
            return Ok(None);
        }
        let block = Block { address, size_bytes };
        if number % 3 == 1 && !is_filled(block, 0) {
            self.dirty += 1;
        }
        let byte = (number % 255) as u8 + 1;
        // One that cannot be written is found when it is read.
        let _ = host_bytes::fill(address, size_bytes, byte);
        Ok(Some((block, byte)))
    }

    fn give(&mut self, calls: HandlerCalls<'_>, (block, byte): Filled) -> Result<(), Raised> {
        self.changed += u64::from(!is_filled(block, byte));
        calls.free(block.address, block.size_bytes)
    }
}

/// `times` blocks of 1 to `size_bytes` bytes, at most `hold` of them alive at a time.
pub(crate) fn churn(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    times: u64,
    hold: u64,
) -> Result<Facts, NoResult> {
    let (mut alive, mut damage, mut random, mut held) =
        (LiveBlocks::new(alignment_of), Damage::default(), Random::default(), Vec::new());
    for number in 0..times {
        let size_bytes = random.below(size_bytes) + 1;
        match damage.take(calls, number, size_bytes)? {
            Some((block, byte)) => {
                alive.enter(block.address as u64, size_bytes);
                held.push((block, byte));
            }
            None => alive.failed(),
        }
        if held.len() as u64 >= hold.max(1) {
            let filled = held.swap_remove(random.below(held.len() as u64) as usize);
            alive.leave(filled.0.address as u64);
            damage.give(calls, filled)?;
        }
    }
    for filled in held {
        damage.give(calls, filled)?;
    }
    let mut counts = alive.facts();
    counts.extend(damage.facts());
    Ok(counts)
}

/// `times` blocks on each of several threads. A thread gives every second block of its own to the
/// next thread, which frees it.
pub(crate) fn stress(
    calls: HandlerCalls<'_>,
    threads: u32,
    size_bytes: u64,
    times: u64,
) -> Result<Facts, NoResult> {
    let ready = Barrier::new(threads as usize);
    let (mut senders, receivers): (Vec<_>, Vec<_>) = (0..threads).map(|_| mpsc::channel()).unzip();
    if !senders.is_empty() {
        senders.rotate_left(1);
    }
    let counts: Result<Vec<StressCounts>, Raised> = thread::scope(|scope| {
        let workers: Vec<_> = senders
            .into_iter()
            .zip(receivers)
            .map(|(next, own)| {
                let ready = &ready;
                scope.spawn(move || {
                    ready.wait();
                    stress_thread(calls, size_bytes, times, next, &own)
                })
            })
            .collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined
            .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let counts = counts?;
    let sum = |of: fn(&StressCounts) -> u64| counts.iter().map(of).sum::<u64>();
    Ok(facts([
        ("failed", json!(sum(|counts| counts.failed))),
        ("misaligned", json!(sum(|counts| counts.misaligned))),
        ("changed", json!(sum(|counts| counts.damage.changed))),
        ("dirty", json!(sum(|counts| counts.damage.dirty))),
    ]))
}

#[derive(Debug, Default)]
struct StressCounts {
    failed: u64,
    misaligned: u64,
    damage: Damage,
}

/// What one thread of a stress does.
fn stress_thread(
    calls: HandlerCalls<'_>,
    size_bytes: u64,
    times: u64,
    next: Sender<Filled>,
    own: &Receiver<Filled>,
) -> Result<StressCounts, Raised> {
    let (mut counts, mut held) = (StressCounts::default(), Vec::new());
    for number in 0..times {
        match counts.damage.take(calls, number, size_bytes)? {
            Some(filled) => {
                counts.misaligned +=
                    u64::from(!(filled.0.address as u64).is_multiple_of(alignment_of(size_bytes)));
                held.push(filled);
            }
            None => counts.failed += 1,
        }
        if held.len() > STRESS_HOLD {
            let filled = held.swap_remove(0);
            let sent =
                if number % 2 == 0 { Err(mpsc::SendError(filled)) } else { next.send(filled) };
            // A thread that ended by an error receives nothing: then this one frees the block.
            if let Err(mpsc::SendError(kept)) = sent {
                counts.damage.give(calls, kept)?;
            }
        }
        for filled in own.try_iter() {
            counts.damage.give(calls, filled)?;
        }
    }
    drop(next);
    for filled in held.into_iter().chain(own.iter()) {
        counts.damage.give(calls, filled)?;
    }
    Ok(counts)
}

fn is_filled(block: Block, byte: u8) -> bool {
    let read = host_bytes::read_uniform(block.size_bytes, |at, target| {
        host_bytes::read_chunk(block.address.wrapping_add(at), target, block.size_bytes)
    });
    read.is_ok_and(|facts| facts.get("uniform") == Some(&json!(byte)))
}
