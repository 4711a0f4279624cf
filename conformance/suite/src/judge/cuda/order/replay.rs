//! Replays the driver calls of a case: what each orders, and the accesses that it makes.

use std::rc::Rc;

use allocert_contract::trace::{Call, Event, Marker, What, cuda::Function};

use crate::effect::cuda::{
    ContextEffect, HostWait, MemoryClass, OrderEffect, PassedOnEffect, Work, breaks_context,
    has_order_of_its_own, memory_class,
};
use crate::effect::{AddressSpace, Effect, Span};
use crate::judge::addresses::{AddressMap, ranges};
use crate::judge::case_record::CaseRecord;
use crate::judge::cuda::order::access::{Access, AccessKind, AccessPair};
use crate::judge::cuda::order::doubts::Doubts;
use crate::judge::cuda::order::expected_order::{OrderExpectations, StepEndState};
use crate::judge::cuda::order::kernel_arguments::KernelArguments;
use crate::judge::cuda::order::last_accesses::LastAccesses;
use crate::judge::cuda::order::primary_contexts::PrimaryContexts;
use crate::judge::cuda::order::races::Races;
use crate::judge::cuda::order::streams::{Caller, HOST_SLOT, STREAM_LIMIT, Streams};
use crate::judge::cuda::order::vector_clock::{Snapshot, VectorClock};
use crate::judge::handle_map::HandleMap;
use crate::judge::timeline::Attribution;
use crate::reason::Doubt;

pub(crate) struct Replay<'a> {
    record: &'a CaseRecord<'a>,
    streams: Streams,
    /// What each event has recorded, if anything.
    events: HandleMap<Option<Snapshot>>,
    allocations: AddressMap<Allocation>,
    memory: LastAccesses,
    primary_contexts: PrimaryContexts,
    arguments: KernelArguments<'a>,
    /// The memory that facts of the case name.
    named: Rc<[(u64, u64)]>,
    /// Streams that are being captured.
    open_captures: u32,
    /// The slot of work that nobody knows the stream of, by context.
    unnamed: HandleMap<u32>,
    /// Device memory may lie at addresses that no call of the trace gave.
    maps_memory: bool,
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
    class: MemoryClass,
    /// The context that it was taken in.
    context: u64,
}

/// What a copy or fill reads and writes, as far as waits depend on it.
#[derive(Debug, Clone, Copy)]
struct Operands {
    write: MemoryClass,
    read: MemoryClass,
    size_bytes: u64,
    /// Other contexts that own some of the memory. The copy is work of their legacy streams too.
    other_contexts: [Option<u64>; 2],
}

