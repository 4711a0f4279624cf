//! The ledger of memory: leaks, double frees, foreign frees, uses after a free, and memory that
//! overlaps what the host holds. It reads the trace once, and knows calls by their
//! [effects](crate::effect) alone.

mod blocks;

use allocert_contract::trace::{Boundary, Call, Event, Marker, What};
use serde_json::Value;

use crate::effect::{
    AddressSpace, Effect, FreeAnswer, MemorySource, Owners, Span, provider, reached_after_free,
    unseen_memory,
};
use crate::interface::interface;
use crate::judge::case_record::CaseRecord;
use crate::judge::findings::{CheckFinding, FindingSink, witness};
use crate::judge::memory_of_names::{HeldMemoryError, Holdings};
use crate::judge::messages;
use crate::judge::timeline::Attribution;
use crate::nouns::Teardown;
use crate::observation::Outcome;
use crate::reason::Reason;
use crate::verdict::{Check, Witness};
use blocks::{Block, BlockEnd, Blocks};

/// Judges all events of the case. A trace with gaps says nothing about memory.
pub(crate) fn judge(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    if record.observation.events_lost > 0 {
        return;
    }
    for check in [
        Check::DoubleFree,
        Check::ForeignFree,
        Check::MemoryOfOthers,
        Check::UseAfterFree,
        Check::Overlap,
    ] {
        sink.check_performed(check);
    }
    let mut ledger = Ledger {
        record,
        sink,
        blocks: Blocks::default(),
        owners: Owners::default(),
        holdings: Holdings::default(),
        next_step: 0,
        told_of_ended: false,
    };
    for (event, attribution) in record.observation.events.iter().zip(&record.timeline.attributions)
    {
        if attribution.in_process {
            ledger.event(event, *attribution);
        }
    }
    ledger.pass_steps(record.case.steps.len());
    ledger.leaks();
}

struct Ledger<'a, 'd> {
    record: &'a CaseRecord<'a>,
    sink: &'a mut FindingSink<'d>,
    blocks: Blocks,
    owners: Owners,
    holdings: Holdings<'a>,
    /// The first step that has not begun.
    next_step: usize,
    /// Whether a finding says that memory of a block ended with its context.
    told_of_ended: bool,
}

const CONTEXT_ENDED: &str = "the context ended here";

/// One call in the trace.
#[derive(Clone, Copy)]
struct Entry<'e> {
    event: &'e Event,
    call: &'e Call,
    attribution: Attribution,
}

impl Entry<'_> {
    fn boundary(&self) -> Boundary {
        self.call.function.boundary()
    }

    fn provider(&self) -> &'static str {
        provider(self.boundary())
    }
}

impl Ledger<'_, '_> {
    fn event(&mut self, event: &Event, attribution: Attribution) {
        match &event.what {
            What::Call(call) => self.call(Entry { event, call, attribution }),
            What::Marker(Marker::StepBegin { step }) => self.begin_step(*step),
            What::Marker(Marker::StepEnd { step }) => self.end_step(*step),
            what => {
                if let Some(function) = unseen_memory(what).filter(|_| attribution.by_subject) {
                    self.unseen(function, attribution);
                }
                if let Some((boundary, range)) = reached_after_free(what) {
                    self.late_work(event.seq, boundary, range, attribution);
                }
            }
        }
    }

    /// The subject manages memory that the ledger does not follow. Only a side with a check for
    /// leaks needs all memory in the ledger.
    fn unseen(&mut self, function: &str, attribution: Attribution) {
        if self.record.catalogue.by_check(self.record.side, Check::Leak.name()).is_some() {
            let (step, function) = (attribution.step, function.to_owned());
            self.sink.not_observed(Reason::UnseenMemory { step, function });
        }
    }

    fn call(&mut self, entry: Entry<'_>) {
        let granted = entry.call.result == Some(0);
        match Effect::of(entry.call) {
            // Zero bytes of host memory have no address, and need no free.
            Effect::Take { start, size_bytes, source } if granted && start != 0 => {
                self.take(entry, start, size_bytes, source);
            }
            Effect::Give { start, source } if start != 0 => self.give(entry, start, source),
            Effect::Resize { from, to, size_bytes, source } if granted && to != 0 => {
                if from != 0 {
                    self.give(entry, from, source);
                }
                self.take(entry, to, size_bytes, source);
            }
            Effect::Touch { write, read } if entry.attribution.by_subject => {
                self.touch(entry, [write, read]);
            }
            Effect::Nothing => {
                if let Some(owner) = self.owners.ended_by(entry.call) {
                    self.end_owner(entry, owner);
                }
            }
            _ => {}
        }
    }

