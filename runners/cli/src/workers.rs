//! The workers of this program, and the signals that stop them.

use std::path::PathBuf;
use std::process;
use std::time::{Duration, Instant};
use std::{env, thread};

use allocert_campaign::{Failure, Workers};
use allocert_harness::Interrupt;
use allocert_suite::exit::Exit;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// Signals that come this close together are one wish to stop.
const SAME_WISH: Duration = Duration::from_millis(500);
/// Names the interpreter that started this program, where one did.
const PYTHON: &str = "ALLOCERT_PYTHON";

/// This program is its own native worker. Python subjects run in the interpreter that is named, or
/// that started this program, or `python3`.
pub(crate) fn new(interpreter: Option<PathBuf>) -> Result<Workers, Failure> {
    with(interpreter, stop_on_signals()?)
}

/// As [`new`]; Ctrl-C is for the debugger.
pub(crate) fn for_debugger(interpreter: Option<PathBuf>) -> Result<Workers, Failure> {
    signal_hook::flag::register(SIGINT, Interrupt::default().flag()).map_err(no_signals)?;
    with(interpreter, Interrupt::default())
}

fn with(interpreter: Option<PathBuf>, interrupt: Interrupt) -> Result<Workers, Failure> {
    let program = env::current_exe()
        .map_err(|error| Failure::harness(format!("cannot find this program: {error}")))?;
    let started = || env::var_os(PYTHON).map(PathBuf::from);
    let interpreter = interpreter.or_else(started).unwrap_or_else(|| PathBuf::from("python3"));
    Ok(Workers { program, interpreter, interrupt })
}

/// The first Ctrl-C ends the run in order, a later one ends this program at once. What comes
/// together with the first is the same wish: `timeout` and terminals send it to a program and to
/// its group.
fn stop_on_signals() -> Result<Interrupt, Failure> {
    let interrupt = Interrupt::default();
    // A write beyond `ulimit -f` is then an error that is told, not the end of this program with
    // its files left behind.
    signal_hook::flag::register(SIGXFSZ, Interrupt::default().flag()).map_err(no_signals)?;
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(no_signals)?;
    let wish = interrupt.clone();
    thread::spawn(move || {
        let mut first: Option<Instant> = None;
        for _ in signals.forever() {
            wish.raise();
            if first.get_or_insert_with(Instant::now).elapsed() > SAME_WISH {
                process::exit(Exit::Harness as i32);
            }
        }
    });
    Ok(interrupt)
}

fn no_signals(error: std::io::Error) -> Failure {
    Failure::harness(format!("cannot listen for signals: {error}"))
}
