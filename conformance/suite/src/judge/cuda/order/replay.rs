//! The walk over a case's events: each call's effect on the order, and its accesses in it.

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
use crate::judge::cuda::order::expected_order::{Now, OrderExpectations};
use crate::judge::cuda::order::kernel_arguments::KernelArguments;
use crate::judge::cuda::order::last_accesses::LastAccesses;
use crate::judge::cuda::order::races::Races;
use crate::judge::cuda::order::streams::{Caller, HOST, LANE_LIMIT, Streams};
use crate::judge::cuda::order::vector_clock::{Snapshot, VectorClock};
use crate::judge::timeline::Moment;
use crate::reason::Doubt;

pub(crate) struct Replay<'a> {
    record: &'a CaseRecord<'a>,
    streams: Streams,
    /// What each event captured, if it was recorded.
    events: HashMap<u64, Option<Snapshot>>,
    allocations: AddressMap<Allocation>,
    memory: LastAccesses,
    contexts: ContextDevices,
    arguments: KernelArguments<'a>,
    /// The memory that facts name.
    named: Rc<[(u64, u64)]>,
    /// Streams that are being captured.
    captures: u32,
    pub(crate) doubts: Doubts,
    pub(crate) races: Races,
    pub(crate) wanted: OrderExpectations<'a>,
}

#[derive(Debug, Clone, Copy)]
struct Allocation {
    size_bytes: u64,
    place: Place,
}

/// Where bytes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Device,
    /// On both sides, or device memory of unknown kind.
    Managed,
    Pinned,
    Pageable,
}

