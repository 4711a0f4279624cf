//! The ledger of driver memory: leak, double free, foreign free, use after free. Walks the trace
//! once.

use allocert_contract::trace::{Call, Event, Marker, What, cuda::Misuse};

use crate::effect::{AddressSpace, Effect, FreeAnswer, MemorySource, Owners, Span};
use crate::interface::interface;
use crate::judge::addresses::AddressMap;
use crate::judge::case_record::CaseRecord;
use crate::judge::findings::{CheckFinding, FindingSink, witness};
use crate::judge::holdings::{Complaint, Holdings};
use crate::judge::messages;
use crate::judge::timeline::Moment;
use crate::nouns::Teardown;
use crate::observation::Outcome;
use crate::verdict::{Check, Witness};

/// Judges all events of the case. A trace with gaps says nothing about memory.
pub(crate) fn judge(record: &CaseRecord<'_>, sink: &mut FindingSink<'_>) {
    if record.observation.events_lost > 0 {
        return;
    }
    for check in [Check::DoubleFree, Check::ForeignFree, Check::UseAfterFree, Check::Overlap] {
        sink.performed(check);
    }
    let mut ledger = Ledger {
        record,
        sink,
        blocks: AddressMap::default(),
        owners: Owners::default(),
        holdings: Holdings::default(),
        next: 0,
    };
    for (event, moment) in record.observation.events.iter().zip(&record.timeline.moments) {
        if moment.own {
            ledger.event(event, *moment);
        }
    }
    ledger.pass(record.case.steps.len());
    ledger.leaks();
}

/// One allocation, alive or dead. Dead ones stay until their addresses are given out again.
#[derive(Debug)]
struct Block {
    size_bytes: u64,
    source: MemorySource,
    owner: u64,
    born: u64,
    step: Option<u32>,
    subject: bool,
    end: Option<End>,
    /// The case itself made a free of it fail.
    spared: bool,
}

#[derive(Debug, Clone, Copy)]
struct End {
    seq: u64,
    /// Given back, and did not end with its context.
    freed: bool,
    subject: bool,
}

struct Ledger<'a, 'd> {
    record: &'a CaseRecord<'a>,
    sink: &'a mut FindingSink<'d>,
    blocks: AddressMap<Block>,
    owners: Owners,
    holdings: Holdings<'a>,
    /// The first step that has not begun.
    next: usize,
}

impl Ledger<'_, '_> {
    fn event(&mut self, event: &Event, moment: Moment) {
        match &event.what {
            What::Call(call) => self.call(event, call, moment),
            What::Marker(Marker::StepBegin { step }) => self.begin(*step),
            What::Marker(Marker::StepEnd { step }) => self.end(*step),
            What::Misuse { misuse: Misuse::WorkAfterFree, args: [address, size], .. } => {
                self.late_work(event.seq, *address, *size, moment);
            }
            _ => {}
        }
    }

    fn call(&mut self, event: &Event, call: &Call, moment: Moment) {
        let granted = call.result == Some(0);
        match Effect::of(call) {
            // No bytes of host memory have no address, and nothing to give back.
            Effect::Take { start, size_bytes, source } if granted && start != 0 => {
                self.take(event, start, size_bytes, source, moment)
            }
            Effect::Give { start, source } if start != 0 => {
                self.give(event.seq, call, start, source, moment)
            }
            Effect::Touch { write, read } if moment.subject => {
                self.touch(event.seq, call, [write, read], moment)
            }
            Effect::Nothing => {
                if let Some(owner) = self.owners.ended_by(call) {
                    self.end_owner(event.seq, owner, moment);
                }
            }
            _ => {}
        }
    }

    fn take(
        &mut self,
        event: &Event,
        start: u64,
        size_bytes: u64,
        source: MemorySource,
        moment: Moment,
    ) {
        let block = Block {
            size_bytes,
            source,
            owner: Owners::owner(event),
            born: event.seq,
            step: moment.step,
            subject: moment.subject,
            end: None,
            spared: false,
        };
        self.blocks.put(start, start.saturating_add(size_bytes.max(1)), block);
    }

    fn give(&mut self, seq: u64, call: &Call, start: u64, source: MemorySource, moment: Moment) {
        if call.injected {
            if let Some(block) = self.blocks.get_mut(start) {
                block.spared = true;
            }
            return;
        }
        let live = self
            .blocks
            .get(start)
            .is_some_and(|block| block.end.is_none() && block.source == source);
        match FreeAnswer::of(call) {
            FreeAnswer::Accepted => self.freed(seq, start, moment),
            FreeAnswer::ShutDown => {}
            _ if !moment.subject || live => {}
            answer => self.refused(seq, call, start, answer, moment),
        }
    }

