//! The judge's speed where order is judged, in events a second: many streams, events and ranges, at
//! sizes that show whether it is linear.

use std::cell::LazyCell;

use allocert_contract::trace::{
    Call, Event, Marker, What,
    cuda::{Function, Launch},
};
use allocert_suite::observation::{Ending, Facts, Observation, Outcome, StepOutcome};
use allocert_suite::plan::PlannedCase;
use allocert_suite::{Catalogue, fixture, judge};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const CASE: &str = "# Many streams in one step.\ncase: emm/bench/order\nabout: a bench\n\
    teardown: none\nsteps:\n  - do: {churn: {size: 64, times: 1}}\n    \
    expect: {EMM-B-01: {calls: {none_of: [cuLaunchHostFunc]}}}\n";
const CATALOGUE: &str = "- {id: EMM-B-01, level: MUST, role: plugin, statement: A statement., \
    source: {text: a, section: b}, versions: [one], observed_by: [trace], check: race}\n";
/// Allocations, and what a kernel may reach of one.
const RANGES: u64 = 4096;
const RANGE_BYTES: u64 = 1 << 16;
const FIRST: u64 = 0x7d00_0000_0000;

fn bench(criterion: &mut Criterion) {
    let catalogue = Catalogue::from_files([("emm/bench.yaml", CATALOGUE)]).expect("written here");
    let case = fixture::plan_file("cases/emm/bench/order.yaml", CASE, &catalogue)
        .expect("written here")
        .remove(0);
    let mut group = criterion.benchmark_group("order");
    group.sample_size(10);
    let sizes = [(10_000, 64), (100_000, 64), (1_000_000, 64), (1_000_000, 8), (1_000_000, 512)];
    for (name, mix) in [("pipeline", pipeline as Mix), ("legacy", legacy), ("slices", slices)] {
        for (events, streams) in sizes {
            // Made only if the bench runs.
            let seen = LazyCell::new(|| conforming(&catalogue, &case, events, streams, mix));
            group.throughput(Throughput::Elements(events as u64));
            let id = BenchmarkId::new(name, format!("{events} events, {streams} streams"));
            group.bench_function(id, |bencher| {
                let seen = &*seen;
                bencher.iter(|| judge::judge(&catalogue, &case, seen));
            });
        }
    }
    group.finish();
}

/// An observation that the judge has nothing against.
fn conforming(
    catalogue: &Catalogue,
    case: &PlannedCase,
    events: usize,
    streams: u64,
    mix: Mix,
) -> Observation {
    let seen = observation(case, events, streams, mix);
    let judgement = judge::judge(catalogue, case, &seen);
    assert_eq!(judgement.verdict.name(), "conforms", "{:?}", judgement);
    seen
}

/// One round of work on streams of which there are so many.
type Mix = fn(&mut Observation, u64, u64);

fn observation(case: &PlannedCase, events: usize, streams: u64, mix: Mix) -> Observation {
    let mut seen = Observation::silent(&case.id, Ending::Done);
    seen.done = true;
    for index in 0..case.steps.len() as u32 {
        push(&mut seen, What::Marker(Marker::StepBegin { step: index.into() }));
        if index == 2 {
            // Of eight streams, seven take part in no legacy order.
            (0..streams).for_each(|one| {
                push(
                    &mut seen,
                    call(Function::cuStreamCreate, &[u64::from(one % 8 != 0)], stream(one)),
                )
            });
            (0..streams)
                .for_each(|one| push(&mut seen, call(Function::cuEventCreate, &[2], event(one))));
            (0..RANGES).for_each(|one| {
                push(&mut seen, call(Function::cuMemAlloc_v2, &[RANGE_BYTES], range(one)))
            });
            (0..).take_while(|round| *round < events as u64).find(|round| {
                mix(&mut seen, *round, streams);
                seen.events.len() >= events
            });
        }
        push(&mut seen, What::Marker(Marker::StepEnd { step: index.into() }));
        seen.steps.push(StepOutcome {
            index,
            outcome: Outcome::Returned(exchanged()),
            plugin_calls: Vec::new(),
            table_calls: None,
        });
    }
    seen
}

