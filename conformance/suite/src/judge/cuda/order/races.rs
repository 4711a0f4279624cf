//! Races: the always-on check.

use std::collections::HashMap;

use crate::judge::case_record::CaseRecord;
use crate::judge::cuda::order::access::AccessPair;
use crate::judge::cuda::order::messages;
use crate::judge::findings::{CheckFinding, FindingSink};
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
    pair: AccessPair,
    count: u64,
}

impl Races {
    pub(crate) fn add(&mut self, record: &CaseRecord<'_>, pair: AccessPair) {
        let both = [&pair.earlier, &pair.later];
        let cause = Cause {
            steps: both.map(|access| record.timeline.moments[access.event as usize].step),
            lanes: both.map(|access| access.epoch.lane),
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

    pub(crate) fn close(self, record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
        for Found { pair, count } in self.found {
            let expected = messages::remedy(record, &pair);
            let mut observed = messages::clash(record, &pair);
            if count > 1 {
                observed.push_str(&format!(" ({} more such pairs)", count - 1));
            }
            if pair.of_harness() {
                sink.failure(format!(
                    "the harness's own accesses race: {observed}; it takes that {expected}"
                ));
                continue;
            }
            let step = record.timeline.moments[pair.later.event as usize].step;
            let events = messages::witnesses(record, &pair);
            sink.report_check(CheckFinding {
                check: Check::Race,
                step,
                expected,
                observed,
                events,
            });
        }
    }
}