    /// A call ends a context, and with it the memory that belongs to it.
    fn end_owner(&mut self, entry: Entry<'_>, owner: u64) {
        let Entry { event, call, attribution } = entry;
        let (seq, by_subject) = (event.seq, attribution.by_subject);
        if by_subject
            && !self.program_ends(attribution)
            && let Some((start, end, events)) = self.live_block_of(owner)
        {
            let function = call.function;
            let observed = format!(
                "{function} ended the context, and with it the memory of the live block at \
                 {start:#x}..{end:#x}"
            );
            let events = events.into_iter().chain([witness(seq, CONTEXT_ENDED)]).collect();
            self.report_ended(attribution.step, observed, events);
        }
        self.blocks.end_owner(owner, BlockEnd { seq, freed: false, by_subject });
    }

    /// The first live block that the subject gave out in memory of an owner.
    fn live_block_of(&self, owner: u64) -> Option<(u64, u64, Vec<Witness>)> {
        self.live_blocks().find_map(|(start, end, block)| {
            let (_, memory) = self.blocks.of(Boundary::Cuda).meeting(start, end)?;
            let is_owned = memory.end.is_none() && memory.owner == Some(owner);
            let given_out = witness(block.taken, "given out here");
            is_owned.then(|| (start, end, vec![memory.taken_here(), given_out]))
        })
    }

    /// The blocks that the subject gave out and that are live, with their ranges, where the worker
    /// records its calls of the subject.
    fn live_blocks(&self) -> impl Iterator<Item = (u64, u64, &Block)> {
        let side = interface(self.record.case.operations);
        let boundary = side.and_then(|interface| interface.facts.implements);
        let all = boundary.into_iter().flat_map(|boundary| self.blocks.of(boundary).values());
        all.filter(|(_, block)| block.end.is_none())
            .map(|(start, block)| (start, block.end_of(start), block))
    }

    /// The subject gave out memory that a call of its own had ended with a context.
    fn given_out_ended(&mut self, entry: Entry<'_>, start: u64, end: u64) {
        let memory = self.blocks.of(Boundary::Cuda).meeting(start, end);
        let ended = memory.and_then(|(_, memory)| Some((memory, memory.ended_by_subject()?)));
        let Some((memory, seq)) = ended else { return };
        let events = vec![
            memory.taken_here(),
            witness(seq, CONTEXT_ENDED),
            witness(entry.event.seq, "given out here"),
        ];
        let mut calls = self.record.observation.events.iter();
        let call = calls.find(|event| event.seq == seq).and_then(Event::call);
        let function = call.map_or_else(|| "a call".to_owned(), |call| call.function.to_string());
        let observed = format!(
            "{function} had ended the context, and with it the memory of the block at \
             {start:#x}..{end:#x} that was given out"
        );
        self.report_ended(entry.attribution.step, observed, events);
    }

    /// Each further block says the same.
    fn report_ended(&mut self, step: Option<u32>, observed: String, events: Vec<Witness>) {
        if std::mem::replace(&mut self.told_of_ended, true) {
            return;
        }
        self.sink.report_check(CheckFinding {
            check: Check::UseAfterFree,
            step,
            expected: "the context of a block's memory stays until the block is freed".to_owned(),
            observed,
            events,
        });
    }

    fn take(&mut self, entry: Entry<'_>, start: u64, size_bytes: u64, source: MemorySource) {
        let block = Block::new(entry.event, entry.call, entry.attribution, size_bytes, source);
        let end = block.end_of(start);
        if self.is_implemented(entry.boundary()) {
            self.given_out_ended(entry, start, end);
        }
        self.blocks.of_mut(entry.boundary()).put(start, end, block);
    }

    fn give(&mut self, entry: Entry<'_>, start: u64, source: MemorySource) {
        let block = self.blocks.of_mut(entry.boundary()).get_mut(start);
        if entry.call.injected {
            if let Some(block) = block {
                block.free_injected = true;
            }
            return;
        }
        let alive = block.is_some_and(|block| block.end.is_none() && block.source == source);
        match FreeAnswer::of(entry.call) {
            FreeAnswer::Accepted => self.freed(entry, start),
            FreeAnswer::NoAnswer if alive => self.freed(entry, start),
            FreeAnswer::ShutDown => {}
            _ if !entry.attribution.by_subject || alive => {}
            _ if self.is_implemented(entry.boundary()) => {}
            answer => self.refused(entry, start, answer),
        }
    }

