//! The expectations on order that a case states: `ordered` and `covered_by`.

use std::collections::BTreeMap;

use allocert_requirements::Role;
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
    orders: Vec<OrderedAfter<'a>>,
    coverages: Vec<Coverage<'a>>,
    /// The accesses of each labelled step.
    labelled: BTreeMap<u32, LastAccesses>,
}

/// `ordered: {after: LABEL}`.
#[derive(Debug)]
struct OrderedAfter<'a> {
    requirement: &'a str,
    step: &'a PlannedStep,
    after: u32,
    label: &'a str,
    /// How many pairs conflict.
    pairs: u64,
    /// The first pair without an order.
    unordered: Option<AccessPair>,
    /// How many pairs have none.
    unordered_count: u64,
}

/// `covered_by: {memory: NAME, stream: NAME.FACT}`.
#[derive(Debug)]
struct Coverage<'a> {
    requirement: &'a str,
    step: &'a PlannedStep,
    wanted: &'a CoveredBy,
    ranges: Vec<(u64, u64)>,
    /// Some access reached the memory.
    touched: bool,
    ended: bool,
    uncovered: Option<Uncovered>,
    /// Why nothing can be said.
    not_observed: Option<Reason>,
}

/// The first access that is not covered.
#[derive(Debug)]
struct Uncovered {
    access: Access,
    overlap: (u64, u64),
    /// What the consumer waits for, in words.
    waits_for: Option<String>,
    count: u64,
}

/// The state at the end of a step.
pub(crate) struct StepEndState<'w> {
    pub(crate) streams: &'w mut Streams,
    pub(crate) memory: &'w LastAccesses,
    pub(crate) doubts: &'w mut Doubts,
    pub(crate) caller: Caller,
}

impl<'a> OrderExpectations<'a> {
    /// What the steps that returned expect.
    pub(crate) fn new(record: &CaseRecord<'a>) -> Self {
        let mut expectations = Self::default();
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
                    expectations.labelled.entry(after).or_default();
                    expectations.orders.push(OrderedAfter {
                        requirement,
                        step,
                        after,
                        label,
                        pairs: 0,
                        unordered: None,
                        unordered_count: 0,
                    });
                }
                if let Some(covered) = &expectation.covered_by {
                    let ranges = record
                        .facts(&covered.memory)
                        .map(|facts| ranges(facts).collect())
                        .unwrap_or_default();
                    expectations.coverages.push(Coverage {
                        requirement,
                        step,
                        wanted: covered,
                        ranges,
                        touched: false,
                        ended: false,
                        uncovered: None,
                        not_observed: None,
                    });
                }
            }
        }
        expectations
    }

    pub(crate) fn is_any(&self) -> bool {
        !self.orders.is_empty() || !self.coverages.is_empty()
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
        for coverage in
            self.coverages.iter_mut().filter(|coverage| !coverage.ended && !coverage.touched)
        {
            coverage.touched = coverage.ranges.iter().any(|(from, to)| *from < end && start < *to);
        }
        let Some(step) = step else { return };
        for order in self.orders.iter_mut().filter(|order| order.step.index == step) {
            let Some(labelled) = self.labelled.get(&order.after) else { continue };
            for (earlier, overlap) in
                labelled.meeting(start, end).filter(|(earlier, _)| earlier.may_conflict(&access))
            {
                order.pairs += 1;
                if !streams.comes_after(access.epoch.slot, earlier.epoch)
                    && !doubts.explains(&earlier)
                {
                    order.unordered_count += 1;
                    order.unordered.get_or_insert(AccessPair { earlier, later: access, overlap });
                }
            }
        }
        if let Some(labelled) = self.labelled.get_mut(&step) {
            let superseded = |earlier: &Access| {
                earlier.epoch.slot == access.epoch.slot && access.supersedes(earlier)
            };
            labelled.add(labelled.place(start), (start, end), access, superseded);
        }
    }

    /// Addresses are taken again: earlier accesses were to other memory.
    pub(crate) fn forget(&mut self, start: u64, end: u64) {
        for labelled in self.labelled.values_mut() {
            labelled.forget(start, end);
        }
    }

    /// A step ends: its `covered_by` are checked now.
    pub(crate) fn end(&mut self, record: &CaseRecord<'_>, step: u64, mut now: StepEndState<'_>) {
        for coverage in self
            .coverages
            .iter_mut()
            .filter(|coverage| u64::from(coverage.step.index) == step && !coverage.ended)
        {
            coverage.ended = true;
            coverage.check(record, &mut now);
        }
    }

    pub(crate) fn close(&mut self, record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
        for order in &self.orders {
            order.close(record, sink);
        }
        for coverage in &self.coverages {
            coverage.close(record, sink);
        }
    }
}

impl OrderedAfter<'_> {
    fn close(&self, record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
        let Some(pair) = &self.unordered else {
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
        let mut observed = messages::conflict(record, pair);
        if self.unordered_count > 1 {
            observed.push_str(&format!(" ({} more such pairs)", self.unordered_count - 1));
        }
        if pair.is_harness_only() {
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

impl Coverage<'_> {
    fn check(&mut self, record: &CaseRecord<'_>, now: &mut StepEndState<'_>) {
        let named = self.wanted.stream.as_deref();
        let handle = match named.map_or(Ok(None), |reference| handle(record.fact(reference))) {
            Ok(handle) => handle,
            Err(found) => {
                self.not_observed = Some(Reason::NoStream { step: self.step.index, found });
                return;
            }
        };
        let known = handle.is_none_or(|handle| now.streams.is_known(handle));
        let slot = handle.filter(|_| known).map(|handle| now.streams.slot_of(handle, now.caller));
        let clock: VectorClock = now.streams.host_after(slot);
        for (start, end) in &self.ranges {
            for (access, overlap) in
                now.memory.meeting(*start, *end).filter(|(access, _)| !clock.covers(access.epoch))
            {
                if now.doubts.explains(&access) {
                    continue;
                }
                let words = |handle| messages::stream(handle, now.caller.thread, false);
                let waits_for = || handle.map(words);
                let uncovered = self.uncovered.get_or_insert_with(|| Uncovered {
                    access,
                    overlap,
                    waits_for: waits_for(),
                    count: 0,
                });
                uncovered.count += 1;
            }
        }
        if let Some(handle) = handle.filter(|_| !known && self.uncovered.take().is_some()) {
            let found = format!("{handle:#x}, a stream that nobody created in this trace");
            self.not_observed = Some(Reason::NoStream { step: self.step.index, found });
        }
    }

    fn close(&self, record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
        let (step, name) = (self.step.index, &self.wanted.memory);
        if let Some(reason) = &self.not_observed {
            return sink.not_observed(reason.clone());
        }
        let Some(Uncovered { access, overlap: (start, end), waits_for, count }) = &self.uncovered
        else {
            if self.ranges.is_empty() {
                sink.not_observed(Reason::NoMemory { step, name: name.clone() });
            } else if !self.touched {
                sink.not_observed(Reason::NothingAccessed { step, name: name.clone() });
            } else if !self.ended {
                sink.not_observed(Reason::NoMarkers { step });
            }
            return;
        };
        let (place, seq) =
            (messages::stream_of_access(record, access), messages::seq(record, access));
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
        if !access.by_subject && record.side.role() != Role::Consumer {
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

/// The stream's handle that a fact has, if it has one: a number, or a value of a description.
///
/// # Errors
/// What the fact has instead.
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
