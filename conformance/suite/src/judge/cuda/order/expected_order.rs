//! The expectations on order that a case states: `ordered` and `covered_by`.

use std::collections::BTreeMap;

use allocert_requirements::Side;
use serde_json::Value;

use crate::expectation::{CoveredBy, Expectation, Ordered};
use crate::judge::addresses::ranges;
use crate::judge::case_record::CaseRecord;
use crate::judge::cuda::order::access::{Access, AccessPair};
use crate::judge::cuda::order::doubts::Doubts;
use crate::judge::cuda::order::last_accesses::LastAccesses;
use crate::judge::cuda::order::messages;
use crate::judge::cuda::order::streams::{Caller, Streams};
use crate::judge::cuda::order::vector_clock::VectorClock;
use crate::judge::findings::{FindingSink, witness};
use crate::judge::predicates::given_holds;
use crate::observation::Outcome;
use crate::plan::PlannedStep;
use crate::reason::Reason;

#[derive(Debug, Default)]
pub(crate) struct OrderExpectations<'a> {
    orders: Vec<Order<'a>>,
    covers: Vec<Cover<'a>>,
    /// The accesses of each labelled step.
    labelled: BTreeMap<u32, LastAccesses>,
}

/// `ordered: {after: LABEL}`.
#[derive(Debug)]
struct Order<'a> {
    requirement: &'a str,
    step: &'a PlannedStep,
    after: u32,
    label: &'a str,
    /// Pairs that conflict.
    pairs: u64,
    loose: Option<AccessPair>,
    count: u64,
}

/// `covered_by: {memory: NAME, stream: NAME.FACT}`.
#[derive(Debug)]
struct Cover<'a> {
    requirement: &'a str,
    step: &'a PlannedStep,
    wanted: &'a CoveredBy,
    ranges: Vec<(u64, u64)>,
    /// Somebody had access to the memory.
    touched: bool,
    ended: bool,
    loose: Option<Loose>,
    /// Nothing can be said, for this reason.
    unseen: Option<Reason>,
}

/// The first access that is not covered.
#[derive(Debug)]
struct Loose {
    access: Access,
    part: (u64, u64),
    /// What the consumer waits for, in words.
    waits_for: Option<String>,
    count: u64,
}

/// The state at the end of a step.
pub(crate) struct Now<'w> {
    pub(crate) streams: &'w mut Streams,
    pub(crate) memory: &'w LastAccesses,
    pub(crate) doubts: &'w mut Doubts,
    pub(crate) caller: Caller,
}

impl<'a> OrderExpectations<'a> {
    /// What the steps that returned expect.
    pub(crate) fn new(record: &CaseRecord<'a>) -> Self {
        let mut wanted = Self::default();
        let case = record.case;
        for (index, step) in case.steps.iter().enumerate() {
            if !matches!(record.outcome(index), Some(Outcome::Returned(_))) {
                continue;
            }
            let ordered = |one: &Expectation| one.ordered.is_some() || one.covered_by.is_some();
            for (requirement, expectation) in
                step.expect.iter().filter(|(_, one)| ordered(one) && given_holds(record, one))
            {
                if let Some(Ordered { after: label }) = &expectation.ordered {
                    let labelled = case.steps.iter().find(|one| one.label.as_ref() == Some(label));
                    let Some(after) = labelled.map(|one| one.index) else { continue };
                    wanted.labelled.entry(after).or_default();
                    wanted.orders.push(Order {
                        requirement,
                        step,
                        after,
                        label,
                        pairs: 0,
                        loose: None,
                        count: 0,
                    });
                }
                if let Some(covered) = &expectation.covered_by {
                    let ranges = record
                        .facts(&covered.memory)
                        .map(|facts| ranges(facts).collect())
                        .unwrap_or_default();
                    wanted.covers.push(Cover {
                        requirement,
                        step,
                        wanted: covered,
                        ranges,
                        touched: false,
                        ended: false,
                        loose: None,
                        unseen: None,
                    });
                }
            }
        }
        wanted
    }

    pub(crate) fn is_any(&self) -> bool {
        !self.orders.is_empty() || !self.covers.is_empty()
    }

    /// An access in a step.
    pub(crate) fn access(
        &mut self,
        step: Option<u32>,
        range: (u64, u64),
        access: Access,
        streams: &Streams,
        doubts: &mut Doubts,
    ) {
        let (start, end) = range;
        for cover in self.covers.iter_mut().filter(|cover| !cover.ended && !cover.touched) {
            cover.touched = cover.ranges.iter().any(|(from, to)| *from < end && start < *to);
        }
        let Some(step) = step else { return };
        for order in self.orders.iter_mut().filter(|order| order.step.index == step) {
            let Some(labelled) = self.labelled.get(&order.after) else { continue };
            for (earlier, part) in
                labelled.meeting(start, end).filter(|(earlier, _)| earlier.may_conflict(&access))
            {
                order.pairs += 1;
                if !streams.after(access.epoch.lane, earlier.epoch) && !doubts.cover(&earlier) {
                    order.count += 1;
                    order.loose.get_or_insert(AccessPair { earlier, later: access, part });
                }
            }
        }
        if let Some(labelled) = self.labelled.get_mut(&step) {
            let past = |earlier: &Access| {
                earlier.epoch.lane == access.epoch.lane && access.supersedes(earlier)
            };
            labelled.add(start, end, access, past);
        }
    }

