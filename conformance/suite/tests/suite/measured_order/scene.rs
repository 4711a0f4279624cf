//! The trace of a row: a busy stream, one call, and then work in streams of every kind.

use allocert_contract::trace::cuda::{Function, Launch, RowCopy, Rows};
use allocert_contract::trace::{Event, What};

use super::row::{Row, StreamKind};
use crate::observation_builder::{CONTEXT, THREAD, memory};
use crate::trace_builder::{
    Do, LEGACY, OTHER_CONTEXT, OTHER_THREAD, PER_THREAD, did, gave, passed_on,
};

/// What the busy stream writes; each later stream writes one of them.
const FLAGS: u64 = 0x7d00_0000_0000;
const FLAG_BYTES: u64 = 64;
/// The memory of all flags, as facts name it.
pub(crate) fn exchanged() -> serde_json::Value {
    memory(FLAGS, FLAG_BYTES * 16)
}

/// Source and target of copies, and what is filled or freed.
const SOURCE: u64 = 0x7d10_0000_0000;
const TARGET: u64 = 0x7d20_0000_0000;
/// Memory of another allocation.
const ELSEWHERE: u64 = 0x7d30_0000_0000;
const PREPARING: u64 = 0x5700_0000_0001;
const BUSY: u64 = 0x5700_0000_0002;
const GIVEN: u64 = 0x5700_0000_0003;
const LATER: u64 = 0x5700_0000_0010;
const EVENT: u64 = 0xee00_0000_0001;
const OTHER_EVENT: u64 = 0xee00_0000_0002;
/// The value that probes write.
const PROBE: u64 = 99;

/// Calls and, among the last of them, the probes.
pub(crate) struct Scene {
    pub(crate) calls: Vec<Do>,
    pub(crate) probes: Vec<Probe>,
}

/// Work after the call.
#[derive(Clone)]
pub(crate) struct Probe {
    pub(crate) name: String,
    stream: Stream,
    flag: u64,
}

impl Probe {
    fn work(&self) -> Do {
        self.stream.fill(self.flag, PROBE, FLAG_BYTES)
    }

    /// Whether an event is the work of this probe, or of another in the same stream.
    pub(crate) fn is_work(&self, event: &Event) -> bool {
        let Stream { handle, context, thread } = self.stream;
        let What::Call(call) = &event.what else { return false };
        (event.context, event.thread) == (context, thread)
            && (call.args[1], call.args[3]) == (PROBE, handle)
    }
}

/// A stream as a call names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stream {
    handle: u64,
    context: u64,
    thread: u32,
}

/// In this order no probe changes the order of a later one: the legacy streams come last.
const PROBED: [&str; 8] = [
    "non_blocking",
    "non_blocking@B",
    "blocking",
    "blocking@B",
    "per_thread",
    "other_thread",
    "legacy",
    "legacy@B",
];

impl Scene {
    /// Two scenes, each with some of the probes: a check reports eight findings at most.
    pub(crate) fn of(row: &Row) -> [Self; 2] {
        let whole = Self::whole(row);
        let (first, second) = whole.probes.split_at(whole.probes.len() / 2);
        [first, second].map(|probes| Self {
            calls: whole.calls.iter().cloned().chain(probes.iter().map(Probe::work)).collect(),
            probes: probes.to_vec(),
        })
    }

    /// The calls before the probes, and all probes.
    fn whole(row: &Row) -> Self {
        let mut calls = vec![
            gave(Function::cuCtxCreate_v4, &[0, 0, row.device_of_b], OTHER_CONTEXT),
            gave(Function::cuCtxCreate_v4, &[0, 0, 0], CONTEXT),
        ];
        let busy = Stream::create(row.busy, BUSY, &mut calls);
        let given = match row.stream.as_str() {
            "-" | "busy" => None,
            kind => Some(Stream::create(StreamKind::of(kind), GIVEN, &mut calls)),
        };
        let mut probes = Vec::new();
        for (kind, handle) in PROBED.into_iter().zip(LATER..) {
            let stream = Stream::create(StreamKind::of(kind), handle, &mut calls);
            probes.push(Probe { name: kind.to_owned(), stream, flag: 0 });
        }
        if let Some(stream) = given {
            // Before the legacy streams, which come after it.
            probes.insert(6, Probe { name: "given".to_owned(), stream, flag: 0 });
        }
        let stream = given.unwrap_or(busy);
        let mut under_test = UnderTest { before: Vec::new(), calls: Vec::new() };
        under_test.add(row, busy, stream);
        calls.extend(under_test.before);
        calls.push(busy.fill(FLAGS, 7, FLAG_BYTES * 16));
        calls.extend(under_test.calls);
        for (flag, probe) in (0..).zip(&mut probes) {
            probe.flag = FLAGS + flag * FLAG_BYTES;
        }
        Self { calls, probes }
    }
}

