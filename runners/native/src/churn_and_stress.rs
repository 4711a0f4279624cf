//! The operations `churn` and `stress` of `nep49` and `place`: many blocks, in a row or on several
//! threads at once. The facts count what was wrong.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use allocert_suite::observation::{Facts, Raised};
use serde_json::json;

use crate::host_bytes::ProcessMemory;
use crate::live_blocks::{LiveBlocks, Random};
use crate::step_result::{NoResult, facts};

/// So many blocks each thread of a stress keeps alive.
const STRESS_HOLD: usize = 4;

/// A block of memory at an address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub(crate) address: u64,
    /// As asked for.
    pub(crate) size_bytes: u64,
}

/// Where the blocks come from, and what the worker does with them.
pub(crate) trait BlockSource: Copy + Send {
    /// The facts that count refused requests, and blocks that come with wrong bytes.
    const COUNTED: &'static [&'static str];

    /// A block of so many bytes is to begin at a multiple of this.
    fn alignment_of(size_bytes: u64) -> u64;

    /// Takes a block, in the way that the number of the request chooses.
    fn take(self, number: u64, size_bytes: u64) -> Result<Result<Taken, Refused>, NoResult>;

    /// Gives a block back.
    fn give(self, block: Block) -> Result<(), Raised>;

    /// Writes a byte to all of a block. One that cannot be written is found when it is read.
    fn fill(self, block: Block, byte: u8);

    fn is_filled(self, block: Block, byte: u8) -> bool;
}

/// A block that came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) block: Block,
    /// Which fact counts it, if its bytes are not what they are to be.
    pub(crate) wrong: Option<&'static str>,
}

/// A request was refused.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refused {
    /// Which fact counts it.
    pub(crate) fact: &'static str,
}

/// What the block of a request is filled with.
pub(crate) fn byte_of(number: u64) -> u8 {
    (number % 255) as u8 + 1
}

/// A block that is filled with its byte.
type Filled = (Block, u8);

/// How many requests were refused, and how many blocks came with wrong bytes or lost their byte.
#[derive(Debug, Default)]
struct Failures {
    counted: BTreeMap<&'static str, u64>,
    changed: u64,
}

impl Failures {
    fn facts<S: BlockSource>(&self) -> Facts {
        let mut counts = facts([("changed", json!(self.changed))]);
        for name in S::COUNTED {
            counts.insert((*name).into(), json!(self.counted.get(name).unwrap_or(&0)));
        }
        counts
    }

    /// Takes a block and fills it.
    fn take(
        &mut self,
        source: impl BlockSource,
        number: u64,
        size_bytes: u64,
    ) -> Result<Option<Filled>, NoResult> {
        let Taken { block, wrong } = match source.take(number, size_bytes)? {
            Ok(taken) => taken,
            Err(Refused { fact }) => {
                self.count(fact, 1);
                return Ok(None);
            }
        };
        if let Some(fact) = wrong {
            self.count(fact, 1);
        }
        let byte = byte_of(number);
        source.fill(block, byte);
        Ok(Some((block, byte)))
    }

    /// Adds what another thread saw.
    fn add(mut self, other: Self) -> Self {
        for (fact, count) in other.counted {
            self.count(fact, count);
        }
        self.changed += other.changed;
        self
    }

    fn count(&mut self, fact: &'static str, times: u64) {
        *self.counted.entry(fact).or_default() += times;
    }

    fn give(&mut self, source: impl BlockSource, (block, byte): Filled) -> Result<(), Raised> {
        self.changed += u64::from(!source.is_filled(block, byte));
        source.give(block)
    }
}

/// The sizes of the blocks of a churn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// The largest size, or that of the first block and of each second one behind it.
    pub(crate) first_bytes: u64,
    /// The size of the blocks between those. Without it all sizes are random.
    pub(crate) then_bytes: Option<u64>,
}

impl Sizes {
    fn of(self, number: u64, random: &mut Random) -> u64 {
        match self.then_bytes {
            None => random.below(self.first_bytes) + 1,
            Some(then_bytes) if number % 2 == 1 => then_bytes,
            Some(_) => self.first_bytes,
        }
    }
}

