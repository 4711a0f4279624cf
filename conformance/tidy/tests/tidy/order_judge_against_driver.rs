//! Compares the order checks of the judge with the software driver; they share no code. Both get
//! random work on streams. Accesses that the judge finds ordered give the same bytes however late
//! the driver runs them. Accesses that it calls a race give other bytes in a run that delays the
//! earlier access.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use allocert_contract::StreamHandle;
use allocert_contract::trace::{Call, Event, Marker, What, cuda::Function};
use allocert_driver::{
    AddressWindow, Caller, CopyRequest, Direction, Driver, Extent, Fill, HostSpace, Plane,
    Settings, Thread,
};
use allocert_suite::observation::{Ending, Observation, Outcome, StepOutcome};
use allocert_suite::plan::PlannedCase;
use allocert_suite::verdict::{Finding, Judgement};
use allocert_suite::{Catalogue, fixture, judge};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

const CATALOGUE: &str = "- {id: EMM-RACE-01, level: MUST, role: plugin, statement: A statement., \
    source: {text: a, section: b}, versions: [one], observed_by: [trace], check: race}\n";
const CASE: &str = "# One step.\ncase: emm/random/order\nabout: random work\nteardown: none\n\
    setup: false\nsteps:\n  - do: {collect: {}}\n    \
    expect: {EMM-RACE-01: {returns: {}}}\n";
const SCHEDULES: u64 = 400;
const OPERATIONS: usize = 24;
/// Bytes that operations share, in cells of 8; behind them one cell for each copy to put what it
/// read.
const CELLS: u64 = 6;
const CELL_BYTES: u64 = 8;
const SHARED_BYTES: u64 = CELLS * CELL_BYTES;
const MEMORY_BYTES: u64 = SHARED_BYTES * (OPERATIONS as u64 + 1);
const STREAMS: usize = 5;
const EVENTS: usize = 3;
const HOST: u64 = 0x1000_0000;

/// One call; streams and events by index.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// Cells `from..to` become `byte`.
    Fill {
        from: u64,
        to: u64,
        byte: u8,
        stream: usize,
    },
    /// Cells `from..to` are read to a place of the operation's own.
    Copy {
        from: u64,
        to: u64,
        stream: usize,
    },
    Record {
        event: usize,
        stream: usize,
    },
    Wait {
        stream: usize,
        event: usize,
    },
    AwaitStream {
        stream: usize,
    },
    AwaitEvent {
        event: usize,
    },
    AwaitContext,
}

#[test]
fn the_judge_of_order_and_the_late_driver_agree() {
    let catalogue = Catalogue::from_files([("emm/race.yaml", CATALOGUE)]).expect("written here");
    let case = fixture::plan_file("cases/emm/random/order.yaml", CASE, &catalogue)
        .expect("written here")
        .remove(0);
    let (mut ordered, mut raced) = (0, 0);
    for seed in 1..=SCHEDULES {
        let works = schedule(seed);
        match first_race(&catalogue, &case, &works) {
            None => {
                ordered += 1;
                for last in 0..STREAMS {
                    let found = late(&works, last);
                    assert_eq!(
                        found,
                        at_once(&works),
                        "seed {seed}: in order, and the bytes differ: {works:#?}"
                    );
                }
            }
            Some((later, finding)) => {
                raced += 1;
                let until = &works[..=later];
                let stream = until[later].stream().expect("an access is in a stream");
                let (found, expected) = (late(until, stream), at_once(until));
                assert_ne!(
                    found, expected,
                    "seed {seed}: no run shows this race: {finding:#?} in {until:#?}"
                );
            }
        }
    }
    assert!(
        ordered > SCHEDULES / 10 && raced > SCHEDULES / 10,
        "{ordered} in order and {raced} races show little"
    );
}

fn schedule(seed: u64) -> Vec<Work> {
    let mut random = SplitMix64::seed_from_u64(seed);
    let mut draw = |below: u64| random.next_u64() % below;
    let accesses = if seed.is_multiple_of(2) { OPERATIONS } else { 3 };
    let mut left = accesses;
    (0..OPERATIONS)
        .map(|index| {
            let (stream, event) = (draw(STREAMS as u64) as usize, draw(EVENTS as u64) as usize);
            let from = draw(CELLS);
            let to = from + 1 + draw(CELLS - from);
            let access = left > 0 && draw(3) > 0;
            left -= usize::from(access);
            match (access, draw(12)) {
                (true, 0..=6) => Work::Fill { from, to, byte: index as u8 + 1, stream },
                (true, _) => Work::Copy { from, to, stream },
                (false, 0..=3) => Work::Record { event, stream },
                (false, 4..=8) => Work::Wait { stream, event },
                (false, 9) => Work::AwaitStream { stream },
                (false, 10) => Work::AwaitEvent { event },
                (false, _) => Work::AwaitContext,
            }
        })
        .collect()
}

impl Work {
    fn stream(self) -> Option<usize> {
        match self {
            Self::Fill { stream, .. } | Self::Copy { stream, .. } => Some(stream),
            _ => None,
        }
    }
}