/// Whether nobody sees all that the call of a row does. A function of the host may tell any thread
/// that its stream got there.
pub(crate) fn may_leave_a_doubt(row: &Row) -> bool {
    row.what == "programmatic stream serialization"
        || ["cuLaunchHostFunc", "cuStreamAddCallback"].contains(&row.call.as_str())
        || function(&row.call).is_some_and(|function| !function.implemented())
}

fn function(call: &str) -> Option<Function> {
    let name = call.strip_suffix("_ptds").unwrap_or(call);
    (name != "(none)").then(|| Function::by_name(name).unwrap_or_else(|| panic!("no {name}")))
}

impl Stream {
    fn create(kind: StreamKind, handle: u64, calls: &mut Vec<Do>) -> Self {
        let context = if kind.of_b { OTHER_CONTEXT } else { CONTEXT };
        let mut stream = Self { handle, context, thread: THREAD };
        match kind.name {
            "blocking" | "non_blocking" => {
                let flags = u64::from(kind.name == "non_blocking");
                calls.push(stream.by(gave(Function::cuStreamCreate, &[flags], handle)));
            }
            "legacy" => stream.handle = LEGACY,
            name => {
                stream.handle = PER_THREAD;
                stream.thread = if name == "per_thread" { THREAD } else { OTHER_THREAD };
            }
        }
        stream
    }

    /// With its context current, on its thread.
    fn by(self, call: Do) -> Do {
        call.within(self.context).by(self.thread)
    }

    fn fill(self, address: u64, value: u64, size_bytes: u64) -> Do {
        let arguments = [address, value, size_bytes, self.handle];
        self.by(did(Function::cuMemsetD8Async, &arguments))
    }
}

/// The call of a row, what prepares it, and calls beside it.
struct UnderTest {
    before: Vec<Do>,
    calls: Vec<Do>,
}

