//! The expectations on order that a case states: `ordered` and `covered_by`.

use std::collections::BTreeMap;

use allocert_requirements::Side;
use serde_json::Value;

use crate::applicability::Reason;
use crate::case::{CoveredBy, Expectation, Ordered};
use crate::judge::docket::{Docket, witness};
use crate::judge::order::access::{Mark, Pair};
use crate::judge::order::clock::Clock;
use crate::judge::order::doubts::Doubts;
use crate::judge::order::memory::Memory;
use crate::judge::order::streams::{Caller, Streams};
use crate::judge::order::words;
use crate::judge::scene::Scene;
use crate::judge::space::ranges;
use crate::observation::Outcome;
use crate::plan::PlannedStep;

#[derive(Debug, Default)]
pub(crate) struct Wanted<'a> {
    orders: Vec<Order<'a>>,
    covers: Vec<Cover<'a>>,
    /// The accesses of each labelled step.
    labelled: BTreeMap<u32, Memory>,
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
    loose: Option<Pair>,
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
    mark: Mark,
    part: (u64, u64),
    /// What the consumer waits for, in words.
    waits_for: Option<String>,
    count: u64,
}

/// The state at the end of a step.
pub(crate) struct Now<'w> {
    pub(crate) streams: &'w mut Streams,
    pub(crate) memory: &'w Memory,
    pub(crate) doubts: &'w mut Doubts,
    pub(crate) caller: Caller,
}

impl<'a> Wanted<'a> {
    /// What the steps that returned expect.
    pub(crate) fn new(scene: &Scene<'a>) -> Self {
        let mut wanted = Self::default();
        let case = scene.case;
        for (index, step) in case.steps.iter().enumerate() {
            if !matches!(scene.outcome(index), Some(Outcome::Returned(_))) {
                continue;
            }
            let ordered = |one: &Expectation| one.ordered.is_some() || one.covered_by.is_some();
            for (requirement, expectation) in
                step.expect.iter().filter(|(_, one)| ordered(one) && scene.asked(one))
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
                    let ranges = scene
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
        mark: Mark,
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
                labelled.meeting(start, end).filter(|(earlier, _)| earlier.may_conflict(&mark))
            {
                order.pairs += 1;
                if !streams.after(mark.epoch.lane, earlier.epoch) && !doubts.cover(&earlier) {
                    order.count += 1;
                    order.loose.get_or_insert(Pair { earlier, later: mark, part });
                }
            }
        }
        if let Some(labelled) = self.labelled.get_mut(&step) {
            let past =
                |earlier: &Mark| earlier.epoch.lane == mark.epoch.lane && mark.supersedes(earlier);
            labelled.add(start, end, mark, past);
        }
    }

    /// Addresses are given out again: what was there is something else.
    pub(crate) fn forget(&mut self, start: u64, end: u64) {
        for labelled in self.labelled.values_mut() {
            labelled.forget(start, end);
        }
    }

    /// The end of a step: what it wants covered is looked at now.
    pub(crate) fn end(&mut self, scene: &Scene<'_>, step: u64, mut now: Now<'_>) {
        for cover in self
            .covers
            .iter_mut()
            .filter(|cover| u64::from(cover.step.index) == step && !cover.ended)
        {
            cover.ended = true;
            cover.look(scene, &mut now);
        }
    }

    pub(crate) fn close(&mut self, scene: &Scene<'_>, docket: &mut Docket<'_>) {
        for order in &self.orders {
            order.close(scene, docket);
        }
        for cover in &self.covers {
            cover.close(scene, docket);
        }
    }
}

impl Order<'_> {
    fn close(&self, scene: &Scene<'_>, docket: &mut Docket<'_>) {
        let Some(pair) = &self.loose else {
            if self.pairs == 0 {
                let (step, after) = (self.step.index, self.label.to_owned());
                docket.not_observed(Reason::NothingToOrder { step, after });
            }
            return;
        };
        let expected = format!(
            "the work of this step comes after that of `{}`: {}",
            self.label,
            words::remedy(scene, pair)
        );
        let mut observed = words::clash(scene, pair);
        if self.count > 1 {
            observed.push_str(&format!(" ({} more such pairs)", self.count - 1));
        }
        if pair.of_harness() {
            return docket.failure(format!(
                "step {}: the harness's own accesses race: {observed}",
                self.step.index
            ));
        }
        docket.find(self.requirement, self.step, expected, observed, words::witnesses(scene, pair));
    }
}

impl Cover<'_> {
    fn look(&mut self, scene: &Scene<'_>, now: &mut Now<'_>) {
        let named = self.wanted.stream.as_deref();
        let handle = match named.map_or(Ok(None), |reference| handle(scene.fact(reference))) {
            Ok(handle) => handle,
            Err(found) => {
                self.unseen = Some(Reason::NoStream { step: self.step.index, found });
                return;
            }
        };
        let known = handle.is_none_or(|handle| now.streams.knows(handle));
        let lane = handle.filter(|_| known).map(|handle| now.streams.lane(handle, now.caller));
        let clock: Clock = now.streams.host_after(lane);
        for (start, end) in &self.ranges {
            for (mark, part) in
                now.memory.meeting(*start, *end).filter(|(mark, _)| !clock.covers(mark.epoch))
            {
                if now.doubts.cover(&mark) {
                    continue;
                }
                let words = |handle| words::stream(handle, now.caller.thread, false);
                let waits_for = || handle.map(words);
                let loose = self.loose.get_or_insert_with(|| Loose {
                    mark,
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

    fn close(&self, scene: &Scene<'_>, docket: &mut Docket<'_>) {
        let (step, name) = (self.step.index, &self.wanted.memory);
        if let Some(reason) = &self.unseen {
            return docket.not_observed(reason.clone());
        }
        let Some(Loose { mark, part: (start, end), waits_for, count }) = &self.loose else {
            if self.ranges.is_empty() {
                docket.not_observed(Reason::NoMemory { step, name: name.clone() });
            } else if !self.touched {
                docket.not_observed(Reason::NothingAccessed { step, name: name.clone() });
            } else if !self.ended {
                docket.not_observed(Reason::NoMarks { step });
            }
            return;
        };
        let (place, seq) = (words::place_of(scene, mark), words::seq(scene, mark));
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
        let access = words::access(scene, mark);
        let mut observed = format!("{access} {start:#x}..{end:#x}, and {leaves}");
        if *count > 1 {
            observed.push_str(&format!(" ({} more such accesses)", count - 1));
        }
        // A consumer that exports answers for its producer's work, which is the harness's.
        if !mark.subject && scene.side != Side::CaiConsumer {
            return docket.failure(format!("step {step}: {observed}"));
        }
        docket.find(
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
