//! Streams: which one a handle means, what work on it comes after, and what is over when the host
//! has waited for it. CUDA Driver API, "Stream synchronization behavior".

use std::collections::HashMap;

use allocert_contract::StreamHandle;

use crate::judge::cuda::order::vector_clock::{Epoch, Snapshot, VectorClock};

/// More streams than this at a time are not told apart.
pub(crate) const LANE_LIMIT: usize = 1024;

/// The lane of what the host does itself. All later work comes after it, for the host submits it.
pub(crate) const HOST: u32 = u32::MAX;

const NON_BLOCKING: u64 = 1;

/// Who asks for a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller {
    pub(crate) context: u64,
    pub(crate) thread: u32,
    /// The call's own default stream is the thread's.
    pub(crate) per_thread: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Legacy,
    Blocking,
    NonBlocking,
}

#[derive(Debug)]
struct Lane {
    kind: Kind,
    context: u64,
    time: u32,
    /// Someone has seen `time`: the next access is later.
    seen: bool,
    known: VectorClock,
    /// Moves with `time` and `known`.
    version: u32,
    /// Versions: of this lane when the host and the legacy stream last took it in, of those when it
    /// last took them in.
    by_host: u32,
    by_legacy: u32,
    host: u32,
    legacy: u32,
}

/// All streams of a process, and the host, which all its threads are together.
#[derive(Debug)]
pub(crate) struct Streams {
    lanes: Vec<Lane>,
    created: HashMap<u64, u32>,
    legacy: HashMap<u64, u32>,
    own: HashMap<(u64, u32), u32>,
    /// Lanes of destroyed streams.
    retired: Vec<u32>,
    host: VectorClock,
    host_version: u32,
    /// There were more than [`LANE_LIMIT`] at a time; what was said of order since then is worth
    /// nothing.
    pub(crate) crowded: bool,
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            lanes: Vec::new(),
            created: HashMap::new(),
            legacy: HashMap::new(),
            own: HashMap::new(),
            retired: Vec::new(),
            host: VectorClock::default(),
            host_version: 1,
            crowded: false,
        }
    }
}

impl Streams {
    /// The lane of a stream. One that nobody created is taken for a blocking one, which has the
    /// more order.
    pub(crate) fn lane(&mut self, handle: u64, caller: Caller) -> u32 {
        match StreamHandle(handle) {
            StreamHandle::PER_THREAD => self.own(caller),
            StreamHandle::DEFAULT if caller.per_thread => self.own(caller),
            StreamHandle::DEFAULT | StreamHandle::LEGACY => self.legacy(caller.context),
            StreamHandle(created) => match self.created.get(&created) {
                Some(lane) => *lane,
                None => self.create(created, 0, caller.context),
            },
        }
    }

    /// Whether the trace shows where a handle comes from.
    pub(crate) fn knows(&self, handle: u64) -> bool {
        StreamHandle(handle) <= StreamHandle::PER_THREAD || self.created.contains_key(&handle)
    }

    pub(crate) fn create(&mut self, handle: u64, flags: u64, context: u64) -> u32 {
        let kind = if flags & NON_BLOCKING == 0 { Kind::Blocking } else { Kind::NonBlocking };
        let lane = self.open(kind, context);
        self.created.insert(handle, lane);
        lane
    }

    /// Work that is queued still runs; the lane stays until it is known to be over.
    pub(crate) fn destroy(&mut self, handle: u64) {
        self.retired.extend(self.created.remove(&handle));
    }

    /// The next operation on a lane: it comes after what the host has waited for and after what the
    /// default streams demand.
    pub(crate) fn submit(&mut self, lane: u32) {
        let Lane { kind, context, host, .. } = self.lanes[lane as usize];
        if host != self.host_version {
            let known = self.host.clone();
            self.learn(lane, |clock| clock.absorb(&known));
            self.lanes[lane as usize].host = self.host_version;
        }
        match kind {
            Kind::NonBlocking => {}
            Kind::Blocking => self.after_legacy(lane, context),
            Kind::Legacy => self.after_blocking(lane, context),
        }
    }

    /// The epoch of an access by the lane's last operation.
    pub(crate) fn tick(&mut self, lane: u32) -> Epoch {
        if lane == HOST {
            return Epoch { lane, time: 0 };
        }
        let at = &mut self.lanes[lane as usize];
        if at.seen {
            at.seen = false;
            at.time += 1;
            at.version += 1;
        }
        Epoch { lane, time: at.time }
    }

    /// Whether the lane's last operation comes after an epoch.
    #[inline]
    pub(crate) fn after(&self, lane: u32, epoch: Epoch) -> bool {
        let known = if lane == HOST { &self.host } else { &self.lanes[lane as usize].known };
        lane == epoch.lane || epoch.lane == HOST || known.covers(epoch)
    }

    pub(crate) fn snapshot(&mut self, lane: u32) -> Snapshot {
        let at = &mut self.lanes[lane as usize];
        at.seen = true;
        Snapshot { epoch: Epoch { lane, time: at.time }, known: at.known.clone() }
    }

    /// The lane's next operation comes after what was seen of another.
    pub(crate) fn wait(&mut self, lane: u32, seen: &Snapshot) {
        self.learn(lane, |clock| clock.absorb_lane(seen));
    }

