//! Per-thread symbols and callbacks.

use std::{
    ffi::c_void,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{fork::in_child, library::Cuda};

#[test]
fn stream_0_of_a_per_thread_symbol_is_the_threads_own() {
    in_child(|| {
        let cuda = Cuda::up();
        let data = cuda.alloc(1);
        let mut seen = 0;
        assert_eq!(cuda.cuMemHostAlloc(&mut seen, 1, 0), 0);
        assert_eq!(cuda.cuMemsetD8Async_ptsz(data, 5, 1, 0), 0);
        assert_eq!(cuda.cuStreamQuery(2), 600, "CU_STREAM_PER_THREAD has the work");
        assert_eq!(cuda.cuMemcpyDtoHAsync_v2_ptsz(seen, data, 1, 0), 0);
        assert_eq!(cuda.cuStreamSynchronize_ptsz(0), 0);
        // SAFETY: a live page-locked byte.
        assert_eq!(unsafe { *std::ptr::with_exposed_provenance::<u8>(seen as usize) }, 5);
    });
}

#[test]
fn device_memory_cannot_be_touched_from_the_host() {
    in_child(|| {
        let cuda = Cuda::up();
        let data = cuda.alloc(64);
        let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
        let holding = maps.lines().find(|line| {
            let bounds =
                line.split(' ').next().and_then(|range| range.split_once('-')).expect("a range");
            let number = |text| u64::from_str_radix(text, 16).expect("hexadecimal");
            (number(bounds.0)..number(bounds.1)).contains(&data)
        });
        assert!(holding.is_some_and(|line| line.contains(" ---p ")), "{holding:?}");
    });
}

extern "C" fn call_back(data: *mut c_void) {
    // SAFETY: the test below passes its own live array.
    let answers = unsafe { &mut *data.cast::<[i32; 2]>() };
    *answers = [1, Cuda::load().cuCtxSynchronize()];
}

#[test]
fn calls_from_a_callback_are_not_permitted() {
    in_child(|| {
        let cuda = Cuda::up();
        let mut answers = [0, 0];
        assert_eq!(cuda.cuLaunchHostFunc(0, call_back, (&raw mut answers).cast()), 0);
        assert_eq!(cuda.cuStreamSynchronize(0), 0);
        assert_eq!(answers, [1, 800]);
    });
}

static CALLED: AtomicBool = AtomicBool::new(false);

extern "C" fn set_flag(_: *mut c_void) {
    CALLED.store(true, Ordering::Release);
}

/// A program may wait for a host function in a loop of its own.
fn waits_for_a_host_function(in_the_loop: fn(&Cuda)) {
    in_child(|| {
        let cuda = Cuda::up();
        assert_eq!(cuda.cuLaunchHostFunc(0, set_flag, std::ptr::null_mut()), 0);
        assert!(!CALLED.load(Ordering::Acquire), "it runs as late as other work");
        let limit = Instant::now() + Duration::from_secs(60);
        while !CALLED.load(Ordering::Acquire) {
            assert!(Instant::now() < limit, "the host function does not run");
            in_the_loop(&cuda);
            thread::sleep(Duration::from_millis(1));
        }
    });
}

#[test]
fn a_host_function_runs_though_nobody_calls_the_driver() {
    waits_for_a_host_function(|_| {});
}

#[test]
fn a_host_function_runs_though_all_calls_wait_for_nothing() {
    waits_for_a_host_function(|cuda| {
        let mut current = 0;
        assert_eq!(cuda.cuCtxGetCurrent(&mut current), 0);
    });
}
