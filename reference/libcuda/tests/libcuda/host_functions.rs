//! Host functions that a stream calls (`cuLaunchHostFunc`).

use std::{
    ffi::c_void,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rstest::rstest;

use crate::{fork::in_child, library::Cuda};

unsafe extern "C" {
    fn alarm(seconds: u32) -> u32;
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

/// What the program of the test below shares with its callback.
struct Shared {
    lock: Mutex<()>,
    /// 1: the callback wants the lock, and the thread that has it calls the driver.
    stage: AtomicU32,
    called: AtomicU32,
}

extern "C" fn take_the_lock(data: *mut c_void) {
    // SAFETY: the test below passes its own value, which lives longer than the stream's work.
    let shared = unsafe { &*data.cast::<Shared>() };
    shared.stage.store(1, Ordering::Release);
    drop(shared.lock.lock());
    let mut free = 0;
    assert_eq!(Cuda::load().cuMemAlloc_v2(&mut free, 1), 800, "no call is permitted");
    shared.called.fetch_add(1, Ordering::Release);
}

/// Waits for a host function that needs a lock of the program, while the holder of the lock calls
/// the driver. The holder gives the lock back only when its call has returned.
fn callback_needs_lock(wait: fn(&Cuda, u64)) {
    in_child(|| {
        // Ends this child alone, and only if it hangs.
        // SAFETY: sets a timer of this process.
        unsafe { alarm(120) };
        let cuda = Cuda::up();
        let data = cuda.alloc(64);
        let shared =
            Shared { lock: Mutex::new(()), stage: AtomicU32::new(0), called: AtomicU32::new(0) };
        let held = shared.lock.lock().expect("nobody has panicked");
        let argument = std::ptr::from_ref(&shared).cast_mut().cast();
        assert_eq!(cuda.cuLaunchHostFunc(0, take_the_lock, argument), 0);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let cuda = Cuda::up();
                wait(&cuda, data);
            });
            while shared.stage.load(Ordering::Acquire) == 0 {
                thread::yield_now();
            }
            let mut current = 0;
            assert_eq!(cuda.cuCtxGetCurrent(&mut current), 0);
            assert_eq!(shared.called.load(Ordering::Acquire), 0, "the callback has no lock yet");
            drop(held);
            waiting.join().expect("the waiting thread");
            while shared.called.load(Ordering::Acquire) == 0 {
                thread::yield_now();
            }
        });
        assert_eq!(shared.called.load(Ordering::Acquire), 1);
    });
}

#[rstest]
#[case::stream(|cuda: &Cuda, _: u64| assert_eq!(cuda.cuStreamSynchronize(0), 0))]
#[case::context(|cuda: &Cuda, _: u64| assert_eq!(cuda.cuCtxSynchronize(), 0))]
#[case::copy(|cuda: &Cuda, data: u64| _ = cuda.read(data, 64))]
#[case::free(|cuda: &Cuda, data: u64| assert_eq!(cuda.cuMemFree_v2(data), 0))]
fn a_callback_may_need_a_lock_whose_holder_calls_the_driver(#[case] wait: fn(&Cuda, u64)) {
    callback_needs_lock(wait);
}

/// The thread that nobody waits for runs the callback.
#[test]
fn a_callback_that_nobody_waits_for_may_need_a_lock_too() {
    callback_needs_lock(|_, _| {});
}
