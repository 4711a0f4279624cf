//! One batch in one fork: started, drained, waited for.

use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, kill_process_group, pidfd_open,
    set_parent_process_death_signal, setpgid, waitpid,
};
use rustix::stdio::{dup2_stderr, dup2_stdout};

use crate::capture::Capture;
use crate::child;
use crate::child_signal::DefaultChildSignal;
use crate::error::WorkerError;
use crate::protocol::{Ended, Exit, Run};
use crate::shared_lines::SharedLines;
use crate::worker_state::WorkerState;

/// Set by the harness where a person debugs the worker.
const DEBUG: &str = "ALLOCERT_DEBUG";
/// `forward` where the recorder passes calls on to a genuine driver.
const MODE: &str = "ALLOCERT_MODE";

/// Whether batches run in forks.
pub(crate) fn forks() -> bool {
    std::env::var_os(DEBUG).is_none()
}

/// Runs the batch, in a fork unless a person debugs it.
pub(crate) fn run(session: &mut WorkerState, run: &Run) -> Result<Ended, WorkerError> {
    if forks() { run_in_fork(session, run) } else { run_here(session, run) }
}

/// Runs the batch in this process, which a debugger watches, and ends it.
fn run_here(session: &mut WorkerState, run: &Run) -> Result<Ended, WorkerError> {
    let mut lines = SharedLines::new(true).map_err(WorkerError::io("share memory with a child"))?;
    let code = in_child(session, run, &mut lines);
    // SAFETY: ends this process as the end of a fork would: without what is registered to run at
    // its exit.
    unsafe { libc::_exit(code) }
}

