//! One allocation and its release through the reference pool, over a driver that costs nothing.

mod endless_driver;

use std::hint::black_box;

use allocert_emm::Manager;
use criterion::{Criterion, criterion_group, criterion_main};

fn pairs(criterion: &mut Criterion) {
    let pool = endless_driver::pool();
    let pair = |size_bytes: u64| {
        let memory = pool.memalloc(black_box(size_bytes)).expect("endless memory");
        pool.release(memory.token).expect("live");
    };
    let mut group = criterion.benchmark_group("pool pair");
    group.bench_function("empty pool, 1 KiB", |bencher| bencher.iter(|| pair(1024)));
    // Alternating live and free blocks: nothing coalesces away.
    let held: Vec<_> =
        (0..2000).map(|_| pool.memalloc(1024).expect("endless memory").token).collect();
    for token in held.iter().step_by(2) {
        pool.release(*token).expect("live");
    }
    group.bench_function("fragmented, 1 KiB", |bencher| bencher.iter(|| pair(1024)));
    let mut size_bytes = 0_u64;
    let mut next = || {
        size_bytes = (size_bytes + 7919) % (1 << 20);
        size_bytes
    };
    group.bench_function("fragmented, sizes to 1 MiB", |bencher| bencher.iter(|| pair(next())));
    group.finish();
}

criterion_group!(benches, pairs);
criterion_main!(benches);
