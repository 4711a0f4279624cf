//! What the two threads do.

use allocert_suite::observation::Facts;
use serde_json::json;

use crate::interleave::InterleavedCalls;
use crate::interleave::single_step::{OtherThread, Stepper};
use crate::step_result::facts;

/// Blocks that are free when a round begins, so that a cache has something to give out.
const SPARE: usize = 3;
/// Blocks that are taken when both threads are done.
const TAKEN_AFTER: usize = 4;

/// The function that is executed step by step.
#[derive(Debug, Clone, Copy)]
enum Stepped {
    Take,
    Give,
}

#[derive(Debug, Default)]
struct Counts {
    failed: u64,
    overlaps: u64,
    changed: u64,
    stops: u64,
}

pub(super) fn run(calls: impl InterleavedCalls, size_bytes: usize, instructions: u64) -> Facts {
    let mut counts = Counts::default();
    let other = move |gives_back: bool| {
        let (first, second) = (calls.take(size_bytes), calls.take(size_bytes));
        if !gives_back {
            return [first, second];
        }
        calls.give(first, size_bytes);
        [second, second]
    };
    Stepper::with(
        move || calls.begin_thread(),
        other,
        |stepper| {
            for (stepped, gives_back) in [
                (Stepped::Take, true),
                (Stepped::Take, false),
                (Stepped::Give, true),
                (Stepped::Give, false),
            ] {
                for after in 1..=instructions {
                    let round = Round { calls, size_bytes, stepped, gives_back };
                    if !round.perform(stepper, after, &mut counts) {
                        break;
                    }
                }
            }
        },
    );
    let Counts { failed, overlaps, changed, stops } = counts;
    facts([
        ("failed", json!(failed)),
        ("overlaps", json!(overlaps)),
        ("changed", json!(changed)),
        ("stops", json!(stops)),
    ])
}

struct Round<C> {
    calls: C,
    size_bytes: usize,
    stepped: Stepped,
    gives_back: bool,
}

impl<C: InterleavedCalls> Round<C> {
    /// Stops after so many instructions. False if the function returned before, and after
    /// damage: the blocks are left then.
    fn perform(
        &self,
        stepper: &Stepper<impl OtherThread>,
        after: u64,
        counts: &mut Counts,
    ) -> bool {
        let mine = self.calls.take(self.size_bytes);
        let spare = [(); SPARE].map(|()| self.calls.take(self.size_bytes));
        spare.into_iter().for_each(|block| self.calls.give(block, self.size_bytes));
        let mut live = Vec::with_capacity(2 + 2 + TAKEN_AFTER);
        let others = match self.stepped {
            Stepped::Take => {
                live.push(mine);
                let (block, others) =
                    stepper.step(after, self.gives_back, || self.calls.take(self.size_bytes));
                live.push(block);
                others
            }
            Stepped::Give => {
                let give = || self.calls.give(mine, self.size_bytes);
                stepper.step(after, self.gives_back, give).1
            }
        };
        let stopped = others.is_some();
        if let Some([first, second]) = others {
            counts.stops += 1;
            live.push(second);
            if first != second || !self.gives_back {
                live.push(first);
            }
            live.extend([(); TAKEN_AFTER].map(|()| self.calls.take(self.size_bytes)));
        }
        self.compare(&live, counts) && {
            live.iter().for_each(|block| self.calls.give(*block, self.size_bytes));
            stopped
        }
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
