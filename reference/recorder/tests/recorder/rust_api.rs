//! What a worker in Rust writes.

use allocert_contract::trace::{Call, Event, Function, Marker, What, handler, place};
use allocert_recorder::{begin_call, marker, set_context_source};

use crate::worker_process::{record, run};

const MALLOC: Function = Function::Handler(handler::Function::Malloc);
const FREE: Function = Function::Handler(handler::Function::Free);
const USED: Function = Function::Place(place::Function::Used);

fn call(event: &Event) -> &Call {
    match &event.what {
        What::Call(call) => call,
        other => panic!("not a call: {other:?}"),
    }
}

#[test]
fn markers_and_calls_are_written_in_order() {
    let events = record("steps", 64);
    let markers: Vec<_> = events.iter().map(|event| &event.what).collect();
    assert_eq!(markers[0], &What::Marker(Marker::CaseBegin));
    assert_eq!(markers[1], &What::Marker(Marker::StepBegin { step: 7 }));
    assert_eq!(markers[5], &What::Marker(Marker::StepEnd { step: 7 }));
    let malloc = call(&events[2]);
    assert_eq!((malloc.function, malloc.result), (MALLOC, Some(0)));
    assert_eq!((malloc.arg("size"), malloc.output("ptr")), (Some(64), Some(0x1000)));
    let used = call(&events[3]);
    assert_eq!((used.function, used.result), (USED, Some(0)), "made while malloc had not returned");
    let free = call(&events[4]);
    assert_eq!((free.function, free.result), (FREE, None), "never returned");
    assert!(events.iter().all(|event| event.context == 0 && event.process != 0));
    assert!(events.iter().all(|event| event.thread == events[0].thread && event.thread != 0));
}

/// A case with one step: malloc, which asks how much is used, and a free that does not return.
pub(crate) fn perform_steps() {
    marker(Marker::CaseBegin);
    marker(Marker::StepBegin { step: 7 });
    let malloc = begin_call(MALLOC, &[0, 64]);
    begin_call(USED, &[0, 0]).end(0, &[128]);
    malloc.end(0, &[0x1000]);
    let _never_ended = begin_call(FREE, &[0, 0x1000, 64]);
    marker(Marker::StepEnd { step: 7 });
}

#[test]
fn a_child_of_fork_has_numbers_of_its_own() {
    let events = record("fork", 64);
    let [parent, child] = &events[..] else { panic!("two calls: {events:?}") };
    assert_ne!(child.process, parent.process);
    assert_ne!(child.thread, parent.thread);
    assert_eq!(child.thread, child.process, "the child's only thread");
}

pub(crate) fn fork_between_calls() {
    begin_call(USED, &[0, 0]).end(0, &[]);
    // SAFETY: the child calls nothing that another thread could have locked.
    match unsafe { libc::fork() } {
        0 => {
            begin_call(USED, &[0, 0]).end(0, &[]);
            // SAFETY: ends the child without the handlers of this test's process.
            unsafe { libc::_exit(0) }
        }
        child => {
            // SAFETY: the child just made; its status is of no interest.
            unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
        }
    }
}

#[test]
fn the_first_context_source_is_asked() {
    let events = record("context", 64);
    let contexts: Vec<_> = events.iter().map(|event| event.context).collect();
    assert_eq!(contexts, [0, 0xc0, 0xc0]);
}

pub(crate) fn name_a_context() {
    marker(Marker::CaseBegin);
    set_context_source(|| 0xc0);
    set_context_source(|| 0xbad);
    marker(Marker::StepBegin { step: 0 });
    begin_call(USED, &[0, 0]).end(0, &[]);
}

#[test]
fn a_process_without_a_usable_trace_goes_on() {
    for (trace, complaint) in [("", ""), ("/nonexistent/ring", "ALLOCERT_TRACE=/nonexistent/ring")]
    {
        let output = run("steps", trace);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        assert_eq!(
            errors.lines().count(),
            usize::from(!complaint.is_empty()),
            "said once: {errors}"
        );
        assert!(errors.contains(complaint), "{errors}");
    }
}
