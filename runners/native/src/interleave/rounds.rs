//! What the two threads do.

use allocert_suite::observation::Facts;
use serde_json::json;

use crate::interleave::InterleavedCalls;
use crate::interleave::code_address;
use crate::interleave::single_step::{OtherThread, Stepper, Stop, Turn, stopped_at};
use crate::step_result::facts;

/// Blocks that are free when a round begins, so that a cache has something to give out.
const SPARE: usize = 3;
/// Blocks that are taken when both threads are done.
const TAKEN_AFTER: usize = 4;
/// The most instructions before a stop in the free() of another thread's block. It takes long where
/// it ends in a slow path of libc, and a stop after twice as many instructions takes twice as long.
const MOST_IN_OTHERS: u64 = 100;
/// The same while the other thread resizes a block, which takes longer than malloc() and free().
const MOST_WHILE_RESIZING: u64 = 150;
/// What a block holds before it is resized, on the stepped thread and on the other one.
const OWN_BYTE: u8 = 0xa5;
const OTHERS_BYTE: u8 = 0x5a;
/// Calls of the driver behind which a thread stops, and how often it does behind each, in so many
/// instructions: what an allocator notes of memory that the driver gave it.
const DRIVER_CALLS: u64 = 12;
const STOPS_AFTER_DRIVER: u64 = 10;
const INSTRUCTIONS_AFTER_DRIVER: u64 = 100;
/// Atomic instructions at which a thread stops, behind the other stops.
const ATOMICS: u64 = 16;

/// The function that is executed step by step.
#[derive(Debug, Clone, Copy)]
enum Stepped {
    Take,
    Give,
    /// Frees a block that the other thread took.
    GiveOthers,
    /// Makes a block twice as large.
    Resize,
}

/// How a round ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Stopped,
    /// The function has no such place.
    NoSuchStop,
    Damaged,
}

#[derive(Debug, Default)]
struct Counts {
    failed: u64,
    overlaps: u64,
    changed: u64,
    /// Rounds after which the allocator counts other bytes than before.
    miscounted: u64,
    stops: u64,
    /// The calls of the first round in which something was wrong.
    first_damage: Option<String>,
}

impl Counts {
    /// How much was wrong by now.
    fn wrong(&self) -> u64 {
        self.failed + self.overlaps + self.changed + self.miscounted
    }
}

pub(super) fn run(calls: impl InterleavedCalls, size_bytes: usize, instructions: u64) -> Facts {
    let mut counts = Counts::default();
    let other = move |turn: Turn| match turn {
        Turn::Takes => [calls.take(size_bytes), calls.take(size_bytes)],
        Turn::GivesBack => {
            let (first, second) = (calls.take(size_bytes), calls.take(size_bytes));
            calls.give(first, size_bytes);
            [second, second]
        }
        Turn::Prepares => [take_with_spare(calls, size_bytes); 2],
        Turn::Releases => {
            calls.release();
            [calls.take(size_bytes), calls.take(size_bytes)]
        }
        Turn::Resizes => {
            let half = take_half(calls, size_bytes, OTHERS_BYTE);
            [calls.resize(half, size_bytes / 2, size_bytes); 2]
        }
    };
    Stepper::with(
        move || calls.begin_thread(),
        other,
        |stepper| {
            let rounds = [
                (Stepped::Take, Turn::GivesBack, instructions),
                (Stepped::Take, Turn::Takes, instructions),
                (Stepped::Give, Turn::GivesBack, instructions),
                (Stepped::Give, Turn::Takes, instructions),
                (Stepped::GiveOthers, Turn::Takes, instructions.min(MOST_IN_OTHERS)),
                (Stepped::Take, Turn::Releases, instructions),
                (Stepped::Give, Turn::Releases, instructions),
                (Stepped::Take, Turn::Resizes, instructions.min(MOST_WHILE_RESIZING)),
                (Stepped::Resize, Turn::Resizes, instructions.min(MOST_WHILE_RESIZING)),
            ];
            let is_possible = |turn| match turn {
                Turn::Releases => calls.can_release(),
                Turn::Resizes => calls.can_resize(),
                Turn::Takes | Turn::GivesBack | Turn::Prepares => true,
            };
            for (stepped, turn, most) in rounds.into_iter().filter(|round| is_possible(round.1)) {
                let round = Round { calls, size_bytes, stepped, turn };
                let each = (1..=most).map(|number| Stop::AtAccess { number, within: most });
                let atomics = (1..=ATOMICS).map(|number| Stop::AtAtomic { number, behind: most });
                // Behind these instructions the function may have others.
                if round.perform_each(stepper, each, &mut counts) != Ended::Damaged
                    && round.perform_after_driver(stepper, &mut counts) != Ended::Damaged
                {
                    round.perform_each(stepper, atomics, &mut counts);
                }
            }
        },
    );
    let Counts { failed, overlaps, changed, miscounted, stops, first_damage } = counts;
    let mut found = facts([
        ("miscounted", json!(miscounted)),
        ("failed", json!(failed)),
        ("overlaps", json!(overlaps)),
        ("changed", json!(changed)),
        ("stops", json!(stops)),
    ]);
    found.extend(first_damage.map(|calls| ("first_damage".into(), json!(calls))));
    found
}

