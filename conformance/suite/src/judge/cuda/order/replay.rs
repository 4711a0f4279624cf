//! Replays the driver calls of a case: what each orders, and the accesses that it makes.

use std::collections::HashMap;
use std::rc::Rc;

use allocert_contract::trace::{Call, Event, Marker, What, cuda::Function};

use crate::effect::cuda::{
    ContextEffect, HostWait, OrderEffect, PassedOnEffect, breaks_context, is_managed,
};
use crate::effect::{AddressSpace, Effect, MemorySource, Span};
use crate::judge::addresses::{AddressMap, ranges};
use crate::judge::case_record::CaseRecord;
use crate::judge::cuda::order::access::{Access, AccessKind, AccessPair};
use crate::judge::cuda::order::context_devices::ContextDevices;
use crate::judge::cuda::order::doubts::Doubts;
use crate::judge::cuda::order::expected_order::{OrderExpectations, StepEndState};
use crate::judge::cuda::order::kernel_arguments::KernelArguments;
use crate::judge::cuda::order::last_accesses::LastAccesses;
use crate::judge::cuda::order::races::Races;
use crate::judge::cuda::order::streams::{Caller, HOST_SLOT, STREAM_LIMIT, Streams};
use crate::judge::cuda::order::vector_clock::{Snapshot, VectorClock};
use crate::judge::timeline::Attribution;
use crate::reason::Doubt;

pub(crate) struct Replay<'a> {
    record: &'a CaseRecord<'a>,
    streams: Streams,
    /// What each event has recorded, if anything.
    events: HashMap<u64, Option<Snapshot>>,
    allocations: AddressMap<Allocation>,
    memory: LastAccesses,
    contexts: ContextDevices,
    arguments: KernelArguments<'a>,
    /// The memory that facts of the case name.
    named: Rc<[(u64, u64)]>,
    /// Streams that are being captured.
    open_captures: u32,
    pub(crate) doubts: Doubts,
    pub(crate) races: Races,
    pub(crate) expectations: OrderExpectations<'a>,
}

/// The call that makes an access.
#[derive(Debug, Clone, Copy)]
struct Cause {
    /// The index of its event.
    index: u32,
    seq: u64,
    attribution: Attribution,
}

#[derive(Debug, Clone, Copy)]
struct Allocation {
    size_bytes: u64,
    kind: MemoryKind,
}

