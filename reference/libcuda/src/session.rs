//! The state of the library: one session a process, and the state of each thread.

use std::{
    cell::RefCell,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use allocert_contract::trace::cuda::{Function, Misuse};
use allocert_driver::{
    AddressWindow, CudaError, Driver, HostFunction, NextHostFunction, Settings, Thread,
};
use allocert_recorder::{Origin, Ring, thread_id};

use crate::{
    address_window, callback, fork_handlers,
    host_memory::HostMemory,
    lock::{self, Guard, Lock},
    mode,
};

/// The process's driver and where its calls are recorded.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) driver: Driver,
    pub(crate) ring: Option<&'static Ring>,
    /// The environment could not be understood; `cuInit` fails.
    pub(crate) refused: bool,
    incarnation: u64,
    /// Calls of implemented functions so far.
    pub(crate) calls: u64,
}

static SESSION: Lock<Option<Session>> = Lock::new(None);
static HELD_FOR_FORK: AtomicBool = AtomicBool::new(false);

thread_local! {
    static THREAD: RefCell<Thread> = const { RefCell::new(Thread::new(0)) };
}

/// Runs `body` with the session and the calling thread's state, alone in the process.
/// Refuses calls from inside a stream callback, which CUDA does not permit.
#[inline]
pub(crate) fn with<R>(
    function: Function,
    body: impl FnOnce(&mut Session, &mut Thread) -> R,
) -> Result<R, CudaError> {
    let entered = THREAD.try_with(|cell| {
        let Ok(mut thread) = cell.try_borrow_mut() else { return Err(()) };
        if thread.id == 0 {
            thread.id = thread_id();
        }
        let mut guard = SESSION.lock();
        let session = match guard.as_mut() {
            Some(session) => session,
            None => guard.insert(Session::start()),
        };
        session.driver.adopt(&mut thread);
        Ok(body(session, &mut thread))
    });
    match entered {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(())) => Err(refuse_callback(function)),
        // The thread is being torn down: its contexts are gone.
        Err(_) => Err(CudaError::DEINITIALIZED),
    }
}

/// Runs the host function that a call waits for, or else the oldest, while other threads may call
/// the driver: the function may need a lock of the program whose holder is inside the driver.
/// Calls of this thread are refused meanwhile. Does not wait for the driver to be idle afterwards.
#[cold]
pub(crate) fn run_host_function() {
    // A thread that is being torn down has no calls left to refuse.
    THREAD.try_with(|cell| cell.try_borrow_mut().map(|_inside| run_next()).ok()).ok();
}

fn run_next() {
    let next = SESSION.lock().as_mut().map(|session| {
        let next = session.driver.next_host_function();
        (session.incarnation, next)
    });
    match next {
        Some((incarnation, NextHostFunction::Call(found))) => {
            let HostFunction { operation, function, stream, data } = found;
            callback::run(function, stream, data);
            let mut guard = SESSION.lock();
            // Not after a restart.
            if let Some(session) = guard.as_mut().filter(|now| now.incarnation == incarnation) {
                session.driver.end_host_function(operation);
            }
        }
        Some((_, NextHostFunction::IsRunning)) => nap(),
        Some((_, NextHostFunction::None)) | None => {}
    }
}

/// Waits a moment for a host function of another thread. For a thread that does not hold the
/// session.
#[cold]
pub(crate) fn nap() {
    thread::sleep(Duration::from_micros(50));
}

#[cold]
fn refuse_callback(function: Function) -> CudaError {
    if let Some(ring) = ring() {
        let function = function.into();
        let origin = Origin { function, thread: thread_id(), context: 0, per_thread: false };
        ring.misuse(origin, Misuse::CallInCallback, [0; 2]);
    }
    CudaError::NOT_PERMITTED
}

/// The trace, unless the library in front of this one writes it.
fn ring() -> Option<&'static Ring> {
    if mode::is_subordinate() { None } else { allocert_recorder::ring() }
}

/// The calling thread's current context; 0 for none, and inside a stream callback.
fn current_context() -> u64 {
    let current = THREAD.try_with(|cell| {
        let mut thread = cell.try_borrow_mut().ok()?;
        let guard = SESSION.lock();
        guard.as_ref()?.driver.adopt(&mut thread);
        Some(thread.current())
    });
    current.ok().flatten().unwrap_or(0)
}

impl Session {
    #[cold]
    fn start() -> Self {
        fork_handlers::register(hold_for_fork, release_after_fork, release_in_child);
        lock::watch_threads();
        let ring = ring();
        allocert_recorder::set_context_source(current_context);
        let mut refused = mode::is_invalid();
        let mut settings = Settings::from_variables(|name| std::env::var(name).ok())
            .unwrap_or_else(|error| {
                eprintln!("allocert: {error}");
                refused = true;
                Settings::default()
            });
        if mode::is_subordinate() {
            // The library in front of this one plans the faults of calls.
            settings.faults.forget_calls();
        }
        let window = address_window::reserve(&settings).unwrap_or_else(|| {
            eprintln!(
                "allocert: cannot reserve address space for device memory \
                 (ALLOCERT_MEMORY_BYTES={}); is `ulimit -v` set?",
                settings.memory_bytes
            );
            refused = true;
            AddressWindow {
                base: 0,
                bytes_per_device: AddressWindow::bytes_for(settings.memory_bytes),
            }
        });
        Self {
            driver: Driver::new(settings, window, Box::new(HostMemory), 1),
            ring,
            refused,
            incarnation: 1,
            calls: 0,
        }
    }

    /// A fresh driver with the same machine and no faults.
    pub(crate) fn restart(self) -> Self {
        let incarnation = self.incarnation + 1;
        let window = self.driver.window();
        let settings = Settings { faults: Default::default(), ..self.driver.settings().clone() };
        let driver = Driver::new(settings, window, self.driver.dismantle(), incarnation);
        Self { driver, ring: self.ring, refused: self.refused, incarnation, calls: self.calls }
    }
}

/// `cuInit` starts over: every object of the process's driver is gone.
pub(crate) fn restart() {
    let mut guard = SESSION.lock();
    if let Some(session) = guard.take() {
        *guard = Some(session.restart());
    }
}

/// Whether this thread is inside the driver, in a callback.
pub(crate) fn in_callback() -> bool {
    THREAD.try_with(|thread| thread.try_borrow_mut().is_err()).unwrap_or(true)
}

/// Before `fork`: no other thread is inside the driver. This one may be, in a callback.
unsafe extern "C" fn hold_for_fork() {
    if !callback::holds_lock() {
        std::mem::forget::<Guard<'_, _>>(SESSION.lock());
        HELD_FOR_FORK.store(true, Ordering::Relaxed);
    }
}

unsafe extern "C" fn release_after_fork() {
    if HELD_FOR_FORK.swap(false, Ordering::Relaxed) {
        // SAFETY: `hold_for_fork` took the lock on this thread, or on the one that it continues.
        unsafe { SESSION.release() };
    }
}

unsafe extern "C" fn release_in_child() {
    renumber_thread();
    // SAFETY: this thread continues the one that `hold_for_fork` ran on.
    unsafe { release_after_fork() };
    if !in_callback()
        && let Some(session) = SESSION.lock().as_mut()
    {
        session.driver.end_host_functions_of_others();
    }
}

/// In the child of `fork` this thread has a new number.
fn renumber_thread() {
    THREAD
        .try_with(|thread| {
            if let Ok(mut thread) = thread.try_borrow_mut() {
                thread.id = 0
            }
        })
        .ok();
}