/// All of the memory is of the exchange, so that every pair of accesses counts.
fn exchanged() -> Facts {
    let facts = [("pointer", FIRST), ("size_bytes", RANGES * RANGE_BYTES)];
    facts.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
}

/// Work is handed from stream to stream by events; now and then the host waits.
fn pipeline(seen: &mut Observation, round: u64, streams: u64) {
    let (from, to) = (round * 7 % streams, (round * 7 + 1 + round % 3) % streams);
    let memory = range(round * 31 % RANGES);
    push(seen, call(Function::cuStreamWaitEvent, &[stream(from), event(to), 0], 0));
    chain(seen, round, streams);
    push(seen, call(Function::cuMemsetD8Async, &[memory, 0, RANGE_BYTES, stream(from)], 0));
    push(seen, call(Function::cuEventRecord, &[event(from), stream(from)], 0));
    push(seen, call(Function::cuStreamWaitEvent, &[stream(to), event(from), 0], 0));
    launch(seen, memory + 256, stream(to));
    push(seen, call(Function::cuEventRecord, &[event(to), stream(to)], 0));
    if round.is_multiple_of(64) {
        push(seen, call(Function::cuStreamSynchronize, &[stream(to)], 0));
    }
}

/// The memory of this round may still be in use by the last round on it: its stream is waited for.
fn chain(seen: &mut Observation, round: u64, streams: u64) {
    if let Some(last) = round.checked_sub(RANGES) {
        let to = (last * 7 + 1 + last % 3) % streams;
        push(
            seen,
            call(Function::cuStreamWaitEvent, &[stream(round * 7 % streams), event(to), 0], 0),
        );
    }
}

/// Blocking streams, each round put in order by the legacy stream.
fn legacy(seen: &mut Observation, round: u64, streams: u64) {
    let one = round % streams / 8 * 8;
    let memory = range(round * 31 % RANGES);
    push(seen, call(Function::cuMemsetD32Async, &[memory, 0, RANGE_BYTES / 4, stream(one)], 0));
    launch(seen, memory, 0);
    let other = (one + 8) % streams / 8 * 8;
    push(
        seen,
        call(Function::cuMemcpyDtoDAsync_v2, &[memory + 512, memory, 512, stream(other)], 0),
    );
    push(seen, call(Function::cuMemsetD8_v2, &[memory, 0, RANGE_BYTES], 0));
}

/// Slices of one range, each by its own stream, and then all of it by one that waited for nothing
/// but the host.
fn slices(seen: &mut Observation, round: u64, streams: u64) {
    let memory = range(round * 31 % RANGES);
    let step = RANGE_BYTES / streams;
    for one in 0..streams {
        push(
            seen,
            call(Function::cuMemsetD8Async, &[memory + one * step, 0, step, stream(one)], 0),
        );
    }
    push(seen, call(Function::cuCtxSynchronize, &[], 0));
    push(
        seen,
        call(
            Function::cuMemcpyDtoHAsync_v2,
            &[0x5500_0000_0000, memory, RANGE_BYTES, stream(round % streams)],
            0,
        ),
    );
}

fn launch(seen: &mut Observation, value: u64, stream: u64) {
    let (grid, block) = ([1; 3], [64, 1, 1]);
    let words =
        Launch { function: 0xf0, grid, block, shared_bytes: 0, stream, kernel_params: 0, extra: 0 }
            .words();
    let launch = seen.events.len() as u64;
    push(seen, call(Function::cuLaunchKernel, &words, 0));
    let base = value / RANGE_BYTES * RANGE_BYTES;
    push(
        seen,
        What::Argument { launch, stream, position: 0, value, base, size_bytes: RANGE_BYTES },
    );
}

fn stream(number: u64) -> u64 {
    0x5700_0000_0000 + number * 16
}

fn event(number: u64) -> u64 {
    0xee00_0000_0000 + number * 16
}

fn range(number: u64) -> u64 {
    FIRST + number * RANGE_BYTES
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

fn push(seen: &mut Observation, what: What) {
    let seq = seen.events.len() as u64;
    seen.events.push(Event { seq, thread: 7, process: 70, context: 0xc0, what });
}

criterion_group!(benches, bench);
criterion_main!(benches);