impl UnderTest {
    fn add(&mut self, row: &Row, busy: Stream, given: Stream) {
        let Some(function) = function(&row.call) else { return };
        // The result of the row says whether the memory is reached.
        let what = row.what.strip_suffix(", peer access").unwrap_or(&row.what);
        let what = what.strip_suffix(", reached").unwrap_or(what);
        let what = what.strip_suffix(", not reached").unwrap_or(what);
        let name = function.name();
        let result = row.result;
        let stream = given.handle;
        let per_thread = row.call.ends_with("_ptds");
        let mut calls = |call: Do| self.calls.push(call.result(result));
        if !function.implemented() {
            self.calls.push(passed_on(name));
            return;
        }
        match name {
            _ if function.is_row_copy() => {
                let (read, write, size) = self.copied(what);
                let side = |start, class: &str| Rows {
                    start,
                    pitch: row_bytes(size),
                    slice_rows: row_bytes(size),
                    memory_type: memory_type(class, what),
                };
                let (width_bytes, height, depth) = match size {
                    0 => (0, 16, 1),
                    _ if what.ends_with(SLICES) => (16, 4, 4),
                    _ => (row_bytes(size).into(), (size / u64::from(row_bytes(size))) as u32, 1),
                };
                let stream = if name.contains("Async") { stream } else { 0 };
                let copy = RowCopy {
                    to: side(TARGET, &write),
                    from: side(SOURCE, &read),
                    width_bytes,
                    height,
                    depth,
                    stream,
                };
                let call = did(function, &copy.words());
                self.calls.push(if per_thread { call.per_thread() } else { call });
            }
            _ if name.starts_with("cuMemcpyPeer") => {
                let (from, rest) = what.split_once(" to ").expect("A to B");
                let (to, size) = rest.split_once(' ').expect("a size");
                let class = |of: &str| if of == "B" { "device of B" } else { "device" };
                let context = |of: &str| if of == "B" { OTHER_CONTEXT } else { CONTEXT };
                let size = bytes(size);
                self.take(class(from), SOURCE, size);
                self.take(class(to), TARGET, size);
                let arguments = [TARGET, context(to), SOURCE, context(from), size, stream];
                let taken = if name == "cuMemcpyPeer" { 5 } else { 6 };
                self.calls.push(did(function, &arguments[..taken]));
            }
            _ if name.starts_with("cuMemcpy") => {
                let (_, _, size) = self.copied(what);
                let arguments = [TARGET, SOURCE, size, stream];
                let taken = if name.contains("Async") { 4 } else { 3 };
                let call = did(function, &arguments[..taken]);
                self.calls.push(if per_thread { call.per_thread() } else { call });
            }
            _ if name.starts_with("cuMemset") => {
                let (class, size) = class_and_size(what);
                self.take(class, TARGET, size);
                let stream_word = if name.contains("D2D") { 5 } else { 3 };
                let width = match name {
                    _ if name.contains("D16") || name.contains("D2D16") => 2,
                    _ if name.contains("D32") || name.contains("D2D32") => 4,
                    _ => 1,
                };
                let mut arguments = [TARGET, 1, size / width, 0, 0, 0];
                if name.contains("D2D") {
                    arguments = [TARGET, size / 4, 1, size / 4 / width, 4, 0];
                }
                if name.contains("Async") {
                    arguments[stream_word] = stream;
                }
                self.calls.push(did(function, &arguments).result(result));
            }
            "cuMemFree_v2" | "cuMemFreeHost" | "cuMemHostUnregister" => {
                self.free(function, what, busy)
            }
            "cuMemFreeAsync" => {
                let (class, size) = class_and_size(what);
                self.take(class, TARGET, size);
                self.calls.push(did(function, &[TARGET, stream]));
            }
            "cuMemAllocAsync" => {
                let (size, again) = what
                    .split_once(", the same freed")
                    .map_or((what, false), |(size, _)| (size, true));
                let size = bytes(size);
                if again {
                    self.take("pool", TARGET, size);
                    let free = did(Function::cuMemFreeAsync, &[TARGET, busy.handle]);
                    self.calls.push(busy.by(free));
                }
                // Only the legacy stream comes after the others, so that only it gets the memory
                // of another stream again.
                let at = if again && stream == LEGACY { TARGET } else { ELSEWHERE };
                self.calls.push(gave(function, &[size, stream], at));
            }
            "cuMemAllocFromPoolAsync" => {
                self.calls.push(gave(function, &[64 << 10, 0x9001, stream], ELSEWHERE));
            }
            "cuMemAllocPitch_v2" => calls(gave(function, &[100, 100, 4], ELSEWHERE)),
            "cuMemAlloc_v2" | "cuMemAllocManaged" | "cuMemHostAlloc" | "cuMemAllocHost_v2" => {
                calls(gave(function, &[bytes(what), 1], ELSEWHERE));
            }
            "cuMemHostRegister_v2" => calls(did(function, &[ELSEWHERE, bytes(what), 0])),
            "cuPointerSetAttribute" => {
                self.take("device", TARGET, 64);
                self.calls.push(did(function, &[1, 6, TARGET]));
            }
            "cuStreamWaitEvent" if what == "recorded in the busy stream" => {
                self.before.push(busy.by(gave(Function::cuEventCreate, &[2], EVENT)));
                let record = did(Function::cuEventRecord, &[EVENT, busy.handle]);
                self.calls.push(busy.by(record));
                self.calls.push(did(function, &[stream, EVENT, 0]));
            }
            "cuStreamWaitEvent" => {
                self.before.push(gave(Function::cuEventCreate, &[0], EVENT));
                if what != "never recorded" {
                    self.before.push(did(Function::cuEventRecord, &[EVENT, LEGACY]));
                    self.before.push(did(Function::cuCtxSynchronize, &[]));
                }
                self.calls.push(did(function, &[stream, EVENT, 0]));
            }
            "cuEventRecord" | "cuEventRecordWithFlags" => {
                self.before.push(gave(Function::cuEventCreate, &[0], EVENT));
                self.calls.push(did(function, &[EVENT, stream, 0]));
            }
            "cuEventQuery" | "cuEventSynchronize" | "cuEventDestroy_v2" => {
                self.before.push(gave(Function::cuEventCreate, &[0], EVENT));
                if what != "never recorded" {
                    self.calls.push(did(Function::cuEventRecord, &[EVENT, stream]));
                }
                self.calls.push(did(function, &[EVENT]).result(result));
            }
            "cuEventElapsedTime" | "cuEventElapsedTime_v2" => {
                for event in [EVENT, OTHER_EVENT] {
                    self.before.push(gave(Function::cuEventCreate, &[0], event));
                    self.before.push(did(Function::cuEventRecord, &[event, LEGACY]));
                }
                self.before.push(did(Function::cuCtxSynchronize, &[]));
                self.calls.push(did(function, &[EVENT, OTHER_EVENT]));
            }
            _ if function.is_launch() => {
                let (grid, block) = ([1; 3], [1; 3]);
                let launch = Launch {
                    function: 0xf0,
                    grid,
                    block,
                    shared_bytes: 0,
                    stream,
                    kernel_params: 0,
                    extra: 0,
                };
                let mut words = launch.words();
                words[7] = match what {
                    "priority" => 1 << 8,
                    "programmatic stream serialization" => 1 << 6,
                    _ => 0,
                };
                self.calls.push(did(function, &words));
            }
            "cuCtxSynchronize_v2" => {
                let context = if what == "context B" { OTHER_CONTEXT } else { CONTEXT };
                self.calls.push(did(function, &[context]));
            }
            "cuCtxDestroy_v2" => {
                let made = 0xc9;
                self.before.push(gave(Function::cuCtxCreate_v4, &[0, 0, 0], made));
                self.calls.push(did(function, &[made]));
            }
            "cuCtxCreate_v4" => calls(gave(function, &[0, 0, 0], 0xc9)),
            "cuCtxCreate_v2" => calls(gave(function, &[0, 0], 0xc9)),
            "cuCtxPushCurrent_v2" => {
                calls(did(function, &[OTHER_CONTEXT]));
                self.calls.push(gave(Function::cuCtxPopCurrent_v2, &[], OTHER_CONTEXT));
            }
            "cuCtxPopCurrent_v2" => {
                calls(gave(function, &[], CONTEXT));
                self.calls.push(did(Function::cuCtxPushCurrent_v2, &[CONTEXT]));
            }
            "cuDevicePrimaryCtxRetain" => calls(gave(function, &[0], 0xc9)),
            "cuDevicePrimaryCtxRelease"
            | "cuDevicePrimaryCtxRelease_v2"
            | "cuDevicePrimaryCtxReset"
            | "cuDevicePrimaryCtxReset_v2" => {
                self.before.push(gave(Function::cuDevicePrimaryCtxRetain, &[0], 0xc9));
                self.calls.push(did(function, &[0]));
            }
            "cuMemPrefetchAsync" => {
                self.take("managed", TARGET, 1 << 20);
                self.calls.push(did(function, &[TARGET, 1 << 20, 0, stream]));
            }
            "cuMemPrefetchAsync_v2" => {
                self.take("managed", TARGET, 1 << 20);
                self.calls.push(did(function, &[TARGET, 1 << 20, 0, 0, stream]));
            }
            "cuStreamAttachMemAsync" => {
                self.take("managed", TARGET, 1 << 20);
                self.calls.push(did(function, &[stream, TARGET, 0, 1]));
            }
            _ if name.starts_with("cuStream") && row.stream != "-"
                || name == "cuLaunchHostFunc" =>
            {
                calls(did(function, &[stream]));
            }
            _ if row.stream == "-" => calls(did(function, &[])),
            _ => panic!("no scene for {row}"),
        }
    }