    /// The boundary took the memory back.
    fn freed(&mut self, entry: Entry<'_>, start: u64) {
        let Entry { event, attribution, .. } = entry;
        let judged = attribution.by_subject
            && !self.program_ends(attribution)
            && !self.is_implemented(entry.boundary());
        let Some(block) = self.blocks.of_mut(entry.boundary()).get_mut(start) else { return };
        block.end =
            Some(BlockEnd { seq: event.seq, freed: true, by_subject: attribution.by_subject });
        let end = block.end_of(start);
        if judged && !block.by_subject {
            self.sink.report_check(CheckFinding {
                check: Check::MemoryOfOthers,
                step: attribution.step,
                expected: "memory is given back by whoever took it".to_owned(),
                observed: format!("{} of {start:#x}, which the worker took", entry.call.function),
                events: vec![block.taken_here(), witness(event.seq, "freed here")],
            });
        }
        if let Some(holder) = self.holdings.meeting(start, end).filter(|_| judged) {
            let events = vec![block.taken_here(), witness(event.seq, "freed here")];
            self.sink.report_check(CheckFinding {
                check: Check::UseAfterFree,
                step: attribution.step,
                expected: format!(
                    "the memory of `{}` stays allocated while the host holds it",
                    holder.name
                ),
                observed: format!(
                    "{} was given back {start:#x}..{end:#x}, which `{}` of step {} lies in",
                    entry.provider(),
                    holder.name,
                    holder.step
                ),
                events,
            });
        }
    }

    /// Whether the worker makes the calls of a boundary, so that a wrong free is the case's doing.
    fn is_implemented(&self, boundary: Boundary) -> bool {
        let side = interface(self.record.case.operations);
        side.is_some_and(|interface| interface.facts.implements == Some(boundary))
    }

    /// Whether an event comes after the last step of a case that ends as a program ends: finalizers
    /// run while the host lets go of everything.
    fn program_ends(&self, attribution: Attribution) -> bool {
        let over = attribution.step.is_none() && self.next_step == self.record.case.steps.len();
        over && self.record.case.teardown == Teardown::Exit
    }

    /// The boundary did not know the memory, or not any more.
    fn refused(&mut self, entry: Entry<'_>, start: u64, answer: FreeAnswer) {
        let (function, provider) = (entry.call.function, entry.provider());
        let blocks = self.blocks.of(entry.boundary());
        let (check, expected, observed, mut events) = match blocks.get(start) {
            Some(block @ Block { end: Some(end), .. }) if end.freed => (
                Check::DoubleFree,
                format!("memory is given back to {provider} once"),
                format!("{function}({start:#x}) a second time"),
                vec![block.taken_here(), witness(end.seq, "freed here")],
            ),
            Some(Block { end: Some(_), .. }) => return,
            Some(block) => (
                Check::ForeignFree,
                "memory is given back by the function that belongs to it".to_owned(),
                format!("{function} of {start:#x}, which another kind of allocation returned"),
                vec![block.taken_here()],
            ),
            None if matches!(answer, FreeAnswer::UnknownAddress | FreeAnswer::NoAnswer) => {
                let (what, events) = match blocks.at(start) {
                    Some((base, block)) => {
                        let offset = messages::bytes(start - base);
                        let what = format!("{offset} into the allocation at {base:#x}");
                        (what, vec![block.taken_here()])
                    }
                    None => ("which no allocation returned".to_owned(), Vec::new()),
                };
                (
                    Check::ForeignFree,
                    format!("only addresses that {provider} gave are given back to it"),
                    format!("{function}({start:#x}), {what}"),
                    events,
                )
            }
            None => return,
        };
        let again = check == Check::DoubleFree;
        events
            .push(witness(entry.event.seq, if again { "freed again here" } else { "freed here" }));
        let step = entry.attribution.step;
        self.sink.report_check(CheckFinding { check, step, expected, observed, events });
    }

    fn touch(&mut self, entry: Entry<'_>, spans: [Span; 2]) {
        let given = |span: &Span| {
            span.start != 0 && span.size_bytes > 0 && span.space != AddressSpace::Host
        };
        for span in spans.into_iter().filter(given) {
            let blocks = self.blocks.of(entry.boundary());
            let stale = span.ranges().find_map(|(from, to)| {
                let (start, block) = blocks.meeting(from, to)?;
                Some((start, block, block.stale_end()?))
            });
            let Some((start, block, end)) = stale else { continue };
            let events = vec![
                block.taken_here(),
                witness(end.seq, "freed here"),
                witness(entry.event.seq, "used here"),
            ];
            let function = entry.call.function;
            self.sink.report_check(CheckFinding {
                check: Check::UseAfterFree,
                step: entry.attribution.step,
                expected: "freed memory is not used".to_owned(),
                observed: format!("{function} reaches the freed allocation at {start:#x}"),
                events,
            });
        }
    }

