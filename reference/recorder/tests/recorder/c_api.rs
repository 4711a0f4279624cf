//! What a worker writes through the C functions.

use std::ffi::{CStr, c_char};

use allocert_contract::trace::{Boundary, Event, Marker, What};
use allocert_recorder::c_api::{
    UNKNOWN_FUNCTION, allocert_trace_call_begin, allocert_trace_call_end, allocert_trace_function,
    allocert_trace_inputs, allocert_trace_marker, allocert_trace_outputs,
};

use crate::worker_process::record;

/// How many records the ring of `end_an_overwritten_call` has room for.
const CAPACITY: u64 = 4;

fn code(name: &CStr) -> u32 {
    // SAFETY: NUL-terminated.
    unsafe { allocert_trace_function(name.as_ptr()) }
}

fn begin(code: u32, inputs: &[u64]) -> u64 {
    // SAFETY: a slice and its length.
    unsafe { allocert_trace_call_begin(code, inputs.as_ptr(), inputs.len()) }
}

fn end(call: u64, result: i32, outputs: &[u64]) {
    // SAFETY: a slice and its length.
    unsafe { allocert_trace_call_end(call, result, outputs.as_ptr(), outputs.len()) }
}

fn text(text: *const c_char) -> Option<&'static str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not null, so it is a NUL-terminated text that lives as long as the process.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

#[test]
fn functions_are_found_by_their_name_and_boundary() {
    let memalloc = code(c"plugin.memalloc");
    assert_eq!(text(allocert_trace_inputs(memalloc)), Some("number manager size_bytes"));
    assert_eq!(text(allocert_trace_outputs(memalloc)), Some("pointer"));
    assert_eq!(text(allocert_trace_outputs(code(c"plugin.reset"))), Some(""));
    assert_eq!(text(allocert_trace_inputs(code(c"place.alloc"))), Some("kind device size_bytes"));
    for name in [c"memalloc", c"plugin.cuMemAlloc_v2", c"cuMemAlloc_v2", c"cuda.cuMemAlloc_v2"] {
        assert_eq!(code(name), UNKNOWN_FUNCTION, "{name:?}");
    }
    assert_eq!(text(allocert_trace_inputs(UNKNOWN_FUNCTION)), None);
    // SAFETY: null is allowed.
    assert_eq!(unsafe { allocert_trace_function(std::ptr::null()) }, UNKNOWN_FUNCTION);
}

#[test]
fn calls_keep_what_a_record_has_room_for() {
    let events = record("calls", 64);
    let [marker, memalloc, raised] = &events[..] else { panic!("three records: {events:?}") };
    assert_eq!(marker.what, What::Marker(Marker::HarnessBegin));
    let memalloc = call(memalloc);
    assert_eq!(memalloc.function.boundary(), Boundary::Plugin);
    assert_eq!(memalloc.args, [1, 2, 64, 4, 5, 6, 7, 8], "the ninth is dropped");
    assert_eq!((memalloc.output("pointer"), memalloc.out), (Some(0x1000), [0x1000, 2, 3]));
    let raised = call(raised);
    assert_eq!((raised.result, raised.output("pointer")), (Some(1), None));
}

fn call(event: &Event) -> &allocert_contract::trace::Call {
    match &event.what {
        What::Call(call) => call,
        other => panic!("not a call: {other:?}"),
    }
}

pub(crate) fn record_calls() {
    let memalloc = code(c"plugin.memalloc");
    assert_eq!(allocert_trace_marker(3, 0), 0);
    assert_eq!(allocert_trace_marker(99, 0), 1, "no such kind");
    let call = begin(memalloc, &[1, 2, 64, 4, 5, 6, 7, 8, 9]);
    end(call, 0, &[0x1000, 2, 3, 4]);
    end(begin(memalloc, &[2, 2, 64]), 1, &[]);
    assert_eq!(begin(UNKNOWN_FUNCTION, &[]), 0);
    assert_eq!(begin(0, &[]), 0, "a driver function");
    end(0, 0, &[]);
    end(u64::MAX, 0, &[]);
}

#[test]
fn the_end_of_an_overwritten_call_changes_nothing() {
    let events = record("overwritten", CAPACITY);
    assert_eq!(events.len() as u64, CAPACITY);
    let untouched = What::Marker(Marker::HarnessEnd);
    assert!(events.iter().all(|event| event.what == untouched), "{events:?}");
}

pub(crate) fn end_an_overwritten_call() {
    let call = begin(code(c"plugin.reset"), &[1, 1]);
    (0..CAPACITY).for_each(|_| assert_eq!(allocert_trace_marker(4, 0), 0));
    end(call, 1, &[9, 9, 9]);
}
