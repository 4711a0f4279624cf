//! Runs the host functions in streams that nobody waits for. A program may wait for one without
//! the driver, for example in a loop that reads a flag.
//!
//! All other work runs as late as possible, so these run late, too: when the process has not called
//! the driver for a while, or has asked several times whether work behind them is done, and in any
//! case after a longer while. All is counted in turns of a thread. On a busy machine this thread
//! gets its turns as rarely as the program does.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    thread::{self, Thread},
    time::Duration,
};

use allocert_contract::trace::cuda::Function;

use crate::{
    lock::Lock,
    session::{self, Session},
};

const TURN: Duration = Duration::from_millis(10);
/// Turns without a call of the driver.
const IDLE_TURNS: u32 = 10;
const MOST_TURNS: u32 = 100;

/// The thread that watches. For threads that hold the session.
static WATCHER: Lock<Option<Thread>> = Lock::new(None);
/// The process whose host functions a thread watches; 0 for none. A child of `fork` does not have
/// its parent's threads.
static WATCHED_PROCESS: AtomicU32 = AtomicU32::new(0);

#[derive(Default)]
struct Watch {
    /// As counted by the session.
    calls: u64,
    idle_turns: u32,
    turns: u32,
}

/// Starts the thread, unless there is one. For the thread that holds the session.
pub(crate) fn watch() {
    let process = std::process::id();
    if WATCHED_PROCESS.swap(process, Ordering::Relaxed) == process {
        return;
    }
    let thread = thread::Builder::new().name("allocert-host".to_owned());
    match thread.spawn(run_when_idle) {
        Ok(started) => *WATCHER.lock() = Some(started.thread().clone()),
        Err(_) => WATCHED_PROCESS.store(0, Ordering::Relaxed),
    }
}

/// Lets the thread take its turn at once. For a thread that holds the session.
#[cold]
pub(crate) fn hurry() {
    if let Some(watcher) = &*WATCHER.lock() {
        watcher.unpark();
    }
}

fn run_when_idle() {
    let mut watch = Watch::default();
    let mut watched = true;
    while watched {
        thread::park_timeout(TURN);
        let turn = session::with(Function::cuLaunchHostFunc, |session, _| watch.turn(session));
        watched = turn.unwrap_or(Turn::Last) != Turn::Last;
        if turn == Ok(Turn::Due) {
            session::run_host_function();
        }
    }
}

/// What a turn of the thread finds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Nothing is left to watch.
    Last,
    Early,
    /// The host functions have waited long enough.
    Due,
}

impl Watch {
    fn turn(&mut self, session: &mut Session) -> Turn {
        if !session.driver.has_host_functions() {
            WATCHED_PROCESS.store(0, Ordering::Relaxed);
            return Turn::Last;
        }
        self.turns += 1;
        self.idle_turns = if self.calls == session.calls { self.idle_turns + 1 } else { 0 };
        self.calls = session.calls;
        if session.driver.awaits_host_function()
            || self.idle_turns >= IDLE_TURNS
            || self.turns >= MOST_TURNS
        {
            // This thread makes no call, so the count of idle turns goes on until all have run.
            self.turns = MOST_TURNS;
            return Turn::Due;
        }
        Turn::Early
    }
}
