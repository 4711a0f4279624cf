//! Builds traces of several threads and streams for tests, with short names for driver calls.

use allocert_contract::trace::{
    Call, Event, Marker, What,
    cuda::{Function, Launch, RowCopy, Rows},
};

use allocert_suite::plan::PlannedCase;
use allocert_suite::verdict::{Finding, Judgement};

use crate::observation_builder::{CONTEXT, Recorder, THREAD, call, case, memory};

/// Memory, streams, events.
pub(crate) const X: u64 = 0x7d00_0000_0000;
pub(crate) const Y: u64 = 0x7d00_0001_0000;
pub(crate) const Y2: u64 = 0x7d00_0002_0000;
pub(crate) const A: u64 = 0x5700_0000_000a;
pub(crate) const B: u64 = 0x5700_0000_000b;
pub(crate) const C: u64 = 0x5700_0000_000c;
pub(crate) const E: u64 = 0xee0e;
pub(crate) const E2: u64 = 0xee02;
/// Pinned memory, and memory that the driver knows nothing of.
pub(crate) const PINNED: u64 = 0x7e00_0000_0000;
pub(crate) const PAGEABLE: u64 = 0x55aa_0000_1000;
pub(crate) const LEGACY: u64 = 1;
pub(crate) const PER_THREAD: u64 = 2;
pub(crate) const OTHER_THREAD: u32 = 9;
pub(crate) const OTHER_CONTEXT: u64 = 0xc1;

/// What one thread does.
#[derive(Clone)]
pub(crate) struct Do {
    what: Option<What>,
    /// `(value, base, size_bytes)`: what the launch is given.
    pub(crate) arguments: Vec<(u64, u64, u64)>,
    thread: u32,
    context: u64,
    harness: bool,
}

impl Do {
    fn new(what: What) -> Self {
        Self {
            what: Some(what),
            arguments: Vec::new(),
            thread: THREAD,
            context: CONTEXT,
            harness: false,
        }
    }

    /// On another thread.
    pub(crate) fn by(self, thread: u32) -> Self {
        Self { thread, ..self }
    }

    /// With another context current.
    pub(crate) fn within(self, context: u64) -> Self {
        Self { context, ..self }
    }

    /// By the worker, not the subject.
    pub(crate) fn harness(self) -> Self {
        Self { harness: true, ..self }
    }

    /// Through the `_ptsz` or `_ptds` symbol.
    pub(crate) fn per_thread(self) -> Self {
        self.with(|call| call.per_thread = true)
    }

    pub(crate) fn result(self, result: i32) -> Self {
        self.with(|call| call.result = Some(result))
    }

    pub(crate) fn injected(self) -> Self {
        self.with(|call| call.injected = true)
    }

    /// Only if the edge is there.
    pub(crate) fn when(self, edge: bool) -> Self {
        Self { what: self.what.filter(|_| edge), ..self }
    }

    fn with(mut self, change: impl FnOnce(&mut Call)) -> Self {
        if let Some(What::Call(call)) = &mut self.what {
            change(call);
        }
        self
    }
}

impl Recorder {
    /// The next step does all this and returns these facts.
    pub(crate) fn does(mut self, calls: Vec<Do>, facts: serde_json::Value) -> Self {
        let index = self.seen.steps.len() as u64;
        self.marker(Marker::StepBegin { step: index });
        for one in calls {
            self.perform(one);
        }
        self.marker(Marker::StepEnd { step: index });
        self.silent(facts)
    }

    fn perform(&mut self, Do { what, arguments, thread, context, harness }: Do) {
        let Some(what) = what else { return };
        let stream = match &what {
            What::Call(call) => call.arg("stream").unwrap_or(0),
            _ => 0,
        };
        let mut put = |what| {
            let seq = self.seen.events.len() as u64;
            self.seen.events.push(Event { seq, thread, process: 70, context, what });
            seq
        };
        let markers = [Marker::HarnessBegin, Marker::HarnessEnd].map(What::Marker);
        let [begin, end] = markers.map(|marker| harness.then_some(marker));
        begin.map(&mut put);
        let launch = put(what);
        for (position, (value, base, size_bytes)) in (0..).zip(arguments) {
            put(What::Argument { launch, stream, position, value, base, size_bytes });
        }
        end.map(&mut put);
    }
}

fn done(function: Function, args: &[u64], out: &[u64]) -> Do {
    Do::new(What::Call(call(function, args, out, 0)))
}

pub(crate) fn blocking(stream: u64) -> Do {
    done(Function::cuStreamCreate, &[0], &[stream])
}

pub(crate) fn non_blocking(stream: u64) -> Do {
    done(Function::cuStreamCreateWithPriority, &[1, 0], &[stream])
}

pub(crate) fn destroy(stream: u64) -> Do {
    done(Function::cuStreamDestroy_v2, &[stream], &[])
}