    /// The driver took it back.
    fn freed(&mut self, seq: u64, start: u64, moment: Moment) {
        let Some(block) = self.blocks.get_mut(start) else { return };
        block.end = Some(End { seq, freed: true, subject: moment.subject });
        let (born, end) = (block.born, start.saturating_add(block.size_bytes.max(1)));
        if !moment.subject || self.ending(moment) {
            return;
        }
        if let Some(holder) = self.holdings.meeting(start, end) {
            self.sink.report_check(CheckFinding {
                check: Check::UseAfterFree,
                step: moment.step,
                expected: format!(
                    "the memory of `{}` stays allocated while the host holds it",
                    holder.name
                ),
                observed: format!(
                    "the driver was given back {start:#x}..{end:#x}, which `{}` of step {} lies in",
                    holder.name, holder.step
                ),
                events: vec![witness(born, "allocated here"), witness(seq, "freed here")],
            });
        }
    }

    /// After the last step of a case that ends as a program ends: finalizers run while the host
    /// lets go of everything.
    fn ending(&self, moment: Moment) -> bool {
        let over = moment.step.is_none() && self.next == self.record.case.steps.len();
        over && self.record.case.teardown == Teardown::Exit
    }

    /// The driver did not know it, or not any more.
    fn refused(&mut self, seq: u64, call: &Call, start: u64, answer: FreeAnswer, moment: Moment) {
        let (check, expected, observed, mut events) = match self.blocks.get(start) {
            Some(Block { end: Some(end), born, .. }) if end.freed => (
                Check::DoubleFree,
                "memory is given back to the driver once".to_owned(),
                format!("{}({start:#x}) a second time", call.function),
                vec![witness(*born, "allocated here"), witness(end.seq, "freed here")],
            ),
            Some(Block { end: Some(_), .. }) => return,
            Some(Block { born, .. }) => (
                Check::ForeignFree,
                "memory is given back by the function that belongs to it".to_owned(),
                format!(
                    "{} of {start:#x}, which another kind of allocation returned",
                    call.function
                ),
                vec![witness(*born, "allocated here")],
            ),
            None if answer == FreeAnswer::UnknownAddress => self.foreign(call, start),
            None => return,
        };
        events.push(witness(
            seq,
            if check == Check::DoubleFree { "freed again here" } else { "freed here" },
        ));
        self.sink.report_check(CheckFinding {
            check,
            step: moment.step,
            expected,
            observed,
            events,
        });
    }

    fn foreign(&self, call: &Call, start: u64) -> (Check, String, String, Vec<Witness>) {
        let expected = "only addresses that the driver gave are given back to it".to_owned();
        let (observed, events) = match self.blocks.at(start) {
            Some((base, block)) => (
                format!(
                    "{}({start:#x}), {} into the allocation at {base:#x}",
                    call.function,
                    messages::bytes(start - base)
                ),
                vec![witness(block.born, "allocated here")],
            ),
            None => {
                (format!("{}({start:#x}), which no allocation returned", call.function), Vec::new())
            }
        };
        (Check::ForeignFree, expected, observed, events)
    }

    fn touch(&mut self, seq: u64, call: &Call, spans: [Span; 2], moment: Moment) {
        let of_driver = |span: &Span| {
            span.start != 0 && span.size_bytes > 0 && span.space != AddressSpace::Host
        };
        for Span { start: address, size_bytes, .. } in spans.into_iter().filter(of_driver) {
            let Some((start, block)) =
                self.blocks.meeting(address, address.saturating_add(size_bytes))
            else {
                continue;
            };
            let Some(end) = block.end.filter(|end| end.freed && block.source.is_exclusive()) else {
                continue;
            };
            let events = vec![
                witness(block.born, "allocated here"),
                witness(end.seq, "freed here"),
                witness(seq, "used here"),
            ];
            self.sink.report_check(CheckFinding {
                check: Check::UseAfterFree,
                step: moment.step,
                expected: "freed memory is not used".to_owned(),
                observed: format!("{} reaches the freed allocation at {start:#x}", call.function),
                events,
            });
        }
    }

