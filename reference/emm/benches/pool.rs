//! One allocation and its release through the reference pool, over a driver that costs nothing.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use allocert_emm::{Driver, DriverError, HostFlags, Manager, MemoryInfo, Pool};
use criterion::{Criterion, criterion_group, criterion_main};

/// Endless device memory.
#[derive(Clone, Debug)]
struct Endless(Arc<AtomicU64>);

const NOT_SUPPORTED: DriverError = DriverError::Call { call: "none", code: 801 };

impl Driver for Endless {
    fn mem_alloc(&self, size_bytes: u64) -> Result<u64, DriverError> {
        Ok(self.0.fetch_add(size_bytes.next_multiple_of(512), Ordering::Relaxed))
    }
    fn mem_free(&self, _pointer: u64) -> Result<(), DriverError> {
        Ok(())
    }
    fn mem_info(&self) -> Result<MemoryInfo, DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn mem_base(&self, _pointer: u64) -> Result<u64, DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn host_alloc(&self, _size_bytes: u64, _flags: HostFlags) -> Result<usize, DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn host_free(&self, _pointer: usize) -> Result<(), DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn host_register(
        &self,
        _pointer: usize,
        _size_bytes: u64,
        _mapped: bool,
    ) -> Result<(), DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn host_unregister(&self, _pointer: usize) -> Result<(), DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn host_device_pointer(&self, _pointer: usize) -> Result<u64, DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn ipc_handle(&self, _base: u64) -> Result<[u8; 64], DriverError> {
        Err(NOT_SUPPORTED)
    }
    fn device_uuid(&self) -> Result<[u8; 16], DriverError> {
        Err(NOT_SUPPORTED)
    }
}

fn pairs(criterion: &mut Criterion) {
    let pool = Pool::new(Endless(Arc::new(AtomicU64::new(1 << 40))));
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