/// Takes a block, and leaves others behind that are free.
fn take_with_spare(calls: impl InterleavedCalls, size_bytes: usize) -> usize {
    let block = calls.take(size_bytes);
    let spare = [(); SPARE].map(|()| calls.take(size_bytes));
    spare.into_iter().for_each(|block| calls.give(block, size_bytes));
    block
}

/// Takes a block of half the size and writes the byte to it.
fn take_half(calls: impl InterleavedCalls, size_bytes: usize, byte: u8) -> usize {
    let half = calls.take(size_bytes / 2);
    calls.fill(half, size_bytes / 2, byte);
    half
}

struct Round<C> {
    calls: C,
    size_bytes: usize,
    stepped: Stepped,
    /// What the other thread does at the stop.
    turn: Turn,
}

impl<C: InterleavedCalls> Round<C> {
    /// Stops at one place after the other, as long as there is one and nothing is damaged.
    fn perform_each(
        &self,
        stepper: &Stepper<impl OtherThread>,
        mut stops: impl Iterator<Item = Stop>,
        counts: &mut Counts,
    ) -> Ended {
        let ended = stops.find_map(|stop| match self.perform_noted(stepper, stop, counts) {
            Ended::Stopped => None,
            ended => Some(ended),
        });
        ended.unwrap_or(Ended::Stopped)
    }

    /// Stops there, and notes the calls if they are the first after which something is wrong.
    fn perform_noted(
        &self,
        stepper: &Stepper<impl OtherThread>,
        stop: Stop,
        counts: &mut Counts,
    ) -> Ended {
        let (wrong, stops) = (counts.wrong(), counts.stops);
        let ended = self.perform(stepper, stop, counts);
        if counts.wrong() > wrong && counts.first_damage.is_none() {
            counts.first_damage = Some(self.describe(counts.stops > stops));
        }
        ended
    }

    /// The calls of both threads.
    fn describe(&self, was_stopped: bool) -> String {
        let (names, size, half) = (C::NAMES, self.size_bytes, self.size_bytes / 2);
        let take = format!("{}({size})", names.take);
        let own = match self.stepped {
            Stepped::Take => take.clone(),
            Stepped::Give => format!("{}() of a block of {size} bytes", names.give),
            Stepped::GiveOthers => {
                format!("{}() of a block of {size} bytes of another thread", names.give)
            }
            Stepped::Resize => format!("{}() of a block from {half} to {size} bytes", names.resize),
        };
        if !was_stopped {
            return format!("{own} ran to its end, and no other thread did anything");
        }
        let others = match self.turn {
            Turn::Takes | Turn::Prepares => format!("{take} twice"),
            Turn::GivesBack => format!("{take} twice and {}() of the first block", names.give),
            Turn::Releases => format!("release() and {take} twice"),
            Turn::Resizes => {
                format!("{}({half}) and {}() of it to {size} bytes", names.take, names.resize)
            }
        };
        let at = code_address::describe(stopped_at());
        format!("{own} was stopped before {at}, while another thread called {others}")
    }

