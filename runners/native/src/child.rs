//! Inside the fork: the cases of one batch, in order, in this one process.

use std::io;
use std::thread;

use allocert_suite::plan::ChildExit;

use crate::protocol::{Case, Line, Run};
use crate::shared_lines::SharedLines;
use crate::step_threads::{self, SharedRun, StepThreads};
use crate::worker_state::WorkerState;

/// Exit code of a child that could not speak with the harness or had a defect of its own.
pub(crate) const EXIT_WORKER_FAILED: i32 = 70;

/// Performs the batch; the exit code of the child, unless a case asked for an exit of its own.
pub(crate) fn run(session: &mut WorkerState, run: &Run, pid: i32, lines: &mut SharedLines) -> i32 {
    match cases(session, run, pid, lines) {
        Ok(()) => {
            flush_streams();
            0
        }
        Err(error) => {
            eprintln!("allocert worker: the child cannot go on: {error}");
            EXIT_WORKER_FAILED
        }
    }
}

fn cases(
    session: &mut WorkerState,
    run: &Run,
    pid: i32,
    lines: &mut SharedLines,
) -> io::Result<()> {
    lines.push(&mut session.socket, &Line::Child { batch: run.batch, pid })?;
    let begins_with_load = session.loaded_in_child.is_some();
    for (number, case) in run.cases.iter().enumerate() {
        if !(begins_with_load && number == 0) {
            if !session.keeps_driver {
                session.recorder.restart(&case.driver).map_err(io::Error::other)?;
            }
            session.recorder.case_begin();
        }
        lines.push(&mut session.socket, &Line::Case { id: &case.id })?;
        lines.flush(&mut session.socket)?;
        perform(session, case, lines)?;
        lines.push(&mut session.socket, &Line::Done { id: &case.id })?;
        lines.flush(&mut session.socket)?;
        if case.ending == ChildExit::Exit {
            // As a program ends: exit handlers, then the destructors of every library.
            std::process::exit(0);
        }
    }
    Ok(())
}

fn perform(session: &mut WorkerState, case: &Case, lines: &mut SharedLines) -> io::Result<()> {
    let subject = session.subject.as_deref().expect("the server runs no batch without a subject");
    let run = SharedRun::new(subject.begin(&session.recorder, session.driver));
    let performed = thread::scope(|scope| {
        let mut threads = StepThreads::new(scope, &run);
        for step in &case.steps {
            let outcome = session.recorder.step(step.index, || threads.perform(step));
            let table_calls = step_threads::lock(&run).table_calls();
            let line = Line::Step { index: step.index, outcome: &outcome, table_calls };
            lines.push(&mut session.socket, &line)?;
        }
        Ok(())
    });
    // What a case leaves alive stays as it is: neither released, nor unmapped while the
    // subject uses it.
    std::mem::forget(run);
    performed
}

/// What the subject printed with C streams would be lost with them.
fn flush_streams() {
    // SAFETY: NULL means all open output streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}
