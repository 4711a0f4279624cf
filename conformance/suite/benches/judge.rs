//! The judge's speed in events a second, at sizes that show whether it is linear.

use allocert_contract::trace::{Call, Event, Marker, What, cuda::Function};
use allocert_suite::observation::{Ending, Observation, Outcome, StepOutcome};
use allocert_suite::plan::PlannedCase;
use allocert_suite::{Catalogue, fixture, judge};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const CASE: &str = "# Many allocations in one step.\ncase: emm/bench/churn\nabout: a bench\n\
    steps:\n  - do: {churn: {size: 64, times: 1}}\n    \
    expect: {EMM-B-01: {calls: {at_least: {cuMemAlloc: 1}, none_of: [cuCtxSynchronize]}}}\n";
const CATALOGUE: &str = "- {id: EMM-B-01, level: MUST, role: plugin, statement: A statement., \
    source: {text: a, section: b}, versions: [one], observed_by: [trace]}\n";
/// Allocations alive at a time.
const HELD: u64 = 1000;

fn bench(criterion: &mut Criterion) {
    let catalogue = Catalogue::from_files([("emm/bench.yaml", CATALOGUE)]).expect("written here");
    let case = fixture::plan_file("cases/emm/bench/churn.yaml", CASE, &catalogue)
        .expect("written here")
        .remove(0);
    let mut group = criterion.benchmark_group("judge");
    group.sample_size(10);
    for events in [10_000, 100_000, 1_000_000] {
        let seen = observation(&case, events);
        group.throughput(Throughput::Elements(seen.events.len() as u64));
        group.bench_with_input(BenchmarkId::from_parameter(events), &seen, |bencher, seen| {
            bencher.iter(|| judge::judge(&catalogue, &case, seen));
        });
    }
    group.finish();
}

fn observation(case: &PlannedCase, events: u64) -> Observation {
    let mut seen = Observation::silent(&case.id, Ending::Done);
    seen.done = true;
    for index in 0..case.steps.len() as u32 {
        push(&mut seen, What::Marker(Marker::StepBegin { step: index.into() }));
        if index == 2 {
            for number in 0..events / 2 + HELD {
                churn(&mut seen, number, events / 2);
            }
        }
        push(&mut seen, What::Marker(Marker::StepEnd { step: index.into() }));
        seen.steps.push(StepOutcome {
            index,
            outcome: Outcome::Returned(Default::default()),
            plugin_calls: Vec::new(),
            table_calls: None,
        });
    }
    seen
}

/// Takes a block and gives back the one that is [`HELD`] blocks older.
fn churn(seen: &mut Observation, number: u64, times: u64) {
    let address = |number: u64| 0x7d00_0000_0000 + (number % 4096) * 512;
    if number < times {
        push(seen, call(Function::cuMemAlloc_v2, 64, address(number)));
    }
    if let Some(old) = number.checked_sub(HELD).filter(|old| *old < times) {
        push(seen, call(Function::cuMemFree_v2, address(old), 0));
    }
}

fn call(function: Function, argument: u64, out: u64) -> What {
    let args = [argument, 0, 0, 0, 0, 0, 0, 0];
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