    /// Stops behind one call of the driver after the other.
    fn perform_after_driver(
        &self,
        stepper: &Stepper<impl OtherThread>,
        counts: &mut Counts,
    ) -> Ended {
        for call in 1..=DRIVER_CALLS {
            let before = counts.stops;
            let within = INSTRUCTIONS_AFTER_DRIVER;
            let stops =
                (1..=STOPS_AFTER_DRIVER).map(|number| Stop::AfterDriver { call, number, within });
            let ended = self.perform_each(stepper, stops, counts);
            if ended == Ended::Damaged || counts.stops == before {
                return ended;
            }
        }
        Ended::Stopped
    }

    /// Stops there. After damage the blocks are left.
    fn perform(
        &self,
        stepper: &Stepper<impl OtherThread>,
        stop: Stop,
        counts: &mut Counts,
    ) -> Ended {
        let used = self.calls.used();
        let mine = match self.stepped {
            Stepped::Take | Stepped::Give => take_with_spare(self.calls, self.size_bytes),
            Stepped::GiveOthers => stepper.ask(Turn::Prepares)[0],
            Stepped::Resize => take_half(self.calls, self.size_bytes, OWN_BYTE),
        };
        let mut live = Vec::with_capacity(2 + 2 + TAKEN_AFTER);
        let others = match self.stepped {
            Stepped::Take => {
                live.push(mine);
                let take = || self.calls.take(self.size_bytes);
                let (block, others) = stepper.step(stop, self.turn, take);
                live.push(block);
                others
            }
            Stepped::Give | Stepped::GiveOthers => {
                let give = || self.calls.give(mine, self.size_bytes);
                stepper.step(stop, self.turn, give).1
            }
            Stepped::Resize => {
                let resize = || self.calls.resize(mine, self.size_bytes / 2, self.size_bytes);
                let (block, others) = stepper.step(stop, self.turn, resize);
                live.push(block);
                counts.changed += self.lost_bytes(block, OWN_BYTE);
                others
            }
        };
        let stopped = others.is_some();
        if let Some([first, second]) = others {
            counts.stops += 1;
            live.push(second);
            if first != second || matches!(self.turn, Turn::Takes | Turn::Releases) {
                live.push(first);
            }
            if self.turn == Turn::Resizes {
                counts.changed += self.lost_bytes(second, OTHERS_BYTE);
            }
            live.extend(self.take_after(stepper));
        }
        if !self.compare(&live, counts) {
            return Ended::Damaged;
        }
        live.iter().for_each(|block| self.calls.give(*block, self.size_bytes));
        if self.calls.used() != used {
            counts.miscounted += 1;
            return Ended::Damaged;
        }
        if stopped { Ended::Stopped } else { Ended::NoSuchStop }
    }

    /// 1 if a resized block is there and lost the bytes that it held before.
    fn lost_bytes(&self, block: usize, byte: u8) -> u64 {
        u64::from(block != 0 && !self.calls.is_filled(block, self.size_bytes / 2, byte))
    }

    /// Takes blocks on the thread that the freed block came from.
    fn take_after(&self, stepper: &Stepper<impl OtherThread>) -> [usize; TAKEN_AFTER] {
        if let Stepped::GiveOthers = self.stepped {
            let ([a, b], [c, d]) = (stepper.ask(Turn::Takes), stepper.ask(Turn::Takes));
            return [a, b, c, d];
        }
        [(); TAKEN_AFTER].map(|()| self.calls.take(self.size_bytes))
    }

    /// Whether the live blocks are apart and keep their bytes.
    fn compare(&self, live: &[usize], counts: &mut Counts) -> bool {
        let failed = live.iter().filter(|block| **block == 0).count();
        let overlaps = live.iter().enumerate().filter(|(index, block)| {
            let others = &live[..*index];
            others.iter().any(|other| block.abs_diff(*other) < self.size_bytes)
        });
        let overlaps = overlaps.count();
        counts.failed += failed as u64;
        counts.overlaps += overlaps as u64;
        if failed + overlaps > 0 {
            return false;
        }
        let bytes = || (1_u8..).zip(live);
        bytes().for_each(|(byte, block)| self.calls.fill(*block, self.size_bytes, byte));
        let changed =
            bytes().filter(|(byte, block)| !self.calls.is_filled(**block, self.size_bytes, *byte));
        let changed = changed.count();
        counts.changed += changed as u64;
        changed == 0
    }
}