    fn free(&mut self, function: Function, what: &str, busy: Stream) {
        let (kind, current) = what.split_once(", ").unwrap_or((what, ""));
        let free = |at: u64| did(function, &[at]);
        if kind == "0" {
            self.calls.push(free(0));
        } else if kind.contains("in use by the busy stream") {
            let stream = if busy.context == OTHER_CONTEXT || busy.thread == OTHER_THREAD {
                LEGACY
            } else {
                busy.handle
            };
            self.before.push(gave(Function::cuMemAllocAsync, &[64 << 10, stream], TARGET));
            self.calls.push(free(TARGET));
        } else {
            // `pinned 1 MiB of B`, `registered 1 MiB in B`.
            let of_b = [" of B", " in B"].iter().find_map(|end| kind.strip_suffix(end));
            let (class, size) = match of_b {
                Some(kind) => (format!("{} of B", class_and_size(kind).0), class_and_size(kind).1),
                None => (class_and_size(kind).0.to_owned(), class_and_size(kind).1),
            };
            self.take(&class, TARGET, size);
            let context = match current {
                "context B current" => OTHER_CONTEXT,
                "no context current" => 0,
                _ => CONTEXT,
            };
            self.calls.push(free(TARGET).within(context));
        }
    }

    /// Takes the memory of a copy. Returns both classes and the size.
    fn copied(&mut self, what: &str) -> (String, String, u64) {
        let what = what.strip_suffix(" as unified").unwrap_or(what);
        let what = what.strip_suffix(SLICES).unwrap_or(what);
        let (read, rest) = what.split_once(" to ").expect("two places");
        let (write, size) = class_and_size(rest);
        self.take(read, SOURCE, size);
        self.take(write, TARGET, size);
        (read.to_owned(), write.to_owned(), size)
    }

