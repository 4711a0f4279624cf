//! What lands in the ring.

use std::{
    fs::File,
    os::unix::{fs::FileExt, process::ExitStatusExt},
    process::Output,
};

use allocert_contract::trace::{
    Call, Event, Marker, What,
    cuda::{Function, Misuse},
    ring::{Header, read_records},
};

use crate::{child_process::run_task, library::Cuda};

fn record(task: &str) -> (Output, Vec<Event>) {
    record_with(task, &[])
}

pub(crate) fn record_with(task: &str, variables: &[(&str, &str)]) -> (Output, Vec<Event>) {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let header = Header::new(1024).expect("a power of two");
    file.as_file().set_len(header.file_bytes()).expect("room for it");
    file.as_file().write_all_at(&header.encode(), 0).expect("writable");
    let ours = ("ALLOCERT_TRACE", file.path().to_str().expect("a path of ours"));
    let output = run_task(task, &[&[ours], variables].concat());
    let ring = File::open(file.path()).expect("still there");
    let batch =
        read_records(|offset, into| ring.read_exact_at(into, offset), 0).expect("well formed");
    assert_eq!(batch.lost, 0);
    (output, batch.events)
}

pub(crate) fn call(event: &Event) -> Option<&Call> {
    if let What::Call(call) = &event.what { Some(call) } else { None }
}

#[test]
fn calls_markers_and_misuses_are_written_in_order() {
    let (_, events) = record("work");
    let begin = events
        .iter()
        .position(|event| event.what == What::Marker(Marker::StepBegin { step: 10 }))
        .expect("the first marker");
    let step = &events[begin..];
    let alloc = call(&step[1]).expect("the allocation");
    let data = alloc.output("dptr").expect("its result");
    assert_eq!(
        (alloc.function, alloc.arg("bytesize"), alloc.result),
        (Function::cuMemAlloc_v2.into(), Some(64), Some(0))
    );
    let frees: Vec<_> =
        step[2..4].iter().filter_map(call).map(|free| (free.arg("dptr"), free.result)).collect();
    assert_eq!(frees, [(Some(data), Some(0)), (Some(data), Some(1))]);
    assert_eq!(call(&step[4]).map(|query| query.result), Some(Some(400)));
    assert_eq!(
        step[5].what,
        What::Misuse {
            misuse: Misuse::UnknownStream,
            function: Function::cuStreamQuery,
            args: [0x1234, 0]
        }
    );
    assert_eq!(
        step[6].what,
        What::Unsupported { function: Function::cuGraphCreate, per_thread: false }
    );
    assert!(
        call(&step[7])
            .is_some_and(|fill| fill.per_thread && fill.function == Function::cuMemsetD8Async)
    );
    assert_eq!(step[8].what, What::Marker(Marker::StepEnd { step: 10 }));
    assert!(step.iter().all(|event| event.thread != 0 && event.process != 0));
    assert_ne!(step[1].context, 0);
}

#[test]
fn the_last_call_of_a_crashed_process_is_there_without_a_result() {
    let (output, events) = record("crash");
    assert_eq!(output.status.signal(), Some(11), "{output:?}");
    let last = events.last().and_then(call).expect("a call");
    assert_eq!((last.function, last.result), (Function::cuMemcpyDtoH_v2.into(), None));
    assert_eq!(last.arg("dst_host"), Some(16));
}

#[test]
fn a_worker_records_a_call_into_a_plugin_among_driver_calls() {
    let (_, events) = record("plugin");
    let [.., plugin, alloc] = &events[..] else { panic!("{events:?}") };
    let (into_plugin, inside) = (call(plugin).expect("a call"), call(alloc).expect("a call"));
    assert_eq!(into_plugin.function.to_string(), "plugin.memalloc");
    assert_eq!((into_plugin.arg("size_bytes"), into_plugin.result), (Some(64), Some(0)));
    assert_eq!(into_plugin.output("pointer"), inside.output("dptr"));
    assert_ne!(plugin.context, 0);
    assert_eq!((plugin.context, plugin.thread), (alloc.context, alloc.thread));
}

/// Plays a plugin that is asked for 64 bytes.
pub(crate) fn call_a_plugin() {
    let cuda = Cuda::up();
    let call = cuda.begin_call(c"plugin.memalloc", &[1, 1, 64]);
    let pointer = cuda.alloc(64);
    cuda.end_call(call, 0, &[pointer]);
}
