//! Streams: which one a handle means, what work on it comes after, and what is over when the host
//! has waited for it. CUDA Driver API, "Stream synchronization behavior".

use std::collections::HashMap;

use allocert_contract::StreamHandle;

use crate::judge::cuda::order::vector_clock::{Epoch, Snapshot, VectorClock};
use crate::judge::handle_map::HandleMap;

/// More streams than this at a time are not told apart.
pub(crate) const STREAM_LIMIT: usize = 1024;

/// The slot of what the host does itself. All later work comes after it: the host submits it.
pub(crate) const HOST_SLOT: u32 = u32::MAX;

const NON_BLOCKING: u64 = 1;

/// Who makes a call, which decides what a default stream means.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller {
    pub(crate) context: u64,
    pub(crate) thread: u32,
    /// The default stream of the call is that of its thread.
    pub(crate) per_thread: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamKind {
    Legacy,
    Blocking,
    NonBlocking,
}

#[derive(Debug)]
struct StreamState {
    kind: StreamKind,
    context: u64,
    time: u32,
    /// A snapshot has `time`, so the next access is later.
    seen: bool,
    known: VectorClock,
    /// `known` is what the host knew at some time, and nothing else: the host covers it.
    known_of_host: bool,
    /// Counts changes of `time` and `known`.
    version: u32,
    /// The version that the host has taken in.
    seen_by_host: u32,
    /// The version that the legacy stream has taken in.
    seen_by_legacy: u32,
    /// The version of the host that this stream has taken in.
    seen_of_host: u32,
    /// The version of the legacy stream that this stream has taken in.
    seen_of_legacy: u32,
}

/// All streams of a process, and the host, which all its threads are together.
#[derive(Debug)]
pub(crate) struct Streams {
    slots: Vec<StreamState>,
    by_handle: HandleMap<u32>,
    legacy: HandleMap<u32>,
    per_thread: HashMap<(u64, u32), u32>,
    /// The slots of blocking streams.
    blocking: Vec<u32>,
    /// Slots of destroyed streams.
    retired: Vec<u32>,
    host: VectorClock,
    host_version: u32,
    /// There were more than [`STREAM_LIMIT`] at a time. Nothing can be said of order any more.
    pub(crate) too_many: bool,
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            by_handle: HandleMap::default(),
            legacy: HandleMap::default(),
            per_thread: HashMap::new(),
            blocking: Vec::new(),
            retired: Vec::new(),
            host: VectorClock::default(),
            host_version: 1,
            too_many: false,
        }
    }
}

impl Streams {
    /// The slot of a stream. One that nobody created is taken for a blocking one, which has the
    /// more order.
    pub(crate) fn slot_of(&mut self, handle: u64, caller: Caller) -> u32 {
        match StreamHandle(handle) {
            StreamHandle::PER_THREAD => self.per_thread_slot(caller),
            StreamHandle::DEFAULT if caller.per_thread => self.per_thread_slot(caller),
            StreamHandle::DEFAULT | StreamHandle::LEGACY => self.legacy_slot(caller.context),
            StreamHandle(created) => match self.by_handle.get(&created) {
                Some(slot) => *slot,
                None => self.create(created, 0, caller.context),
            },
        }
    }

    /// Whether the trace shows where a handle comes from.
    pub(crate) fn is_known(&self, handle: u64) -> bool {
        StreamHandle(handle) <= StreamHandle::PER_THREAD || self.by_handle.contains_key(&handle)
    }

    pub(crate) fn create(&mut self, handle: u64, flags: u64, context: u64) -> u32 {
        let kind =
            if flags & NON_BLOCKING == 0 { StreamKind::Blocking } else { StreamKind::NonBlocking };
        let slot = self.new_slot(kind, context);
        self.by_handle.insert(handle, slot);
        slot
    }

    /// Work that is queued still runs; the slot stays until it is known to be over.
    pub(crate) fn destroy(&mut self, handle: u64) {
        self.retired.extend(self.by_handle.remove(&handle));
    }

    /// Whether a handle means the legacy stream.
    pub(crate) fn is_legacy(handle: u64, caller: Caller) -> bool {
        match StreamHandle(handle) {
            StreamHandle::DEFAULT => !caller.per_thread,
            handle => handle == StreamHandle::LEGACY,
        }
    }