    /// Addresses are given out again: what was there is something else.
    pub(crate) fn forget(&mut self, start: u64, end: u64) {
        for labelled in self.labelled.values_mut() {
            labelled.forget(start, end);
        }
    }

    /// The end of a step: what it wants covered is looked at now.
    pub(crate) fn end(&mut self, record: &CaseRecord<'_>, step: u64, mut now: Now<'_>) {
        for cover in self
            .covers
            .iter_mut()
            .filter(|cover| u64::from(cover.step.index) == step && !cover.ended)
        {
            cover.ended = true;
            cover.look(record, &mut now);
        }
    }

    pub(crate) fn close(&mut self, record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
        for order in &self.orders {
            order.close(record, sink);
        }
        for cover in &self.covers {
            cover.close(record, sink);
        }
    }
}

impl Order<'_> {
    fn close(&self, record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
        let Some(pair) = &self.loose else {
            if self.pairs == 0 {
                let (step, after) = (self.step.index, self.label.to_owned());
                sink.not_observed(Reason::NothingToOrder { step, after });
            }
            return;
        };
        let expected = format!(
            "the work of this step comes after that of `{}`: {}",
            self.label,
            messages::remedy(record, pair)
        );
        let mut observed = messages::clash(record, pair);
        if self.count > 1 {
            observed.push_str(&format!(" ({} more such pairs)", self.count - 1));
        }
        if pair.of_harness() {
            return sink.failure(format!(
                "step {}: the harness's own accesses race: {observed}",
                self.step.index
            ));
        }
        sink.report(
            self.requirement,
            self.step,
            expected,
            observed,
            messages::witnesses(record, pair),
        );
    }
}

impl Cover<'_> {
    fn look(&mut self, record: &CaseRecord<'_>, now: &mut Now<'_>) {
        let named = self.wanted.stream.as_deref();
        let handle = match named.map_or(Ok(None), |reference| handle(record.fact(reference))) {
            Ok(handle) => handle,
            Err(found) => {
                self.unseen = Some(Reason::NoStream { step: self.step.index, found });
                return;
            }
        };
        let known = handle.is_none_or(|handle| now.streams.knows(handle));
        let lane = handle.filter(|_| known).map(|handle| now.streams.lane(handle, now.caller));
        let clock: VectorClock = now.streams.host_after(lane);
        for (start, end) in &self.ranges {
            for (access, part) in
                now.memory.meeting(*start, *end).filter(|(access, _)| !clock.covers(access.epoch))
            {
                if now.doubts.cover(&access) {
                    continue;
                }
                let words = |handle| messages::stream(handle, now.caller.thread, false);
                let waits_for = || handle.map(words);
                let loose = self.loose.get_or_insert_with(|| Loose {
                    access,
                    part,
                    waits_for: waits_for(),
                    count: 0,
                });
                loose.count += 1;
            }
        }
        if let Some(handle) = handle.filter(|_| !known && self.loose.take().is_some()) {
            let found = format!("{handle:#x}, a stream that nobody created in this trace");
            self.unseen = Some(Reason::NoStream { step: self.step.index, found });
        }
    }

    fn close(&self, record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
        let (step, name) = (self.step.index, &self.wanted.memory);
        if let Some(reason) = &self.unseen {
            return sink.not_observed(reason.clone());
        }
        let Some(Loose { access, part: (start, end), waits_for, count }) = &self.loose else {
            if self.ranges.is_empty() {
                sink.not_observed(Reason::NoMemory { step, name: name.clone() });
            } else if !self.touched {
                sink.not_observed(Reason::NothingAccessed { step, name: name.clone() });
            } else if !self.ended {
                sink.not_observed(Reason::NoMarks { step });
            }
            return;
        };
        let (place, seq) = (messages::place_of(record, access), messages::seq(record, access));
        let by_host = format!("the host synchronizes with {place} first");
        let (expected, leaves) = match waits_for {
            Some(stream) => (
                format!(
                    "who synchronizes with {stream} has waited for all work on `{name}`: \
                     {stream} waits for an event recorded in {place} after #{seq}, or {by_host}"
                ),
                format!("synchronizing with {stream} does not wait for it"),
            ),
            None => (
                format!("no work on `{name}` is pending where no stream is named: {by_host}"),
                "nothing has waited for it".to_owned(),
            ),
        };
        let accessing = messages::access(record, access);
        let mut observed = format!("{accessing} {start:#x}..{end:#x}, and {leaves}");
        if *count > 1 {
            observed.push_str(&format!(" ({} more such accesses)", count - 1));
        }
        // A consumer that exports answers for its producer's work, which is the harness's.
        if !access.subject && record.side != Side::CaiConsumer {
            return sink.failure(format!("step {step}: {observed}"));
        }
        sink.report(
            self.requirement,
            self.step,
            expected,
            observed,
            vec![witness(seq, "pending here")],
        );
    }
}

/// The handle that a fact names, if it names one: a number, or a value of a description. The
/// complaint where it is no stream.
fn handle(fact: Option<&Value>) -> Result<Option<u64>, String> {
    let value = match fact {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(described)) => match described.get("type").and_then(Value::as_str) {
            Some("NoneType") => return Ok(None),
            kind => {
                let int = kind == Some("int")
                    || described.get("base").and_then(Value::as_str) == Some("int");
                described.get("value").filter(|_| int)
            }
        },
        Some(value) => Some(value),
    };
    match value.and_then(Value::as_u64) {
        Some(handle) if handle > 0 => Ok(Some(handle)),
        _ => Err(fact.map_or_else(String::new, Value::to_string)),
    }
}