/// Writes 64 bytes.
pub(crate) fn fill(address: u64, stream: u64) -> Do {
    done(Function::cuMemsetD8Async, &[address, 7, 64, stream], &[])
}

pub(crate) fn fill_bytes(address: u64, size_bytes: u64, stream: u64) -> Do {
    done(Function::cuMemsetD8Async, &[address, 7, size_bytes, stream], &[])
}

/// Copies two rows of 16 bytes, 256 bytes from each other on both sides.
pub(crate) fn rows(function: Function, to: u64, from: u64, stream: u64) -> Do {
    const HOST: u32 = 1;
    const DEVICE: u32 = 2;
    let of_host = |start| [PINNED, PAGEABLE].contains(&start);
    let memory_type = |start| if of_host(start) { HOST } else { DEVICE };
    let rows = |start| Rows { start, pitch: 256, slice_rows: 2, memory_type: memory_type(start) };
    let (width_bytes, height, depth) = (16, 2, 1);
    let copy = RowCopy { to: rows(to), from: rows(from), width_bytes, height, depth, stream };
    done(function, &copy.words(), &[])
}

/// Two contexts of one device.
pub(crate) fn contexts() -> Vec<Do> {
    [OTHER_CONTEXT, CONTEXT]
        .map(|context| gave(Function::cuCtxCreate_v4, &[0, 0, 0], context))
        .into()
}

/// Reads 64 bytes of the first into the second.
pub(crate) fn copy(from: u64, to: u64, stream: u64) -> Do {
    done(Function::cuMemcpyDtoDAsync_v2, &[to, from, 64, stream], &[])
}

/// A kernel that is given an address in an allocation of 64 bytes.
pub(crate) fn launch(address: u64, stream: u64) -> Do {
    launch_in(address, (address, 64), stream)
}

pub(crate) fn launch_in(address: u64, (base, size_bytes): (u64, u64), stream: u64) -> Do {
    let (grid, block) = ([1; 3], [32, 1, 1]);
    let words =
        Launch { function: 0xf0, grid, block, shared_bytes: 0, stream, kernel_params: 0, extra: 0 }
            .words();
    Do {
        arguments: vec![(address, base, size_bytes)],
        ..done(Function::cuLaunchKernel, &words, &[])
    }
}

pub(crate) fn event(event: u64) -> Do {
    done(Function::cuEventCreate, &[2], &[event])
}

pub(crate) fn record(event: u64, stream: u64) -> Do {
    done(Function::cuEventRecord, &[event, stream], &[])
}

pub(crate) fn wait(stream: u64, event: u64) -> Do {
    done(Function::cuStreamWaitEvent, &[stream, event, 0], &[])
}

/// A call with these inputs and no outputs.
pub(crate) fn did(function: Function, args: &[u64]) -> Do {
    done(function, args, &[])
}

/// A call with one output.
pub(crate) fn gave(function: Function, args: &[u64], out: u64) -> Do {
    done(function, args, &[out])
}

pub(crate) fn passed_on(name: &str) -> Do {
    let function = Function::by_name(name).unwrap_or_else(|| panic!("no function {name}"));
    Do::new(What::PassedOn { function, per_thread: false })
}

pub(crate) fn unsupported(name: &str) -> Do {
    let function = Function::by_name(name).unwrap_or_else(|| panic!("no function {name}"));
    Do::new(What::Unsupported { function, per_thread: false })
}

/// One step that allocates `a`, at [`X`], and is not torn down.
pub(crate) fn one_step() -> PlannedCase {
    case(
        "teardown: none\nsteps:\n  - do: {memalloc: {size: 64, as: a}}\n    \
         expect: {EMM-T-01: {returns: {}}}\n",
    )
}

/// That step does all this.
pub(crate) fn judged(calls: Vec<Do>) -> Judgement {
    Recorder::new(one_step()).does(calls, memory(X, 64)).rest().judged()
}

pub(crate) fn races(judgement: &Judgement) -> Vec<&str> {
    // A race with a free of the memory has the requirement of a use after the free.
    let race = |finding: &&Finding| finding.observed.contains("nothing orders");
    judgement.findings.iter().filter(race).map(|finding| finding.observed.as_str()).collect()
}

pub(crate) fn two(kind: fn(u64) -> Do) -> Vec<Do> {
    vec![kind(A), kind(B), event(E), event(E2)]
}

pub(crate) fn after(before: Vec<Do>, more: Vec<Do>) -> Vec<Do> {
    before.into_iter().chain(more).collect()
}

pub(crate) fn alloc(address: u64) -> Do {
    gave(Function::cuMemAlloc_v2, &[64], address)
}

pub(crate) fn sync(stream: u64) -> Do {
    did(Function::cuStreamSynchronize, &[stream])
}