impl<'a> Replay<'a> {
    pub(crate) fn new(record: &'a CaseRecord<'a>, wanted: OrderExpectations<'a>) -> Self {
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
            captures: 0,
            doubts: Doubts::default(),
            races: Races::default(),
            wanted,
        }
    }

    pub(crate) fn event(&mut self, index: usize, event: &Event, moment: Moment) {
        match &event.what {
            What::Call(call) => {
                if let Some(function) = call.function.cuda() {
                    self.call(index, event, function, call, moment);
                }
            }
            What::PassedOn { function, .. } => self.passed_on(event.seq, *function),
            What::Marker(Marker::StepEnd { step }) => {
                let caller =
                    Caller { context: event.context, thread: event.thread, per_thread: false };
                let (streams, memory, doubts) = (&mut self.streams, &self.memory, &mut self.doubts);
                self.wanted.end(self.record, *step, Now { streams, memory, doubts, caller });
            }
            _ => {}
        }
    }

    fn call(
        &mut self,
        index: usize,
        event: &Event,
        function: Function,
        call: &Call,
        moment: Moment,
    ) {
        if call.result != Some(0) {
            if breaks_context(call) {
                self.streams.host_waits_for_contexts(|_| true);
            }
            return;
        }
        let caller =
            Caller { context: event.context, thread: event.thread, per_thread: call.per_thread };
        let order = OrderEffect::of(call);
        let lane = self.apply(order, event.seq, caller);
        let effect = Effect::of(call);
        if let Effect::Take { start, size_bytes, source } = effect {
            self.take(start, size_bytes, source, is_managed(function));
        }
        if let Some(lane) = lane {
            self.accesses(index, event, effect, lane, moment);
        }
        match (effect, order) {
            (Effect::Give { start, .. }, _) => self.give(start, lane),
            (_, OrderEffect::Queue { wait, .. }) if self.host_waits(wait, effect) => {
                lane.into_iter().for_each(|lane| self.streams.host_waits_for_lane(lane));
            }
            (_, OrderEffect::Peer { contexts }) => self.await_contexts(contexts, caller),
            (Effect::Nothing, OrderEffect::Nothing) => self.contexts(ContextEffect::of(call)),
            _ => {}
        }
        if self.streams.crowded {
            self.doubts.meet(Doubt::ManyStreams { limit: LANE_LIMIT as u64 });
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

    /// Brings the order up to date; the lane in which the call's accesses are, if it has any.
    fn apply(&mut self, effect: OrderEffect, seq: u64, caller: Caller) -> Option<u32> {
        match effect {
            OrderEffect::Queue { stream, .. } => return Some(self.submit(stream, caller)),
            OrderEffect::Peer { contexts } => {
                self.await_contexts(contexts, caller);
                return Some(self.submit(0, caller));
            }
            OrderEffect::Callback { stream } => {
                let lane = self.submit(stream, caller);
                let mut clock = VectorClock::default();
                clock.absorb_lane(&self.streams.snapshot(lane));
                self.doubts.raise(Doubt::HostFunction { seq }, clock);
            }
            OrderEffect::CreateStream { handle, flags } => {
                self.streams.create(handle, flags, caller.context);
            }
            OrderEffect::DestroyStream { handle } => self.streams.destroy(handle),
            OrderEffect::CreateEvent { event } => drop(self.events.insert(event, None)),
            OrderEffect::DestroyEvent { event } => drop(self.events.remove(&event)),
            OrderEffect::Record { event, stream } => {
                let lane = self.submit(stream, caller);
                let seen = self.streams.snapshot(lane);
                self.events.insert(event, Some(seen));
            }
            OrderEffect::Wait { stream, event } => {
                let lane = self.submit(stream, caller);
                match self.events.get(&event) {
                    Some(Some(seen)) => self.streams.wait(lane, seen),
                    Some(None) => {}
                    None => self.anything(Doubt::UnknownEvent { seq }),
                }
            }
            OrderEffect::AwaitStream { stream } => {
                let lane = self.streams.lane(stream, caller);
                self.streams.host_waits_for_stream(lane);
            }
            OrderEffect::AwaitEvents(events) => {
                for event in events {
                    match self.events.get(&event) {
                        Some(Some(seen)) => self.streams.host_waits(seen),
                        Some(None) => {}
                        None => self.anything(Doubt::UnknownEvent { seq }),
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
                return Some(HOST);
            }
            OrderEffect::Nothing => {}
        }
        None
    }

    fn submit(&mut self, stream: u64, caller: Caller) -> u32 {
        let lane = self.streams.lane(stream, caller);
        self.streams.submit(lane);
        lane
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
                self.captures = self.captures.saturating_add(1);
                self.doubts.meet(Doubt::Capture { seq });
            }
            PassedOnEffect::EndsCapture => self.captures = self.captures.saturating_sub(1),
            PassedOnEffect::Nothing => {}
            PassedOnEffect::Unknown => {
                self.anything(Doubt::PassedOn { call: function.name().to_owned(), seq });
            }
        }
    }

    /// All that was queued so far may be over, or in whatever order.
    fn anything(&mut self, doubt: Doubt) {
        let mut clock = VectorClock::default();
        self.streams.gather(&mut clock);
        self.doubts.raise(doubt, clock);
    }

    fn accesses(&mut self, index: usize, event: &Event, effect: Effect, lane: u32, moment: Moment) {
        let whole = |start: u64, size_bytes: u64| (start, start.saturating_add(size_bytes));
        match effect {
            Effect::Take { start, size_bytes, .. } => {
                self.record(index, whole(start, size_bytes), AccessKind::Write, lane, moment);
            }
            Effect::Give { start, .. } => {
                if let Some(Allocation { size_bytes, .. }) = self.allocations.get(start).copied() {
                    self.record(index, whole(start, size_bytes), AccessKind::Write, lane, moment);
                }
            }
            Effect::Touch { write, read } => {
                for (span, kind) in [(read, AccessKind::Read), (write, AccessKind::Write)] {
                    if self.place(span) != Place::Pageable {
                        self.record(index, whole(span.start, span.size_bytes), kind, lane, moment);
                    }
                }
            }
            _ => {
                while let Some(range) = self.arguments.next(event.seq) {
                    self.record(index, range, AccessKind::Argument, lane, moment);
                }
            }
        }
    }

    fn record(
        &mut self,
        index: usize,
        range: (u64, u64),
        kind: AccessKind,
        lane: u32,
        moment: Moment,
    ) {
        let (start, end) = range;
        if start == 0 || start >= end || self.captures > 0 || self.streams.crowded {
            return;
        }
        let epoch = self.streams.tick(lane);
        let mark =
            Access { epoch, event: index as u32, kind, subject: moment.subject, coarse: false };
        for (earlier, part) in self.memory.meeting(start, end) {
            let loose = earlier.conflicts(&mark) && !self.streams.after(lane, earlier.epoch);
            if loose && self.exchanged(&earlier, &mark, part) && !self.doubts.cover(&earlier) {
                self.races.add(self.record, AccessPair { earlier, later: mark, part });
            }
        }
        self.wanted.access(moment.step, range, mark, &self.streams, &mut self.doubts);
        if lane != HOST {
            let streams = &self.streams;
            let past = |earlier: &Access| {
                let over = streams.after(HOST, earlier.epoch);
                over || (mark.supersedes(earlier) && streams.after(lane, earlier.epoch))
            };
            self.memory.add(start, end, mark, past);
        }
    }

    /// Whether two accesses are about memory of the exchange. What the subject does by itself in
    /// other memory is its own affair.
    fn exchanged(&self, earlier: &Access, later: &Access, (start, end): (u64, u64)) -> bool {
        let named = || self.named.iter().any(|(from, to)| *from < end && start < *to);
        !(earlier.subject && later.subject) || named()
    }

    fn take(&mut self, start: u64, size_bytes: u64, source: MemorySource, managed: bool) {
        if start == 0 {
            return;
        }
        let place = match source {
            MemorySource::Device if managed => Place::Managed,
            MemorySource::Device => Place::Device,
            MemorySource::PageLocked | MemorySource::Registered => Place::Pinned,
            MemorySource::Heap => Place::Pageable,
        };
        let end = start.saturating_add(size_bytes.max(1));
        self.allocations.put(start, end, Allocation { size_bytes, place });
        self.memory.forget(start, end);
        self.wanted.forget(start, end);
    }

    /// What was freed in a stream is remembered until its addresses are given out again.
    fn give(&mut self, start: u64, lane: Option<u32>) {
        let Some(Allocation { size_bytes, .. }) = self.allocations.remove(start) else { return };
        if lane == Some(HOST) {
            self.memory.forget(start, start.saturating_add(size_bytes.max(1)));
        }
    }

    fn place(&self, span: Span) -> Place {
        match self.allocations.at(span.start) {
            Some((_, allocation)) => allocation.place,
            None if span.space == AddressSpace::Device => Place::Managed,
            None => Place::Pageable,
        }
    }

    fn host_waits(&self, wait: HostWait, effect: Effect) -> bool {
        // Of a copy whose addresses are not known, the host waits for the end.
        let (write, read) = match effect {
            Effect::Touch { write, read } => (self.place(write), self.place(read)),
            _ => (Place::Pageable, Place::Pageable),
        };
        let of_host = |place: Place| matches!(place, Place::Pinned | Place::Pageable);
        match wait {
            HostWait::GoesOn => false,
            HostWait::WaitsForCopy => (write, read) != (Place::Device, Place::Device),
            HostWait::WaitsForPageable => {
                write == Place::Pageable || (of_host(write) && of_host(read))
            }
            HostWait::WaitsForVisible => write != Place::Device,
        }
    }
}