    pub(crate) fn host_waits(&mut self, seen: &Snapshot) {
        if self.host.absorb_lane(seen) {
            self.host_version += 1;
        }
    }

    pub(crate) fn host_waits_for_lane(&mut self, lane: u32) {
        let Lane { version, by_host, .. } = self.lanes[lane as usize];
        if version != by_host {
            let seen = self.snapshot(lane);
            self.host_waits(&seen);
            self.lanes[lane as usize].by_host = version;
        }
    }

    /// `cuStreamSynchronize`: of the legacy stream, which the blocking streams are waited for with.
    pub(crate) fn host_waits_for_stream(&mut self, lane: u32) {
        for lane in self.waited_for_with(lane) {
            self.host_waits_for_lane(lane);
        }
    }

    /// The host has waited for all contexts that `wanted` names.
    pub(crate) fn host_waits_for_contexts(&mut self, wanted: impl Fn(u64) -> bool) {
        for lane in 0..self.lanes.len() as u32 {
            if wanted(self.lanes[lane as usize].context) {
                self.host_waits_for_lane(lane);
            }
        }
    }

    /// What the host would know if it waited for a stream now.
    pub(crate) fn host_after(&mut self, stream: Option<u32>) -> VectorClock {
        let mut clock = self.host.clone();
        for lane in stream.map(|lane| self.waited_for_with(lane)).unwrap_or_default() {
            let seen = self.snapshot(lane);
            clock.absorb_lane(&seen);
        }
        clock
    }

    /// Takes all that was queued so far into a clock.
    pub(crate) fn gather(&mut self, into: &mut VectorClock) {
        for lane in 0..self.lanes.len() as u32 {
            let seen = self.snapshot(lane);
            into.absorb_lane(&seen);
        }
    }

    fn waited_for_with(&self, lane: u32) -> Vec<u32> {
        let Lane { kind, context, .. } = self.lanes[lane as usize];
        match kind {
            Kind::Legacy => self.of_default(context).chain([lane]).collect(),
            Kind::Blocking | Kind::NonBlocking => vec![lane],
        }
    }

    /// The blocking streams of a context.
    fn of_default(&self, context: u64) -> impl Iterator<Item = u32> {
        let lanes = self.lanes.iter().enumerate();
        lanes
            .filter(move |(_, lane)| lane.context == context && lane.kind == Kind::Blocking)
            .map(|(at, _)| at as u32)
    }

    fn after_legacy(&mut self, lane: u32, context: u64) {
        let Some(legacy) = self.legacy.get(&context).copied() else { return };
        let version = self.lanes[legacy as usize].version;
        if self.lanes[lane as usize].legacy != version {
            let seen = self.snapshot(legacy);
            self.wait(lane, &seen);
            self.lanes[lane as usize].legacy = version;
        }
    }

    fn after_blocking(&mut self, legacy: u32, context: u64) {
        for lane in 0..self.lanes.len() {
            let Lane { kind, context: of, version, by_legacy, .. } = self.lanes[lane];
            if kind == Kind::Blocking && of == context && version != by_legacy {
                let seen = self.snapshot(lane as u32);
                self.wait(legacy, &seen);
                self.lanes[lane].by_legacy = version;
            }
        }
    }

    fn learn(&mut self, lane: u32, from: impl FnOnce(&mut VectorClock) -> bool) {
        let at = &mut self.lanes[lane as usize];
        if from(&mut at.known) {
            at.version += 1;
        }
    }

    fn legacy(&mut self, context: u64) -> u32 {
        if let Some(lane) = self.legacy.get(&context) {
            return *lane;
        }
        let lane = self.open(Kind::Legacy, context);
        self.legacy.insert(context, lane);
        lane
    }

    fn own(&mut self, caller: Caller) -> u32 {
        let key = (caller.context, caller.thread);
        if let Some(lane) = self.own.get(&key) {
            return *lane;
        }
        let lane = self.open(Kind::Blocking, caller.context);
        self.own.insert(key, lane);
        lane
    }

    /// A place for a new stream: that of a destroyed one whose work the host knows to be over, else
    /// a further one.
    fn open(&mut self, kind: Kind, context: u64) -> u32 {
        let over = |lane: &u32| {
            let time = self.lanes[*lane as usize].time;
            self.host.covers(Epoch { lane: *lane, time })
        };
        let index = match self.retired.iter().position(over) {
            Some(found) => self.retired.swap_remove(found) as usize,
            None if self.lanes.len() < LANE_LIMIT => self.lanes.len(),
            None => {
                self.crowded = true;
                return LANE_LIMIT as u32 - 1;
            }
        };
        let time = self.lanes.get(index).map_or(1, |lane| lane.time + 1);
        let known = self.host.clone();
        let lane = Lane {
            kind,
            context,
            time,
            seen: false,
            known,
            version: 1,
            by_host: 0,
            by_legacy: 0,
            host: self.host_version,
            legacy: 0,
        };
        match self.lanes.get_mut(index) {
            Some(old) => *old = lane,
            None => self.lanes.push(lane),
        }
        index as u32
    }
}