    /// The next operation on a slot: it comes after what the host has waited for and after what the
    /// default streams demand.
    pub(crate) fn submit(&mut self, slot: u32) {
        self.submit_alone(slot);
        let StreamState { kind, context, .. } = self.slots[slot as usize];
        if kind == StreamKind::Legacy {
            self.after_blocking(slot, context);
        }
    }

    /// As [`Streams::submit`], but an operation that the device has nothing to do for: in the
    /// legacy stream it does not come after the blocking streams.
    pub(crate) fn submit_alone(&mut self, slot: u32) {
        let StreamState { kind, context, seen_of_host, .. } = self.slots[slot as usize];
        if seen_of_host != self.host_version {
            self.after_host(slot);
        }
        if kind == StreamKind::Blocking {
            self.after_legacy(slot, context);
        }
    }

    /// A stream of nobody, for work that no one knows the stream of.
    pub(crate) fn create_unnamed(&mut self, context: u64) -> u32 {
        self.new_slot(StreamKind::NonBlocking, context)
    }

    /// Whether the host has waited for all that a slot's last operation comes after.
    pub(crate) fn host_knows_all_before(&self, slot: u32) -> bool {
        self.host.covers_all(&self.slots[slot as usize].known)
    }

    /// The epoch of an access by the slot's last operation.
    pub(crate) fn tick(&mut self, slot: u32) -> Epoch {
        if slot == HOST_SLOT {
            return Epoch { slot, time: 0 };
        }
        let at = &mut self.slots[slot as usize];
        if at.seen {
            at.seen = false;
            at.time += 1;
            at.version += 1;
        }
        Epoch { slot, time: at.time }
    }

    /// Whether the slot's last operation comes after an epoch.
    #[inline]
    pub(crate) fn comes_after(&self, slot: u32, epoch: Epoch) -> bool {
        let known = if slot == HOST_SLOT { &self.host } else { &self.slots[slot as usize].known };
        slot == epoch.slot || epoch.slot == HOST_SLOT || known.covers(epoch)
    }

    pub(crate) fn snapshot(&mut self, slot: u32) -> Snapshot {
        let at = &mut self.slots[slot as usize];
        at.seen = true;
        Snapshot { epoch: Epoch { slot, time: at.time }, known: at.known.clone() }
    }

    /// The slot's next operation comes after what was seen of another.
    pub(crate) fn wait(&mut self, slot: u32, seen: &Snapshot) {
        self.learn(slot, |clock| clock.absorb_snapshot(seen));
    }

    pub(crate) fn host_waits(&mut self, seen: &Snapshot) {
        if self.host.absorb_snapshot(seen) {
            self.host_version += 1;
        }
    }

    pub(crate) fn host_waits_for_slot(&mut self, slot: u32) {
        let at = &mut self.slots[slot as usize];
        if at.version == at.seen_by_host {
            return;
        }
        at.seen = true;
        at.seen_by_host = at.version;
        // Both, always.
        let is_new = (!at.known_of_host && self.host.absorb(&at.known))
            | self.host.raise(Epoch { slot, time: at.time });
        if is_new {
            self.host_version += 1;
        }
    }

    /// `cuStreamSynchronize`: of the legacy stream, which the blocking streams are waited for with.
    pub(crate) fn host_waits_for_stream(&mut self, slot: u32) {
        for slot in self.synchronized_with(slot) {
            self.host_waits_for_slot(slot);
        }
    }

    /// The host has waited for all contexts that `wanted` names.
    pub(crate) fn host_waits_for_contexts(&mut self, wanted: impl Fn(u64) -> bool) {
        for slot in 0..self.slots.len() as u32 {
            if wanted(self.slots[slot as usize].context) {
                self.host_waits_for_slot(slot);
            }
        }
    }

    /// What the host would know if it waited for a stream now.
    pub(crate) fn host_after(&mut self, stream: Option<u32>) -> VectorClock {
        let mut clock = self.host.clone();
        for slot in stream.map(|slot| self.synchronized_with(slot)).unwrap_or_default() {
            let seen = self.snapshot(slot);
            clock.absorb_snapshot(&seen);
        }
        clock
    }