/// The bytes if every operation ran when it was called.
fn at_once(works: &[Work]) -> Vec<u8> {
    let mut bytes = vec![0; MEMORY_BYTES as usize];
    for (index, work) in works.iter().enumerate() {
        match *work {
            Work::Fill { from, to, byte, .. } => bytes[cells(from, to)].fill(byte),
            Work::Copy { from, to, .. } => bytes.copy_within(cells(from, to), own(index) as usize),
            _ => {}
        }
    }
    bytes
}

fn fill(address: u64, byte: u8, count: u64) -> Fill {
    Fill { to: Plane::row(address), value: byte.into(), element_bytes: 1, count, rows: 1 }
}

fn copy(to: u64, from: u64, bytes: u64) -> CopyRequest {
    let (to, from) = (Plane::row(to), Plane::row(from));
    CopyRequest { to, from, extent: Extent::row(bytes), direction: Direction::Any }
}

fn cells(from: u64, to: u64) -> std::ops::Range<usize> {
    (from * CELL_BYTES) as usize..(to * CELL_BYTES) as usize
}

/// Where a copy puts what it read.
fn own(operation: usize) -> u64 {
    SHARED_BYTES * (operation as u64 + 1)
}

/// The bytes if one stream is waited for first, and then everything.
fn late(works: &[Work], first: usize) -> Vec<u8> {
    let mut machine = Machine::new();
    for (index, work) in works.iter().enumerate() {
        machine.perform(index, *work);
    }
    machine.perform(0, Work::AwaitStream { stream: first });
    machine.perform(0, Work::AwaitContext);
    machine.bytes()
}

struct Machine {
    driver: Driver,
    thread: Thread,
    memory: u64,
    streams: [StreamHandle; STREAMS],
    events: Vec<u64>,
    host: Arc<Mutex<BTreeMap<u64, u8>>>,
}

impl Machine {
    /// With the memory zeroed, and streams of every kind.
    fn new() -> Self {
        let host = Arc::new(Mutex::new(BTreeMap::new()));
        let window = AddressWindow { base: 0x7d00_0000_0000, bytes_per_device: 1 << 36 };
        let driver = Driver::new(Settings::default(), window, Box::new(Host(host.clone())), 1);
        let (memory, streams) = (0, [StreamHandle::DEFAULT; STREAMS]);
        let mut machine =
            Self { driver, thread: Thread::new(1), memory, streams, events: Vec::new(), host };
        machine.driver.init(0).expect("a device");
        machine.driver.adopt(&mut machine.thread);
        let (result, context) = machine.driver.primary_retain(0);
        result.expect("retained");
        machine.call(|driver, caller| driver.context_set(caller, context)).expect("set");
        machine.memory =
            machine.call(|driver, caller| driver.alloc(caller, MEMORY_BYTES)).expect("allocated").0;
        let created = [0, 1, 1]
            .map(|flags| machine.call(|driver, caller| driver.stream_create(caller, flags, 0)));
        let [blocking, one, other] = created.map(|stream| stream.expect("created"));
        machine.streams = [StreamHandle::LEGACY, StreamHandle::PER_THREAD, blocking, one, other];
        for _ in 0..EVENTS {
            let event =
                machine.call(|driver, caller| driver.event_create(caller, 0)).expect("created");
            machine.events.push(event);
        }
        let zero = fill(machine.memory, 0, MEMORY_BYTES);
        machine
            .call(|driver, caller| driver.memset_async(caller, zero, StreamHandle::LEGACY))
            .expect("queued");
        machine.perform(0, Work::AwaitContext);
        machine
    }

    fn call<R>(&mut self, body: impl FnOnce(&mut Driver, &mut Caller) -> R) -> R {
        body(&mut self.driver, &mut Caller { thread: &mut self.thread, per_thread: false })
    }

    fn perform(&mut self, index: usize, work: Work) {
        let (memory, streams, events) = (self.memory, self.streams, self.events.clone());
        let done = self.call(|driver, caller| match work {
            Work::Fill { from, to, byte, stream } => {
                let (address, count) = (memory + from * CELL_BYTES, (to - from) * CELL_BYTES);
                driver.memset_async(caller, fill(address, byte, count), streams[stream])
            }
            Work::Copy { from, to, stream } => {
                let (target, bytes) = (memory + own(index), (to - from) * CELL_BYTES);
                let copy = copy(target, memory + from * CELL_BYTES, bytes);
                driver.copy_async(caller, &copy, streams[stream])
            }
            Work::Record { event, stream } => {
                driver.event_record(caller, events[event], streams[stream])
            }
            Work::Wait { stream, event } => {
                driver.stream_wait_event(caller, streams[stream], events[event], 0)
            }
            Work::AwaitStream { stream } => driver.stream_synchronize(caller, streams[stream]),
            Work::AwaitEvent { event } => driver.event_synchronize(events[event]),
            Work::AwaitContext => driver.context_synchronize(caller, 0),
        });
        done.expect("a call in order");
    }