impl<'a> Replay<'a> {
    pub(crate) fn new(record: &'a CaseRecord<'a>, expectations: OrderExpectations<'a>) -> Self {
        let named: Rc<[(u64, u64)]> = record.all_facts().flat_map(ranges).collect();
        Self {
            record,
            streams: Streams::default(),
            events: HandleMap::default(),
            allocations: AddressMap::default(),
            memory: LastAccesses::default(),
            primary_contexts: PrimaryContexts::default(),
            arguments: KernelArguments::new(record, Rc::clone(&named)),
            named,
            open_captures: 0,
            unnamed: HandleMap::default(),
            maps_memory: false,
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
            What::PassedOn { function, .. } => {
                let cause = Cause { index: index as u32, seq: event.seq, attribution };
                self.passed_on(cause, event.context, *function);
            }
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
        let effect = Effect::of(call);
        match OrderEffect::of(call) {
            OrderEffect::Queue { stream, work } => {
                if has_order_of_its_own(function, call) {
                    self.conjecture(cause, caller.context, function);
                }
                self.queue(cause, caller, (stream, work), effect, function);
            }
            OrderEffect::Free { start } => self.free(cause, effect, start),
            OrderEffect::Nothing => {
                self.take(effect, function, caller.context);
                if effect == Effect::Nothing {
                    self.contexts(ContextEffect::of(call));
                }
            }
            order => self.apply(order, cause.seq, caller),
        }
        if self.streams.too_many {
            self.doubts.decide(Doubt::ManyStreams { limit: STREAM_LIMIT as u64 });
        }
    }

    /// Queues what a call does to memory, and lets the host wait as long as the call does.
    fn queue(
        &mut self,
        cause: Cause,
        caller: Caller,
        (stream, work): (u64, Work),
        effect: Effect,
        function: Function,
    ) {
        let operands = self.operands(effect, (stream, work), caller);
        let Operands { write, read, size_bytes, .. } = operands;
        let wait = work.host_wait(caller.per_thread, write, read, size_bytes);
        if wait == HostWait::NothingQueued {
            return;
        }
        let slot = self.streams.slot_of(stream, caller);
        let others = operands
            .other_contexts
            .map(|context| context.map(|context| self.legacy_slot(context, caller)));
        let others = others.into_iter().flatten();
        if matches!(wait, HostWait::StreamBefore { .. }) {
            others.clone().chain([slot]).for_each(|slot| {
                self.streams.host_waits_for_stream(slot);
            });
        }
        if work == Work::Allocation && !self.is_in_use(effect) {
            self.streams.submit_alone(slot);
        } else {
            self.streams.submit(slot);
        }
        for other in others.clone() {
            self.streams.submit(other);
            let seen = self.streams.snapshot(other);
            self.streams.wait(slot, &seen);
        }
        let is_over = match wait {
            HostWait::EarlierWork => {
                self.streams.host_waits_for_slot(slot);
                false
            }
            HostWait::StreamBefore { arrives } => {
                arrives && self.streams.host_knows_all_before(slot)
            }
            HostWait::Completion => true,
            HostWait::Never | HostWait::NothingQueued => false,
        };
        self.take(effect, function, caller.context);
        self.accesses(cause, effect, operands, slot);
        for other in others {
            let seen = self.streams.snapshot(slot);
            self.streams.wait(other, &seen);
        }
        if is_over {
            self.streams.host_waits_for_slot(slot);
        }
        if let Effect::Give { start, .. } = effect {
            // Its accesses count until its addresses are taken again.
            self.allocations.remove(start);
        }
    }

    /// The legacy stream of another context. It takes part in what the caller's legacy stream does
    /// with that context's memory.
    fn legacy_slot(&mut self, context: u64, caller: Caller) -> u32 {
        self.streams.slot_of(0, Caller { context, per_thread: false, ..caller })
    }

    /// The host waits for the context that owns the memory, unless it is a pool's, or nobody's.
    fn free(&mut self, cause: Cause, effect: Effect, start: u64) {
        let Some(allocation) = self.allocations.get(start).copied() else { return };
        let Allocation { size_bytes, class, context } = allocation;
        if class != MemoryClass::Pool {
            self.streams.host_waits_for_contexts(|of| of == context);
        }
        self.accesses(cause, effect, Operands::NONE, HOST_SLOT);
        self.allocations.remove(start);
        self.memory.forget(start, start.saturating_add(size_bytes.max(1)));
    }

    fn contexts(&mut self, effect: ContextEffect) {
        match effect {
            ContextEffect::Retain { device, .. } => self.primary_contexts.retain(device),
            ContextEffect::Release { device } if self.primary_contexts.release(device) => {
                self.streams.host_waits_for_contexts(|_| true);
            }
            ContextEffect::Reset { .. } => self.streams.host_waits_for_contexts(|_| true),
            _ => {}
        }
    }

    /// Brings the order up to date.
    fn apply(&mut self, effect: OrderEffect, seq: u64, caller: Caller) {
        match effect {
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
            OrderEffect::Wait { stream, event } => match self.events.get(&event).cloned() {
                Some(Some(seen)) => {
                    let slot = self.submit(stream, caller);
                    self.streams.wait(slot, &seen);
                }
                // A stream has nothing to do for an event that was never recorded.
                Some(None) => {}
                None => self.doubt_everything(Doubt::UnknownEvent { seq }),
            },
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
            OrderEffect::EndContext => self.streams.host_waits_for_contexts(|_| true),
            OrderEffect::SetSyncMemops { address, on } => {
                let found = self.allocations.at(address).map(|(start, _)| start);
                if let Some(allocation) = found.and_then(|start| self.allocations.get_mut(start)) {
                    allocation.class = allocation.class.with_sync_memops(on);
                }
            }
            OrderEffect::Queue { .. } | OrderEffect::Free { .. } | OrderEffect::Nothing => {}
        }
    }

    fn submit(&mut self, stream: u64, caller: Caller) -> u32 {
        let slot = self.streams.slot_of(stream, caller);
        self.streams.submit(slot);
        slot
    }

    fn passed_on(&mut self, cause: Cause, context: u64, function: Function) {
        let name = function.name();
        self.maps_memory |= name.starts_with("cuMemMap") || name.starts_with("cuExternalMemory");
        let seq = cause.seq;
        match PassedOnEffect::of(function) {
            PassedOnEffect::BeginsCapture => {
                self.open_captures = self.open_captures.saturating_add(1);
                self.doubts.decide(Doubt::Capture { seq });
            }
            PassedOnEffect::EndsCapture => {
                self.open_captures = self.open_captures.saturating_sub(1)
            }
            PassedOnEffect::Nothing => {}
            PassedOnEffect::MayWait => {
                self.doubt_everything(Doubt::PassedOn { call: name.to_owned(), seq });
            }
            PassedOnEffect::MayTouch => self.conjecture(cause, context, function),
        }
    }

    /// A call may wait for everything, and may queue work on all memory that facts of the case
    /// name. Nobody sees that work, so what is not in order with it either way is not observed.
    fn conjecture(&mut self, cause: Cause, context: u64, function: Function) {
        let doubt = Doubt::PassedOn { call: function.name().to_owned(), seq: cause.seq };
        self.doubts.conjecture(&doubt);
        self.doubt_everything(doubt);
        if self.doubts.decisive.is_some() {
            return;
        }
        let slot =
            *self.unnamed.entry(context).or_insert_with(|| self.streams.create_unnamed(context));
        self.streams.submit(slot);
        for range in Rc::clone(&self.named).iter() {
            self.access_as(cause, *range, AccessKind::Write, slot, true);
        }
    }

    /// All work that was queued so far may be over, or ran in any order.
    fn doubt_everything(&mut self, doubt: Doubt) {
        let mut clock = VectorClock::default();
        self.streams.absorb_all_into(&mut clock);
        self.doubts.raise(doubt, clock);
    }

    fn accesses(&mut self, cause: Cause, effect: Effect, operands: Operands, slot: u32) {
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
                let both = [
                    (read, operands.read, AccessKind::Read),
                    (write, operands.write, AccessKind::Write),
                ];
                for (span, class, kind) in both {
                    if class != MemoryClass::Pageable {
                        for range in span.ranges() {
                            self.access(cause, range, kind, slot);
                        }
                    }
                }
            }
            _ => {
                let kind = self.kernel_access(cause);
                while let Some(range) = self.arguments.next(cause.seq) {
                    self.access(cause, range, kind, slot);
                }
            }
        }
    }

    /// What a kernel does to its arguments. One of the subject that is asked to read only reads.
    fn kernel_access(&self, cause: Cause) -> AccessKind {
        let Attribution { step, by_subject, .. } = cause.attribution;
        let steps = &self.record.case.steps;
        let step = step.and_then(|step| steps.get(step as usize)).filter(|_| by_subject);
        match step.is_some_and(|step| step.r#do.properties().only_reads) {
            true => AccessKind::Read,
            false => AccessKind::Argument,
        }
    }

    fn access(&mut self, cause: Cause, range: (u64, u64), kind: AccessKind, slot: u32) {
        self.access_as(cause, range, kind, slot, false);
    }

    fn access_as(
        &mut self,
        cause: Cause,
        range: (u64, u64),
        kind: AccessKind,
        slot: u32,
        conjectured: bool,
    ) {
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
            conjectured,
        };
        let place = self.memory.place(start);
        for (earlier, overlap) in self.memory.meeting_from(place, start, end) {
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
            self.memory.add(place, (start, end), access, superseded);
        }
    }

    /// Whether subject and harness exchange the memory of two accesses. What the subject does by
    /// itself in other memory is its own affair.
    fn is_exchanged(&self, earlier: &Access, later: &Access, (start, end): (u64, u64)) -> bool {
        let named = || self.named.iter().any(|(from, to)| *from < end && start < *to);
        !(earlier.by_subject && later.by_subject) || named()
    }

    fn take(&mut self, effect: Effect, function: Function, context: u64) {
        let Effect::Take { start, size_bytes, .. } = effect else { return };
        if start == 0 {
            return;
        }
        let class = memory_class(function);
        let end = start.saturating_add(size_bytes.max(1));
        self.allocations.put(start, end, Allocation { size_bytes, class, context });
        self.memory.forget(start, end);
        self.expectations.forget(start, end);
    }

    /// Whether the addresses that a call takes may still be in use by work before their last free.
    fn is_in_use(&self, effect: Effect) -> bool {
        let Effect::Take { start, size_bytes, .. } = effect else { return false };
        let over = |access: &Access| self.streams.comes_after(HOST_SLOT, access.epoch);
        self.memory
            .meeting(start, start.saturating_add(size_bytes.max(1)))
            .any(|(access, _)| !over(&access))
    }

    fn operands(&self, effect: Effect, (stream, work): (u64, Work), caller: Caller) -> Operands {
        let Effect::Touch { write, read } = effect else { return Operands::NONE };
        let (write_class, write_context) = self.class_and_context(write);
        let (read_class, read_context) = self.class_and_context(read);
        let joins = matches!(work, Work::Copy { .. }) && Streams::is_legacy(stream, caller);
        let other =
            |context: Option<u64>| context.filter(|context| joins && *context != caller.context);
        let written = other(write_context);
        Operands {
            write: write_class,
            read: read_class,
            size_bytes: write.total_bytes(),
            other_contexts: [
                written,
                other(read_context).filter(|context| Some(*context) != written),
            ],
        }
    }

    /// What memory an address is in. Memory of a device and managed memory also say of which
    /// context.
    fn class_and_context(&self, span: Span) -> (MemoryClass, Option<u64>) {
        match self.allocations.at(span.start) {
            Some((_, Allocation { class, context, .. })) if class.has_context() => {
                (*class, Some(*context))
            }
            Some((_, allocation)) => (allocation.class, None),
            None if span.space == AddressSpace::Device => (MemoryClass::Device, None),
            None if span.space == AddressSpace::Unified && self.maps_memory => {
                (MemoryClass::Device, None)
            }
            None => (MemoryClass::Pageable, None),
        }
    }
}

impl Operands {
    /// Of a call that neither copies nor fills.
    const NONE: Self = Self {
        write: MemoryClass::Device,
        read: MemoryClass::Device,
        size_bytes: 0,
        other_contexts: [None; 2],
    };
}