/// Ends this child when the server ends. A subject that ends its parent by signal would otherwise
/// get the next process up as its parent, which is the harness.
fn end_with_parent() {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

/// Runs the batch in a fork, drains what it prints and sends the lines that a crash left behind.
fn run_in_fork(session: &mut WorkerState, run: &Run) -> Result<Ended, WorkerError> {
    let mut lines =
        SharedLines::new(false).map_err(WorkerError::io("share memory with a child"))?;
    let (out_read, out_write) =
        pipe_with(PipeFlags::CLOEXEC).map_err(WorkerError::os("make a pipe"))?;
    let (err_read, err_write) =
        pipe_with(PipeFlags::CLOEXEC).map_err(WorkerError::os("make a pipe"))?;
    let child_signal = DefaultChildSignal::set();
    // SAFETY: the server has one thread. A subject whose library starts others while it is loaded
    // is loaded in the child alone.
    match unsafe { libc::fork() } {
        -1 => Err(WorkerError::io("fork a child")(std::io::Error::last_os_error())),
        0 => {
            drop((out_read, err_read, child_signal));
            end_with_parent();
            // What it prints now belongs to no case.
            let loaded = match run.cases.first() {
                Some(case) => session.load_in_child(&case.driver),
                None => Ok(()),
            };
            let redirected =
                setpgid(None, None).and(dup2_stdout(&out_write)).and(dup2_stderr(&err_write));
            drop((out_write, err_write));
            let code = match (loaded, redirected) {
                (Ok(()), Ok(())) => in_child(session, run, &mut lines),
                (Err(reason), _) => {
                    eprintln!("allocert worker: the child cannot load the subject: {reason}");
                    child::EXIT_WORKER_FAILED
                }
                (_, Err(_)) => child::EXIT_WORKER_FAILED,
            };
            // SAFETY: ends this fork without running what the server registered to run at its exit.
            unsafe { libc::_exit(code) }
        }
        pid => {
            drop((out_write, err_write));
            let pid = Pid::from_raw(pid).expect("fork returned a positive number");
            // Both sides do it, whoever comes first; it fails once the child did, which is as good.
            let _ = setpgid(Some(pid), Some(pid));
            let (mut out, mut err) =
                (Capture::new(nonblocking(out_read)?), Capture::new(nonblocking(err_read)?));
            let exit = wait(session, pid, &mut out, &mut err)?;
            lines.flush(&mut session.socket).map_err(WorkerError::io("write to the harness"))?;
            Ok(Ended { batch: run.batch, exit, stdout: out.finish(), stderr: err.finish() })
        }
    }
}

/// Whether a subject that the server has loaded initialized the driver. A child asks, so that the
/// software driver reads no settings in the server. A genuine driver answers the server itself: it
/// has no settings, and does not serve children.
pub(crate) fn has_initialized_driver(session: &WorkerState) -> Result<bool, WorkerError> {
    if std::env::var_os(MODE).is_some_and(|mode| mode == "forward") {
        return Ok(session.has_initialized_driver());
    }
    let failed = |error: Errno| WorkerError::os("ask a child about the driver")(error);
    let _child_signal = DefaultChildSignal::set();
    // SAFETY: the child makes one call of the driver and ends. The driver
    // takes its locks before the fork.
    match unsafe { libc::fork() } {
        -1 => Err(WorkerError::io("fork a child")(std::io::Error::last_os_error())),
        0 => {
            let initialized = session.has_initialized_driver();
            // SAFETY: ends this fork without running what the server registered for its exit.
            unsafe { libc::_exit(initialized.into()) }
        }
        pid => {
            let pid = Pid::from_raw(pid).expect("fork returned a positive number");
            let ended = waitpid(Some(pid), WaitOptions::empty()).map_err(failed)?;
            Ok(ended.and_then(|(_, status)| status.exit_status()) == Some(1))
        }
    }
}

/// Never unwinds into the server's loop, of which this process is a copy.
fn in_child(session: &mut WorkerState, run: &Run, lines: &mut SharedLines) -> i32 {
    let pid = getpid().as_raw_nonzero().get();
    catch_unwind(AssertUnwindSafe(|| child::run(session, run, pid, lines)))
        .unwrap_or(child::EXIT_WORKER_FAILED)
}

fn nonblocking(pipe: rustix::fd::OwnedFd) -> Result<rustix::fd::OwnedFd, WorkerError> {
    rustix::io::ioctl_fionbio(&pipe, true).map_err(WorkerError::os("set up a pipe"))?;
    Ok(pipe)
}

/// Drains both pipes until the child is gone, then ends what is left of its process group.
fn wait(
    session: &WorkerState,
    pid: Pid,
    out: &mut Capture,
    err: &mut Capture,
) -> Result<Exit, WorkerError> {
    let life = pidfd_open(pid, PidfdFlags::empty()).map_err(WorkerError::os("watch a child"))?;
    loop {
        let mut watched = Vec::with_capacity(4);
        watched.push(PollFd::new(&life, PollFlags::IN));
        // No flags asked for: only that the harness hung up.
        watched.push(PollFd::from_borrowed_fd(session.socket.as_fd(), PollFlags::empty()));
        for capture in [&*out, &*err].into_iter().filter(|capture| capture.open) {
            watched.push(PollFd::new(capture.pipe(), PollFlags::IN));
        }
        match poll(&mut watched, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(WorkerError::os("wait for a child")(errno)),
        }
        let gone = !watched[0].revents().is_empty();
        let abandoned = watched[1].revents().contains(PollFlags::HUP);
        drop(watched);
        out.drain();
        err.drain();
        if gone || abandoned {
            // Before the child is waited for, so that its number still names its group and nobody
            // else's.
            let _ = kill_process_group(pid, Signal::KILL);
            return reap(pid);
        }
    }
}

fn reap(pid: Pid) -> Result<Exit, WorkerError> {
    loop {
        match waitpid(Some(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => return Ok(exit(status)),
            Ok(None) | Err(Errno::INTR) => {}
            Err(errno) => return Err(WorkerError::os("wait for a child")(errno)),
        }
    }
}

fn exit(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(child::EXIT_WORKER_FAILED),
    }
}