    fn bytes(&mut self) -> Vec<u8> {
        let copy = copy(HOST, self.memory, MEMORY_BYTES);
        self.call(|driver, caller| driver.copy(caller, &copy)).expect("copied");
        let host = self.host.lock().expect("no test panics while holding it");
        (HOST..HOST + MEMORY_BYTES).map(|at| host.get(&at).copied().unwrap_or(0)).collect()
    }
}

struct Host(Arc<Mutex<BTreeMap<u64, u8>>>);

impl HostSpace for Host {
    fn allocate(&mut self, _: u64) -> Option<u64> {
        None
    }

    fn release(&mut self, _: u64, _: u64) {}

    fn read(&self, _: u64, into: &mut [u8]) {
        into.fill(0);
    }

    fn write(&mut self, address: u64, from: &[u8]) {
        self.0
            .lock()
            .expect("no test panics while holding it")
            .extend((address..).zip(from.iter().copied()));
    }

    fn is_mapped(&self, _: u64, _: u64) -> bool {
        true
    }

    fn is_writable(&self, _: u64, _: u64) -> bool {
        true
    }

    fn call(&mut self, _: u64, _: Option<u64>, _: u64) {}
}

/// The operation at which the judge finds the first race.
fn first_race(
    catalogue: &Catalogue,
    case: &PlannedCase,
    works: &[Work],
) -> Option<(usize, Finding)> {
    let (seen, first) = observation(case, works);
    let Judgement { findings, verdict, .. } = judge::judge(catalogue, case, &seen);
    assert_eq!(findings.is_empty(), verdict.name() == "conforms", "{verdict:?}");
    let later = |finding: &Finding| finding.events.last().map(|event| (event.seq - first) as usize);
    findings
        .into_iter()
        .filter_map(|finding| Some((later(&finding)?, finding)))
        .min_by_key(|(later, _)| *later)
}

/// The work as a trace has it, and the number of its first event.
fn observation(case: &PlannedCase, works: &[Work]) -> (Observation, u64) {
    let mut seen = Observation::silent(&case.id, Ending::Done);
    seen.done = true;
    let memory = 0x7d00_0000_0000_u64;
    let exchanged = [("pointer", memory), ("size_bytes", MEMORY_BYTES)];
    let facts = exchanged.map(|(name, value)| (name.into(), value.into())).into_iter().collect();
    seen.steps.push(StepOutcome {
        index: 0,
        outcome: Outcome::Returned(facts),
        plugin_calls: Vec::new(),
        table_calls: None,
    });
    let stream = |index: usize| [1, 2, 0x57_0001, 0x57_0002, 0x57_0003][index];
    let event = |index: usize| 0xe0_0001 + index as u64;
    let created = [(2, 0), (3, 1), (4, 1)];
    let mut events = vec![What::Marker(Marker::StepBegin { step: 0 })];
    events.push(call(Function::cuMemAlloc_v2, &[MEMORY_BYTES], memory));
    events.extend(
        created.map(|(index, flags)| call(Function::cuStreamCreate, &[flags], stream(index))),
    );
    events.extend((0..EVENTS).map(|index| call(Function::cuEventCreate, &[0], event(index))));
    let first = events.len() as u64;
    events.extend(works.iter().enumerate().map(|(index, work)| match *work {
        Work::Fill { from, to, byte, stream: on } => {
            let inputs =
                [memory + from * CELL_BYTES, byte.into(), (to - from) * CELL_BYTES, stream(on)];
            call(Function::cuMemsetD8Async, &inputs, 0)
        }
        Work::Copy { from, to, stream: on } => {
            let inputs = [
                memory + own(index),
                memory + from * CELL_BYTES,
                (to - from) * CELL_BYTES,
                stream(on),
            ];
            call(Function::cuMemcpyDtoDAsync_v2, &inputs, 0)
        }
        Work::Record { event: of, stream: on } => {
            call(Function::cuEventRecord, &[event(of), stream(on)], 0)
        }
        Work::Wait { stream: on, event: of } => {
            call(Function::cuStreamWaitEvent, &[stream(on), event(of), 0], 0)
        }
        Work::AwaitStream { stream: on } => call(Function::cuStreamSynchronize, &[stream(on)], 0),
        Work::AwaitEvent { event: of } => call(Function::cuEventSynchronize, &[event(of)], 0),
        Work::AwaitContext => call(Function::cuCtxSynchronize, &[], 0),
    }));
    events.push(What::Marker(Marker::StepEnd { step: 0 }));
    let written = (0..).zip(events).map(|(seq, what)| Event {
        seq,
        thread: 1,
        process: 7,
        context: 0xc0,
        what,
    });
    seen.events = written.collect();
    (seen, first)
}

fn call(function: Function, inputs: &[u64], out: u64) -> What {
    let mut args = [0; 8];
    args[..inputs.len()].copy_from_slice(inputs);
    What::Call(Call {
        function: function.into(),
        args,
        out: [out, 0, 0],
        result: Some(0),
        per_thread: false,
        injected: false,
    })
}