    /// Takes all that was queued so far into a clock.
    pub(crate) fn absorb_all_into(&mut self, into: &mut VectorClock) {
        for slot in 0..self.slots.len() as u32 {
            let seen = self.snapshot(slot);
            into.absorb_snapshot(&seen);
        }
    }

    fn synchronized_with(&self, slot: u32) -> Vec<u32> {
        let StreamState { kind, context, .. } = self.slots[slot as usize];
        match kind {
            StreamKind::Legacy => self.blocking_slots(context).chain([slot]).collect(),
            StreamKind::Blocking | StreamKind::NonBlocking => vec![slot],
        }
    }

    /// The blocking streams of a context.
    fn blocking_slots(&self, context: u64) -> impl Iterator<Item = u32> {
        let of = move |slot: &u32| self.slots[*slot as usize].context == context;
        self.blocking.iter().copied().filter(of)
    }

    fn after_host(&mut self, slot: u32) {
        let at = &mut self.slots[slot as usize];
        if at.known_of_host {
            // The host knew less then, or its version were the same.
            at.known = self.host.clone();
            at.version += 1;
        } else if at.known.absorb(&self.host) {
            at.version += 1;
        }
        at.seen_of_host = self.host_version;
    }

    fn after_legacy(&mut self, slot: u32, context: u64) {
        let Some(legacy) = self.legacy.get(&context).copied() else { return };
        let version = self.slots[legacy as usize].version;
        if self.slots[slot as usize].seen_of_legacy != version {
            let seen = self.snapshot(legacy);
            self.wait(slot, &seen);
            self.slots[slot as usize].seen_of_legacy = version;
        }
    }

    fn after_blocking(&mut self, legacy: u32, context: u64) {
        for at in 0..self.blocking.len() {
            let slot = self.blocking[at];
            let StreamState { context: of, version, seen_by_legacy, .. } =
                self.slots[slot as usize];
            if of == context && version != seen_by_legacy {
                let seen = self.snapshot(slot);
                self.wait(legacy, &seen);
                self.slots[slot as usize].seen_by_legacy = version;
            }
        }
    }

    fn learn(&mut self, slot: u32, from: impl FnOnce(&mut VectorClock) -> bool) {
        let at = &mut self.slots[slot as usize];
        if from(&mut at.known) {
            at.version += 1;
            at.known_of_host = false;
        }
    }

    fn legacy_slot(&mut self, context: u64) -> u32 {
        if let Some(slot) = self.legacy.get(&context) {
            return *slot;
        }
        let slot = self.new_slot(StreamKind::Legacy, context);
        self.legacy.insert(context, slot);
        slot
    }

    fn per_thread_slot(&mut self, caller: Caller) -> u32 {
        let key = (caller.context, caller.thread);
        if let Some(slot) = self.per_thread.get(&key) {
            return *slot;
        }
        let slot = self.new_slot(StreamKind::Blocking, caller.context);
        self.per_thread.insert(key, slot);
        slot
    }

    /// A place for a new stream: that of a destroyed one whose work the host knows to be over, else
    /// a further one.
    fn new_slot(&mut self, kind: StreamKind, context: u64) -> u32 {
        let over = |slot: &u32| {
            let time = self.slots[*slot as usize].time;
            self.host.covers(Epoch { slot: *slot, time })
        };
        let index = match self.retired.iter().position(over) {
            Some(found) => self.retired.swap_remove(found) as usize,
            None if self.slots.len() < STREAM_LIMIT => self.slots.len(),
            None => {
                self.too_many = true;
                return STREAM_LIMIT as u32 - 1;
            }
        };
        if self.slots.get(index).is_some_and(|old| old.kind == StreamKind::Blocking) {
            self.blocking.retain(|slot| *slot != index as u32);
        }
        if kind == StreamKind::Blocking {
            self.blocking.push(index as u32);
        }
        let time = self.slots.get(index).map_or(1, |slot| slot.time + 1);
        let known = self.host.clone();
        let slot = StreamState {
            kind,
            context,
            time,
            seen: false,
            known,
            known_of_host: true,
            version: 1,
            seen_by_host: 0,
            seen_by_legacy: 0,
            seen_of_host: self.host_version,
            seen_of_legacy: 0,
        };
        match self.slots.get_mut(index) {
            Some(old) => *old = slot,
            None => self.slots.push(slot),
        }
        index as u32
    }
}