    /// Work that was queued before a free ran after it. The finding names the caller that freed.
    fn late_work(
        &mut self,
        seq: u64,
        boundary: Boundary,
        range: (u64, u64),
        attribution: Attribution,
    ) {
        let (start, end) = range;
        let block = self.blocks.of(boundary).meeting(start, end);
        let end = block.and_then(|(_, block)| block.end);
        if !end.map_or(attribution.by_subject, |end| end.by_subject) {
            return;
        }
        let freed = end.map(|end| witness(end.seq, "freed here, with work still queued"));
        let events = freed.into_iter().chain([witness(seq, "the work ran here")]).collect();
        self.sink.report_check(CheckFinding {
            check: Check::UseAfterFree,
            step: attribution.step,
            expected: "memory is freed when the work that uses it is done".to_owned(),
            observed: format!("queued work reached {start:#x} after it was freed"),
            events,
        });
    }

    fn begin_step(&mut self, step: u64) {
        let Some(index) =
            usize::try_from(step).ok().filter(|index| *index < self.record.case.steps.len())
        else {
            return;
        };
        if index < self.next_step {
            return;
        }
        self.pass_steps(index);
        self.next_step = index + 1;
        self.holdings.begin(&self.record.case.steps[index]);
    }

    /// Steps without markers still bind and drop names.
    fn pass_steps(&mut self, until: usize) {
        while self.next_step < until {
            let index = self.next_step;
            self.next_step += 1;
            self.holdings.begin(&self.record.case.steps[index]);
            self.end_step(index as u64);
        }
    }

    fn end_step(&mut self, step: u64) {
        let Some(index) = usize::try_from(step).ok().filter(|index| index + 1 == self.next_step)
        else {
            return;
        };
        let Some(Outcome::Returned(facts)) = self.record.outcome(index) else { return };
        let error = self
            .holdings
            .end(&self.record.case.steps[index], facts, |start, end| self.blocks.stale(start, end));
        match error {
            Some(HeldMemoryError::Overlap { name, other, range: (start, end) }) => {
                self.sink.report_check(CheckFinding {
                    check: Check::Overlap,
                    step: Some(step as u32),
                    expected: format!(
                        "memory apart from `{}` of step {}, which the host still holds",
                        other.name, other.step
                    ),
                    observed: format!("`{name}` at {start:#x}..{end:#x} lies in it"),
                    events: Vec::new(),
                })
            }
            Some(HeldMemoryError::Stale { name, at, events }) => {
                self.sink.report_check(CheckFinding {
                    check: Check::UseAfterFree,
                    step: Some(step as u32),
                    expected: "the memory that is returned is allocated".to_owned(),
                    observed: format!(
                        "`{name}` at {at:#x} lies in memory that was given back to the driver"
                    ),
                    events,
                })
            }
            None => {}
        }
    }

    /// Memory that the subject allocated and never freed. Memory that ended with its owner, such as
    /// a context, counts too: the subject should have freed it before. A subject without
    /// release() may keep it, and memory in which a block is live is not the subject's to free.
    fn leaks(&mut self) {
        let record = self.record;
        if record.case.teardown != Teardown::Clean
            || !record.finished()
            || record.contradiction.is_some()
            || record.all_facts().any(|facts| facts.get("has_release") == Some(&Value::Bool(false)))
        {
            return;
        }
        self.sink.check_performed(Check::Leak);
        let freed = |block: &Block| block.end.is_some_and(|end| end.freed);
        // Only the host's code had it, and lost it with the error.
        let lost_by_host = |block: &Block| block.in_host_code && raised(record, block.step);
        let left = |block: &Block| {
            block.by_subject && !block.free_injected && !freed(block) && !lost_by_host(block)
        };
        let holds_live = |start: u64, block: &Block| {
            let end = block.end_of(start);
            self.live_blocks().any(|(from, to, _)| start < to && from < end)
        };
        let mut left: Vec<(Boundary, &Block)> = self
            .blocks
            .all()
            .filter(|(boundary, start, block)| {
                left(block) && !self.is_implemented(*boundary) && !holds_live(*start, block)
            })
            .map(|(boundary, _, block)| (boundary, block))
            .collect();
        left.sort_by_key(|(_, block)| block.taken);
        let Some((boundary, first)) = left.first().copied() else { return };
        let sizes = left.iter().map(|(_, block)| block.size_bytes);
        let total = messages::bytes(sizes.fold(0, u64::saturating_add));
        let side = interface(record.case.operations);
        let end = side.map_or("the last step", |interface| interface.facts.last_step);
        self.sink.report_check(CheckFinding {
            check: Check::Leak,
            step: first.step,
            expected: format!(
                "nothing that was taken from {} is left after {end}",
                provider(boundary)
            ),
            observed: match left.len() {
                1 => format!("1 allocation of {total} is left"),
                count => format!("{count} allocations of {total} together are left"),
            },
            events: left.iter().take(3).map(|(_, block)| block.taken_here()).collect(),
        });
    }
}

fn raised(record: &CaseRecord<'_>, step: Option<u32>) -> bool {
    let outcome = step.and_then(|step| record.outcome(step as usize));
    matches!(outcome, Some(Outcome::Raised(_)))
}
