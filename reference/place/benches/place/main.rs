//! The reference allocator by place, through its C contract, beside malloc of libc and beside the
//! pool of the reference manager of `emm`. Nobody writes to the blocks.
//!
//! The places of CUDA are measured where a driver is found: `LD_LIBRARY_PATH` may name a folder
//! with the software driver as `libcuda.so.1`.

#![expect(unsafe_code, reason = "calls C functions")]

mod emm_pool;
#[path = "../../../emm/benches/pool/endless_driver.rs"]
mod endless_driver;

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use allocert_abi::place::{Place, StaticAllocator, Status};
use allocert_place::ALLOCATOR;
use criterion::{Criterion, criterion_group, criterion_main};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// What is measured: one request, and the free of its block.
trait Allocates: Sync {
    type Block: Copy + Send;
    const NAME: &'static str;
    fn alloc(&self, size_bytes: usize) -> Self::Block;
    fn free(&self, block: Self::Block);
}

/// A place of the reference, through the functions of its table.
struct AtPlace<const KIND: i32>(&'static StaticAllocator);

impl<const KIND: i32> AtPlace<KIND> {
    const PLACE: Place = Place { kind: KIND, device: 0 };

    /// Nothing if the place has no memory.
    fn open() -> Option<Self> {
        let table = black_box(&ALLOCATOR);
        let mut block = ptr::null_mut();
        // SAFETY: `out` can be written to.
        let status = unsafe { table.0.alloc.expect("set")(Self::PLACE, 1, &raw mut block) };
        // SAFETY: a block of the place, or null.
        unsafe { table.0.free.expect("set")(Self::PLACE, block) };
        (status == Status::OK).then_some(Self(table))
    }
}

impl<const KIND: i32> Allocates for AtPlace<KIND> {
    type Block = usize;
    const NAME: &'static str = ["CPUPlace", "CUDAPlace", "CUDAPinnedPlace"][KIND as usize];

    fn alloc(&self, size_bytes: usize) -> usize {
        let mut block = ptr::null_mut();
        // SAFETY: `out` can be written to.
        let status =
            unsafe { self.0.0.alloc.expect("set")(Self::PLACE, size_bytes, &raw mut block) };
        assert_eq!(status, Status::OK);
        block.expose_provenance()
    }

    fn free(&self, block: usize) {
        let block = ptr::with_exposed_provenance_mut(block);
        // SAFETY: takes any address.
        let status = unsafe { self.0.0.free.expect("set")(Self::PLACE, block) };
        assert_eq!(status, Status::OK);
    }
}

struct Libc;

impl Allocates for Libc {
    type Block = usize;
    const NAME: &'static str = "libc";

    fn alloc(&self, size_bytes: usize) -> usize {
        // SAFETY: takes any size.
        black_box(unsafe { libc::malloc(size_bytes) }).expose_provenance()
    }

    fn free(&self, block: usize) {
        // SAFETY: a live block of libc.
        unsafe { libc::free(ptr::with_exposed_provenance_mut::<c_void>(block)) };
    }
}

fn pair<A: Allocates>(allocator: &A, size_bytes: usize) {
    allocator.free(black_box(allocator.alloc(black_box(size_bytes))));
}

fn pairs<A: Allocates>(criterion: &mut Criterion, allocator: &A) {
    let mut group = criterion.benchmark_group("place pair");
    for (name, size_bytes) in [("256 B", 256), ("64 KiB", 64 << 10), ("1 MiB", 1 << 20)] {
        group.bench_function(format!("{}, {name}", A::NAME), |bencher| {
            bencher.iter(|| pair(allocator, size_bytes));
        });
    }
    group.finish();
}

/// One operation is a free of any live block, or a request of 256 bytes to 1 MiB.
fn random_lifetimes<A: Allocates>(criterion: &mut Criterion, allocator: &A) {
    let mut group = criterion.benchmark_group("place random lifetimes");
    for live in [1000, 20_000] {
        let mut random = SplitMix64::seed_from_u64(live);
        let mut below = |limit: u64| (random.next_u64() % limit) as usize;
        let draws: Vec<(usize, usize)> =
            (0..1 << 20).map(|_| (below(live), 256 + below((1 << 20) - 255))).collect();
        let mut draws = draws.into_iter().cycle();
        let mut blocks: Vec<A::Block> =
            (0..live).map(|_| allocator.alloc(256 + below((1 << 20) - 255))).collect();
        group.bench_function(format!("{}, {live} live", A::NAME), |bencher| {
            bencher.iter_custom(|operations| {
                let start = Instant::now();
                for _ in 0..operations.div_ceil(2) {
                    let (victim, size_bytes) = draws.next().expect("they never end");
                    allocator.free(blocks[victim]);
                    blocks[victim] = allocator.alloc(size_bytes);
                }
                start.elapsed()
            });
        });
        blocks.into_iter().for_each(|block| allocator.free(block));
    }
    group.finish();
}

/// The time in which each of some threads makes a number of pairs.
fn threads<A: Allocates>(criterion: &mut Criterion, allocator: &A) {
    let mut group = criterion.benchmark_group("place pairs of each thread");
    for threads in [1, 8] {
        group.bench_function(format!("{}, {threads} threads", A::NAME), |bencher| {
            bencher.iter_custom(|pairs| at_once(allocator, threads, pairs));
        });
    }
    group.finish();
}

fn at_once<A: Allocates>(allocator: &A, threads: usize, pairs: u64) -> Duration {
    let barrier = Barrier::new(threads + 1);
    let work = || {
        barrier.wait();
        (0..pairs).for_each(|_| pair(allocator, 4096));
        barrier.wait();
    };
    thread::scope(|scope| {
        (0..threads).for_each(|_| drop(scope.spawn(work)));
        barrier.wait();
        let start = Instant::now();
        barrier.wait();
        start.elapsed()
    })
}

fn all_of<A: Allocates>(criterion: &mut Criterion, allocator: Option<A>) {
    let Some(allocator) = allocator else {
        println!("{} has no memory here, so it is not measured", A::NAME);
        return;
    };
    pairs(criterion, &allocator);
    random_lifetimes(criterion, &allocator);
    threads(criterion, &allocator);
}

fn all(criterion: &mut Criterion) {
    all_of(criterion, AtPlace::<0>::open());
    all_of(criterion, AtPlace::<1>::open());
    all_of(criterion, AtPlace::<2>::open());
    all_of(criterion, Some(endless_driver::pool()));
    all_of(criterion, Some(Libc));
}

criterion_group!(benches, all);
criterion_main!(benches);
