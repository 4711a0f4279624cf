//! Races: the always-on check.

use std::collections::HashMap;

use crate::judge::docket::{Docket, Hit};
use crate::judge::order::access::Pair;
use crate::judge::order::words;
use crate::judge::scene::Scene;
use crate::verdict::Check;

/// More causes in one case say nothing new.
const CAUSES: usize = 64;

/// Unordered pairs by what they have in common: the steps and the streams.
#[derive(Debug, Default)]
pub(crate) struct Races {
    found: Vec<Found>,
    by_cause: HashMap<Cause, usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Cause {
    steps: [Option<u32>; 2],
    lanes: [u32; 2],
    /// A fault of the harness hides none of the subject.
    harness: bool,
}

#[derive(Debug)]
struct Found {
    pair: Pair,
    count: u64,
}

impl Races {
    pub(crate) fn add(&mut self, scene: &Scene<'_>, pair: Pair) {
        let both = [&pair.earlier, &pair.later];
        let cause = Cause {
            steps: both.map(|mark| scene.timeline.moments[mark.event as usize].step),
            lanes: both.map(|mark| mark.epoch.lane),
            harness: pair.of_harness(),
        };
        match self.by_cause.get(&cause) {
            Some(at) => self.found[*at].count += 1,
            None if self.found.len() < CAUSES => {
                self.by_cause.insert(cause, self.found.len());
                self.found.push(Found { pair, count: 1 });
            }
            None => {}
        }
    }

    pub(crate) fn close(self, scene: &Scene<'_>, docket: &mut Docket<'_>) {
        for Found { pair, count } in self.found {
            let expected = words::remedy(scene, &pair);
            let mut observed = words::clash(scene, &pair);
            if count > 1 {
                observed.push_str(&format!(" ({} more such pairs)", count - 1));
            }
            if pair.of_harness() {
                docket.failure(format!(
                    "the harness's own accesses race: {observed}; it takes that {expected}"
                ));
                continue;
            }
            let step = scene.timeline.moments[pair.later.event as usize].step;
            let events = words::witnesses(scene, &pair);
            docket.hit(Hit { check: Check::Race, step, expected, observed, events });
        }
    }
}