/// `times` blocks, at most `hold` of them alive at a time.
pub(crate) fn churn<S: BlockSource>(
    source: S,
    sizes: Sizes,
    times: u64,
    hold: u64,
) -> Result<Facts, NoResult> {
    let (mut alive, mut failures, mut random, mut held) =
        (LiveBlocks::new(S::alignment_of), Failures::default(), Random::default(), Vec::new());
    let memory = ProcessMemory::of_this_process();
    let resident_bytes = memory.resident_bytes();
    for number in 0..times {
        let size_bytes = sizes.of(number, &mut random);
        if let Some((block, byte)) = failures.take(source, number, size_bytes)? {
            alive.enter(block.address, size_bytes);
            held.push((block, byte));
        }
        if held.len() as u64 >= hold.max(1) {
            let filled = held.swap_remove(random.below(held.len() as u64) as usize);
            alive.leave(filled.0.address);
            failures.give(source, filled)?;
        }
    }
    for filled in held {
        failures.give(source, filled)?;
    }
    let mut counts = alive.facts();
    counts.extend(failures.facts::<S>());
    let grown_bytes = memory.resident_bytes().saturating_sub(resident_bytes);
    counts.insert("grown_bytes".into(), json!(grown_bytes));
    Ok(counts)
}

/// `times` blocks on each of several threads. A thread gives every second block of its own to the
/// next thread, which frees it.
pub(crate) fn stress<S: BlockSource>(
    source: S,
    threads: u32,
    size_bytes: u64,
    times: u64,
) -> Result<Facts, NoResult> {
    let start = Start::new(threads);
    let (mut senders, receivers): (Vec<_>, Vec<_>) = (0..threads).map(|_| mpsc::channel()).unzip();
    if !senders.is_empty() {
        senders.rotate_left(1);
    }
    let counts: Result<Vec<StressCounts>, NoResult> = thread::scope(|scope| {
        let workers: Vec<_> = senders
            .into_iter()
            .zip(receivers)
            .map(|(next, own)| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    stress_thread(source, size_bytes, times, next, &own)
                })
            })
            .collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined
            .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let counts = counts?;
    let misaligned: u64 = counts.iter().map(|counts| counts.misaligned).sum();
    let mut all = facts([("misaligned", json!(misaligned))]);
    let failures = counts.into_iter().map(|counts| counts.failures);
    all.extend(failures.fold(Failures::default(), Failures::add).facts::<S>());
    Ok(all)
}

/// Where the threads of a stress wait for each other. Those that run when the last one comes leave
/// at the same moment; a barrier alone wakes one after another.
struct Start {
    barrier: Barrier,
    threads: u32,
    awake: AtomicU32,
}

impl Start {
    /// A thread looks so often whether the others are awake, which may not run at all.
    const LOOKS: u32 = 2000;

    fn new(threads: u32) -> Self {
        Self { barrier: Barrier::new(threads as usize), threads, awake: AtomicU32::new(0) }
    }

    fn wait(&self) {
        self.barrier.wait();
        self.awake.fetch_add(1, Ordering::SeqCst);
        for look in 0..Self::LOOKS {
            if self.awake.load(Ordering::SeqCst) >= self.threads {
                break;
            }
            if look % 100 == 99 {
                thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

#[derive(Debug, Default)]
struct StressCounts {
    misaligned: u64,
    failures: Failures,
}

/// What one thread of a stress does.
fn stress_thread<S: BlockSource>(
    source: S,
    size_bytes: u64,
    times: u64,
    next: Sender<Filled>,
    own: &Receiver<Filled>,
) -> Result<StressCounts, NoResult> {
    let (mut counts, mut held) = (StressCounts::default(), Vec::new());
    for number in 0..times {
        if let Some(filled) = counts.failures.take(source, number, size_bytes)? {
            counts.misaligned +=
                u64::from(!filled.0.address.is_multiple_of(S::alignment_of(size_bytes)));
            held.push(filled);
        }
        if held.len() > STRESS_HOLD {
            let filled = held.swap_remove(0);
            let sent =
                if number % 2 == 0 { Err(mpsc::SendError(filled)) } else { next.send(filled) };
            // A thread that ended by an error receives nothing: then this one frees the block.
            if let Err(mpsc::SendError(kept)) = sent {
                counts.failures.give(source, kept)?;
            }
        }
        for filled in own.try_iter() {
            counts.failures.give(source, filled)?;
        }
    }
    drop(next);
    for filled in held.into_iter().chain(own.iter()) {
        counts.failures.give(source, filled)?;
    }
    Ok(counts)
}