/// Where memory lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MemoryKind {
    Device,
    /// On both sides, or a device address of unknown kind.
    Managed,
    Pinned,
    Pageable,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(record: &'a CaseRecord<'a>, expectations: OrderExpectations<'a>) -> Self {
        let named: Rc<[(u64, u64)]> = record.all_facts().flat_map(ranges).collect();
        Self {
            record,
            streams: Streams::default(),
            events: HashMap::new(),
            allocations: AddressMap::default(),
            memory: LastAccesses::default(),
            contexts: ContextDevices::default(),
            arguments: KernelArguments::new(record, Rc::clone(&named)),
            named,
            open_captures: 0,
            doubts: Doubts::default(),
            races: Races::default(),
            expectations,
        }
    }

    pub(crate) fn event(&mut self, index: usize, event: &Event, attribution: Attribution) {
        match &event.what {
            What::Call(call) => {
                if let Some(function) = call.function.cuda() {
                    let cause = Cause { index: index as u32, seq: event.seq, attribution };
                    let (context, thread) = (event.context, event.thread);
                    let caller = Caller { context, thread, per_thread: call.per_thread };
                    self.call(cause, caller, function, call);
                }
            }
            What::PassedOn { function, .. } => self.passed_on(event.seq, *function),
            What::Marker(Marker::StepEnd { step }) => {
                let caller =
                    Caller { context: event.context, thread: event.thread, per_thread: false };
                let (streams, memory, doubts) = (&mut self.streams, &self.memory, &mut self.doubts);
                self.expectations.end(
                    self.record,
                    *step,
                    StepEndState { streams, memory, doubts, caller },
                );
            }
            _ => {}
        }
    }

    fn call(&mut self, cause: Cause, caller: Caller, function: Function, call: &Call) {
        if call.result != Some(0) {
            if breaks_context(call) {
                self.streams.host_waits_for_contexts(|_| true);
            }
            return;
        }
        let order = OrderEffect::of(call);
        let slot = self.apply(order, cause.seq, caller);
        let effect = Effect::of(call);
        if let Effect::Take { start, size_bytes, source } = effect {
            self.take(start, size_bytes, source, is_managed(function));
        }
        if let Some(slot) = slot {
            self.accesses(cause, effect, slot);
        }
        match (effect, order) {
            (Effect::Give { start, .. }, _) => self.give(start, slot),
            (_, OrderEffect::Queue { wait, .. }) if self.host_waits(wait, effect) => {
                slot.into_iter().for_each(|slot| self.streams.host_waits_for_slot(slot));
            }
            (_, OrderEffect::Peer { contexts }) => self.await_contexts(contexts, caller),
            (Effect::Nothing, OrderEffect::Nothing) => self.contexts(ContextEffect::of(call)),
            _ => {}
        }
        if self.streams.too_many {
            self.doubts.decide(Doubt::ManyStreams { limit: STREAM_LIMIT as u64 });
        }
    }

    fn contexts(&mut self, effect: ContextEffect) {
        match effect {
            ContextEffect::Create { context, device } => self.contexts.begin(context, device),
            ContextEffect::Retain { device, context } => {
                self.contexts.begin(context, device);
                self.contexts.retain(device);
            }
            ContextEffect::Release { device } if self.contexts.release(device) => {
                self.end_device(device);
            }
            ContextEffect::Reset { device } => self.end_device(device),
            _ => {}
        }
    }

    /// Brings the order up to date. Returns the slot that the call's accesses belong to.
    fn apply(&mut self, effect: OrderEffect, seq: u64, caller: Caller) -> Option<u32> {
        match effect {
            OrderEffect::Queue { stream, .. } => return Some(self.submit(stream, caller)),
            OrderEffect::Peer { contexts } => {
                self.await_contexts(contexts, caller);
                return Some(self.submit(0, caller));
            }
            OrderEffect::Callback { stream } => {
                let slot = self.submit(stream, caller);
                let mut clock = VectorClock::default();
                clock.absorb_snapshot(&self.streams.snapshot(slot));
                self.doubts.raise(Doubt::HostFunction { seq }, clock);
            }
            OrderEffect::CreateStream { handle, flags } => {
                self.streams.create(handle, flags, caller.context);
            }
            OrderEffect::DestroyStream { handle } => self.streams.destroy(handle),
            OrderEffect::CreateEvent { event } => drop(self.events.insert(event, None)),
            OrderEffect::DestroyEvent { event } => drop(self.events.remove(&event)),
            OrderEffect::Record { event, stream } => {
                let slot = self.submit(stream, caller);
                let seen = self.streams.snapshot(slot);
                self.events.insert(event, Some(seen));
            }
            OrderEffect::Wait { stream, event } => {
                let slot = self.submit(stream, caller);
                match self.events.get(&event) {
                    Some(Some(seen)) => self.streams.wait(slot, seen),
                    Some(None) => {}
                    None => self.doubt_everything(Doubt::UnknownEvent { seq }),
                }
            }
            OrderEffect::AwaitStream { stream } => {
                let slot = self.streams.slot_of(stream, caller);
                self.streams.host_waits_for_stream(slot);
            }
            OrderEffect::AwaitEvents(events) => {
                for event in events {
                    match self.events.get(&event) {
                        Some(Some(seen)) => self.streams.host_waits(seen),
                        Some(None) => {}
                        None => self.doubt_everything(Doubt::UnknownEvent { seq }),
                    }
                }
            }
            OrderEffect::AwaitContext { context } => {
                let context = if context == 0 { caller.context } else { context };
                self.streams.host_waits_for_contexts(|of| of == context);
            }
            OrderEffect::AwaitDevice => {
                let contexts = &self.contexts;
                self.streams.host_waits_for_contexts(|of| contexts.share(of, caller.context));
                return Some(HOST_SLOT);
            }
            OrderEffect::Nothing => {}
        }
        None
    }

    fn submit(&mut self, stream: u64, caller: Caller) -> u32 {
        let slot = self.streams.slot_of(stream, caller);
        self.streams.submit(slot);
        slot
    }

    fn await_contexts(&mut self, contexts: [u64; 2], caller: Caller) {
        self.streams.host_waits_for_contexts(|of| of == caller.context || contexts.contains(&of));
    }

    fn end_device(&mut self, device: u64) {
        let contexts = &self.contexts;
        self.streams
            .host_waits_for_contexts(|of| contexts.device(of).is_none_or(|found| found == device));
    }

    fn passed_on(&mut self, seq: u64, function: Function) {
        match PassedOnEffect::of(function) {
            PassedOnEffect::BeginsCapture => {
                self.open_captures = self.open_captures.saturating_add(1);
                self.doubts.decide(Doubt::Capture { seq });
            }
            PassedOnEffect::EndsCapture => {
                self.open_captures = self.open_captures.saturating_sub(1)
            }
            PassedOnEffect::Nothing => {}
            PassedOnEffect::Unknown => {
                self.doubt_everything(Doubt::PassedOn { call: function.name().to_owned(), seq });
            }
        }
    }

    /// All work that was queued so far may be over, or ran in any order.
    fn doubt_everything(&mut self, doubt: Doubt) {
        let mut clock = VectorClock::default();
        self.streams.absorb_all_into(&mut clock);
        self.doubts.raise(doubt, clock);
    }

    fn accesses(&mut self, cause: Cause, effect: Effect, slot: u32) {
        let whole = |start: u64, size_bytes: u64| (start, start.saturating_add(size_bytes));
        match effect {
            Effect::Take { start, size_bytes, .. } => {
                self.access(cause, whole(start, size_bytes), AccessKind::Write, slot);
            }
            Effect::Give { start, .. } => {
                if let Some(Allocation { size_bytes, .. }) = self.allocations.get(start).copied() {
                    self.access(cause, whole(start, size_bytes), AccessKind::Write, slot);
                }
            }
            Effect::Touch { write, read } => {
                for (span, kind) in [(read, AccessKind::Read), (write, AccessKind::Write)] {
                    if self.memory_kind(span) != MemoryKind::Pageable {
                        self.access(cause, whole(span.start, span.size_bytes), kind, slot);
                    }
                }
            }
            _ => {
                while let Some(range) = self.arguments.next(cause.seq) {
                    self.access(cause, range, AccessKind::Argument, slot);
                }
            }
        }
    }

    fn access(&mut self, cause: Cause, range: (u64, u64), kind: AccessKind, slot: u32) {
        let (start, end) = range;
        if start == 0 || start >= end || self.open_captures > 0 || self.streams.too_many {
            return;
        }
        let epoch = self.streams.tick(slot);
        let access = Access {
            epoch,
            event: cause.index,
            kind,
            by_subject: cause.attribution.by_subject,
            merged: false,
        };
        for (earlier, overlap) in self.memory.meeting(start, end) {
            let unordered =
                earlier.conflicts(&access) && !self.streams.comes_after(slot, earlier.epoch);
            if unordered
                && self.is_exchanged(&earlier, &access, overlap)
                && !self.doubts.explains(&earlier)
            {
                self.races.add(self.record, AccessPair { earlier, later: access, overlap });
            }
        }
        self.expectations.access(
            cause.attribution.step,
            range,
            access,
            &self.streams,
            &mut self.doubts,
        );
        if slot != HOST_SLOT {
            let streams = &self.streams;
            let superseded = |earlier: &Access| {
                let over = streams.comes_after(HOST_SLOT, earlier.epoch);
                over || (access.supersedes(earlier) && streams.comes_after(slot, earlier.epoch))
            };
            self.memory.add(start, end, access, superseded);
        }
    }

    /// Whether subject and harness exchange the memory of two accesses. What the subject does by
    /// itself in other memory is its own affair.
    fn is_exchanged(&self, earlier: &Access, later: &Access, (start, end): (u64, u64)) -> bool {
        let named = || self.named.iter().any(|(from, to)| *from < end && start < *to);
        !(earlier.by_subject && later.by_subject) || named()
    }

    fn take(&mut self, start: u64, size_bytes: u64, source: MemorySource, managed: bool) {
        if start == 0 {
            return;
        }
        let kind = match source {
            MemorySource::Device if managed => MemoryKind::Managed,
            MemorySource::Device => MemoryKind::Device,
            MemorySource::PageLocked | MemorySource::Registered => MemoryKind::Pinned,
            MemorySource::Heap => MemoryKind::Pageable,
        };
        let end = start.saturating_add(size_bytes.max(1));
        self.allocations.put(start, end, Allocation { size_bytes, kind });
        self.memory.forget(start, end);
        self.expectations.forget(start, end);
    }

    /// The accesses to memory that was freed in a stream count until its addresses are taken again.
    fn give(&mut self, start: u64, slot: Option<u32>) {
        let Some(Allocation { size_bytes, .. }) = self.allocations.remove(start) else { return };
        if slot == Some(HOST_SLOT) {
            self.memory.forget(start, start.saturating_add(size_bytes.max(1)));
        }
    }

    fn memory_kind(&self, span: Span) -> MemoryKind {
        match self.allocations.at(span.start) {
            Some((_, allocation)) => allocation.kind,
            None if span.space == AddressSpace::Device => MemoryKind::Managed,
            None => MemoryKind::Pageable,
        }
    }

    fn host_waits(&self, wait: HostWait, effect: Effect) -> bool {
        // The host waits for the end of a copy whose addresses are not known.
        let (write, read) = match effect {
            Effect::Touch { write, read } => (self.memory_kind(write), self.memory_kind(read)),
            _ => (MemoryKind::Pageable, MemoryKind::Pageable),
        };
        let of_host = |kind: MemoryKind| matches!(kind, MemoryKind::Pinned | MemoryKind::Pageable);
        match wait {
            HostWait::Never => false,
            HostWait::UnlessOnDevice => (write, read) != (MemoryKind::Device, MemoryKind::Device),
            HostWait::IfPageable => {
                write == MemoryKind::Pageable || (of_host(write) && of_host(read))
            }
            HostWait::IfHostVisible => write != MemoryKind::Device,
        }
    }
}
