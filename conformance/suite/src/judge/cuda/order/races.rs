//! The always-on check for races.

use std::collections::HashMap;

use crate::judge::case_record::CaseRecord;
use crate::judge::cuda::order::access::AccessPair;
use crate::judge::cuda::order::messages;
use crate::judge::findings::{CheckFinding, FindingSink};
use crate::verdict::Check;

/// A case keeps so many causes; more say nothing new.
const CAUSE_LIMIT: usize = 64;

/// Unordered pairs of accesses, one for each cause: the same steps and streams.
#[derive(Debug, Default)]
pub(crate) struct Races {
    found: Vec<Race>,
    by_cause: HashMap<Cause, usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Cause {
    steps: [Option<u32>; 2],
    slots: [u32; 2],
    /// A race of the harness with itself must not hide one of the subject.
    is_harness_only: bool,
}

#[derive(Debug)]
struct Race {
    /// The first pair.
    pair: AccessPair,
    /// How many pairs have the cause.
    count: u64,
}

impl Races {
    pub(crate) fn add(&mut self, record: &CaseRecord<'_>, pair: AccessPair) {
        let both = [&pair.earlier, &pair.later];
        let cause = Cause {
            steps: both.map(|access| record.timeline.attributions[access.event as usize].step),
            slots: both.map(|access| access.epoch.slot),
            is_harness_only: pair.is_harness_only(),
        };
        match self.by_cause.get(&cause) {
            Some(at) => self.found[*at].count += 1,
            None if self.found.len() < CAUSE_LIMIT => {
                self.by_cause.insert(cause, self.found.len());
                self.found.push(Race { pair, count: 1 });
            }
            None => {}
        }
    }

    pub(crate) fn close(self, record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
        for Race { pair, count } in self.found {
            let expected = messages::remedy(record, &pair);
            let mut observed = messages::conflict(record, &pair);
            if count > 1 {
                observed.push_str(&format!(" ({} more such pairs)", count - 1));
            }
            if pair.is_harness_only() {
                sink.failure(format!(
                    "the harness's own accesses race: {observed}; to order them, {expected}"
                ));
                continue;
            }
            let step = record.timeline.attributions[pair.later.event as usize].step;
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
