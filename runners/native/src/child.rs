//! Inside the fork: the cases of one batch, in order, in this one process.

use std::io;

use allocert_suite::Side;
use allocert_suite::observation::Outcome;
use allocert_suite::operation::Operation;
use allocert_suite::plan::End;

use crate::outbox::Outbox;
use crate::protocol::{Case, Line, Run};
use crate::scene::Scene;
use crate::server::Server;

/// Exit code of a child that could not speak with the harness or had a defect of its own.
pub(crate) const LOST: i32 = 70;

/// Performs the batch; the exit code of the child, unless a case asked for an exit of its own.
pub(crate) fn run(server: &mut Server, run: &Run, pid: i32, outbox: &mut Outbox) -> i32 {
    match cases(server, run, pid, outbox) {
        Ok(()) => {
            flush_streams();
            0
        }
        Err(error) => {
            eprintln!("allocert worker: the child cannot go on: {error}");
            LOST
        }
    }
}

fn cases(server: &mut Server, run: &Run, pid: i32, outbox: &mut Outbox) -> io::Result<()> {
    outbox.push(&mut server.socket, &Line::Child { batch: run.batch, pid })?;
    for case in &run.cases {
        server.recorder.restart(&case.driver).map_err(io::Error::other)?;
        server.recorder.case_begin();
        outbox.push(&mut server.socket, &Line::Case { id: &case.id })?;
        outbox.flush(&mut server.socket)?;
        perform(server, case, outbox)?;
        outbox.push(&mut server.socket, &Line::Done { id: &case.id })?;
        outbox.flush(&mut server.socket)?;
        if case.ending == End::Exit {
            // As a program ends: exit handlers, then the destructors of every library.
            std::process::exit(0);
        }
    }
    Ok(())
}

fn perform(server: &mut Server, case: &Case, outbox: &mut Outbox) -> io::Result<()> {
    let subject = server.subject.as_deref().expect("the server runs no batch without a subject");
    let mut scene = Scene::new(subject, &server.recorder, server.driver);
    for step in &case.steps {
        let outcome = match case.operations {
            Side::Emm => server.recorder.step(step.index, || scene.perform_on_its_thread(step)),
            _ => unsupported(&step.r#do),
        };
        let line =
            Line::Step { index: step.index, outcome: &outcome, table_calls: subject.table_calls() };
        outbox.push(&mut server.socket, &line)?;
    }
    // What a case leaves alive stays as it is: neither released, nor unmapped under the subject's
    // feet.
    std::mem::forget(scene);
    Ok(())
}

/// The operation's name is the one key of its serialised form.
pub(crate) fn unsupported(operation: &Operation) -> Outcome {
    let text = serde_json::to_value(operation).ok();
    let name = text.as_ref().and_then(|value| value.as_object()?.keys().next().cloned());
    Outcome::Unsupported { operation: name.unwrap_or_default() }
}

/// What the subject printed with C streams would be lost with them.
fn flush_streams() {
    // SAFETY: NULL means all open output streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}