    /// Work that was queued before a free ran after it; whoever freed is to blame.
    fn late_work(&mut self, seq: u64, address: u64, size_bytes: u64, moment: Moment) {
        let block = self.blocks.meeting(address, address.saturating_add(size_bytes.max(1)));
        let end = block.and_then(|(_, block)| block.end);
        if !end.map_or(moment.subject, |end| end.subject) {
            return;
        }
        let mut events: Vec<Witness> = end
            .map(|end| witness(end.seq, "freed here, with work still queued"))
            .into_iter()
            .collect();
        events.push(witness(seq, "the work ran here"));
        self.sink.report_check(CheckFinding {
            check: Check::UseAfterFree,
            step: moment.step,
            expected: "memory is freed when the work that uses it is done".to_owned(),
            observed: format!("queued work reached {address:#x} after it was freed"),
            events,
        });
    }

    fn end_owner(&mut self, seq: u64, owner: u64, moment: Moment) {
        let alive = |block: &&mut Block| block.end.is_none() && block.owner == owner;
        for block in self.blocks.values_mut().filter(alive) {
            block.end = Some(End { seq, freed: false, subject: moment.subject });
        }
    }

    fn begin(&mut self, step: u64) {
        let Some(index) =
            usize::try_from(step).ok().filter(|index| *index < self.record.case.steps.len())
        else {
            return;
        };
        if index < self.next {
            return;
        }
        self.pass(index);
        self.next = index + 1;
        self.holdings.begin(&self.record.case.steps[index]);
    }

    /// Steps without marks still bind and drop names.
    fn pass(&mut self, until: usize) {
        while self.next < until {
            let index = self.next;
            self.next += 1;
            self.holdings.begin(&self.record.case.steps[index]);
            self.end(index as u64);
        }
    }

    fn end(&mut self, step: u64) {
        let Some(index) = usize::try_from(step).ok().filter(|index| index + 1 == self.next) else {
            return;
        };
        let Some(Outcome::Returned(facts)) = self.record.outcome(index) else { return };
        let complaint = self.holdings.end(&self.record.case.steps[index], facts, |start, end| {
            stale(&self.blocks, start, end)
        });
        match complaint {
            Some(Complaint::Overlap { name, other, range: (start, end) }) => {
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
            Some(Complaint::Stale { name, at, events }) => self.sink.report_check(CheckFinding {
                check: Check::UseAfterFree,
                step: Some(step as u32),
                expected: "the memory that is returned is allocated".to_owned(),
                observed: format!(
                    "`{name}` at {at:#x} lies in memory that was given back to the driver"
                ),
                events,
            }),
            None => {}
        }
    }

    /// What the subject took and never gave back. Memory that went with its context counts: reset
    /// should have freed it.
    fn leaks(&mut self) {
        let record = self.record;
        if record.case.teardown != Teardown::Clean
            || !record.finished()
            || record.contradiction.is_some()
        {
            return;
        }
        self.sink.performed(Check::Leak);
        let freed = |block: &Block| block.end.is_some_and(|end| end.freed);
        let left = self
            .blocks
            .values()
            .filter(|(_, block)| block.subject && !block.spared && !freed(block));
        let mut left: Vec<&Block> = left.map(|(_, block)| block).collect();
        left.sort_by_key(|block| block.born);
        let Some(first) = left.first() else { return };
        let total: u64 = left.iter().map(|block| block.size_bytes).fold(0, u64::saturating_add);
        let side = interface(record.case.operations);
        let end = side.map_or("the last step", |interface| interface.facts.last_step);
        self.sink.report_check(CheckFinding {
            check: Check::Leak,
            step: first.step,
            expected: format!("nothing that was taken from the driver is left after {end}"),
            observed: match left.len() {
                1 => format!("1 allocation of {} is left", messages::bytes(total)),
                count => {
                    format!("{count} allocations of {} together are left", messages::bytes(total))
                }
            },
            events: left
                .iter()
                .take(3)
                .map(|block| witness(block.born, "allocated here"))
                .collect(),
        });
    }
}

/// Where a range was allocated and freed, if that is all that is known of it.
fn stale(blocks: &AddressMap<Block>, start: u64, end: u64) -> Option<Vec<Witness>> {
    let (_, block) = blocks.meeting(start, end)?;
    let dead = block.end.filter(|end| end.freed && block.source.is_exclusive())?;
    Some(vec![witness(block.born, "allocated here"), witness(dead.seq, "freed here")])
}