    fn take(&mut self, class: &str, at: u64, size: u64) {
        let size = size.max(1);
        // `managed memory of B` and `managed of B` are the same.
        let class = &class.replace(" memory", "");
        let taken = match class.as_str() {
            "device" | "device with SYNC_MEMOPS" => gave(Function::cuMemAlloc_v2, &[size], at),
            "device of B" => gave(Function::cuMemAlloc_v2, &[size], at).within(OTHER_CONTEXT),
            "pool" | "pool of B" => {
                let context = if class == "pool" { CONTEXT } else { OTHER_CONTEXT };
                let calls = [
                    gave(Function::cuStreamCreate, &[1], PREPARING),
                    gave(Function::cuMemAllocAsync, &[size, PREPARING], at),
                    did(Function::cuStreamSynchronize, &[PREPARING]),
                ];
                self.before.extend(calls.map(|call| call.within(context)));
                did(Function::cuStreamDestroy_v2, &[PREPARING]).within(context)
            }
            "managed" | "managed without SYNC_MEMOPS" => {
                gave(Function::cuMemAllocManaged, &[size, 1], at)
            }
            "managed of B" => {
                gave(Function::cuMemAllocManaged, &[size, 1], at).within(OTHER_CONTEXT)
            }
            "pinned" => gave(Function::cuMemHostAlloc, &[size, 1], at),
            "pinned of B" => gave(Function::cuMemHostAlloc, &[size, 0], at).within(OTHER_CONTEXT),
            "registered" => did(Function::cuMemHostRegister_v2, &[at, size, 0]),
            "registered of B" => {
                did(Function::cuMemHostRegister_v2, &[at, size, 0]).within(OTHER_CONTEXT)
            }
            "pageable" => return,
            _ => panic!("no such memory: {class}"),
        };
        self.before.push(taken);
        if class.ends_with("SYNC_MEMOPS") {
            let on = u64::from(class.contains("with "));
            self.before.push(did(Function::cuPointerSetAttribute, &[on, 6, at]));
        }
    }
}

/// How the second column of a copy of several slices ends.
const SLICES: &str = " in 4 slices";

/// `device of B 64 KiB`.
fn class_and_size(what: &str) -> (&str, u64) {
    let mut words = what.rsplitn(3, ' ');
    let (unit, number) = (words.next().expect("a unit"), words.next().expect("a number"));
    let size = bytes(&format!("{number} {unit}"));
    (words.next().expect("a kind of memory"), size)
}

fn bytes(text: &str) -> u64 {
    let (number, unit) = text.split_once(' ').expect("a number and a unit");
    let unit = match unit {
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        _ => panic!("no unit: {text}"),
    };
    number.parse::<u64>().unwrap_or_else(|_| panic!("no number: {text}")) * unit
}

/// All 2D copies that were measured are square or have rows of 2048 bytes.
fn row_bytes(size: u64) -> u32 {
    let root = size.isqrt();
    if root * root == size { root as u32 } else { 2048 }
}

fn memory_type(class: &str, what: &str) -> u32 {
    let of_host = ["pinned", "registered", "pageable"].contains(&class);
    match (what.ends_with("as unified"), of_host) {
        (true, _) => 4,
        (false, true) => 1,
        (false, false) => 2,
    }
}
