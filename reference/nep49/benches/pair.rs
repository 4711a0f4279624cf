//! A malloc and a free of the reference handler beside those of libc, through function pointers as
//! NumPy calls them.

#![expect(unsafe_code, reason = "calls C functions")]

use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;

use allocert_abi::nep49::Allocator;
use allocert_nep49::HANDLER;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

unsafe extern "C" fn malloc(_ctx: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: takes any size.
    unsafe { libc::malloc(size) }
}

unsafe extern "C" fn calloc(_ctx: *mut c_void, nelem: usize, elsize: usize) -> *mut c_void {
    // SAFETY: takes any sizes.
    unsafe { libc::calloc(nelem, elsize) }
}

unsafe extern "C" fn free(_ctx: *mut c_void, block: *mut c_void, _size: usize) {
    // SAFETY: a live block of libc's.
    unsafe { libc::free(block) }
}

const LIBC: Allocator = Allocator {
    ctx: ptr::null_mut(),
    malloc: Some(malloc),
    calloc: Some(calloc),
    realloc: None,
    free: Some(free),
};

fn pairs(criterion: &mut Criterion) {
    for (name, allocator) in [("libc", LIBC), ("reference", HANDLER.0.allocator)] {
        let (ctx, free) = (allocator.ctx, allocator.free.expect("a function"));
        let mut group = criterion.benchmark_group("malloc and free");
        for size in [80, 1024, 1 << 20] {
            let malloc = black_box(allocator.malloc.expect("a function"));
            group.bench_function(BenchmarkId::new(name, size), |bencher| {
                bencher.iter(|| {
                    // SAFETY: any size.
                    let block = unsafe { malloc(ctx, size) };
                    // SAFETY: the block that was just given.
                    unsafe { free(ctx, black_box(block), size) };
                });
            });
        }
        group.finish();
        let mut group = criterion.benchmark_group("calloc and free");
        for size in [1024, 64 << 20] {
            let calloc = black_box(allocator.calloc.expect("a function"));
            group.bench_function(BenchmarkId::new(name, size), |bencher| {
                bencher.iter(|| {
                    // SAFETY: any size.
                    let block = unsafe { calloc(ctx, size, 1) };
                    // SAFETY: the block that was just given.
                    unsafe { free(ctx, black_box(block), size) };
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, pairs);
criterion_main!(benches);
