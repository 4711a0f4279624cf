//! Order between streams. A missing wait must show in the data, every time; a present one must
//! never.

use allocert_contract::{DevicePtr, StreamHandle, trace::cuda::Misuse};
use allocert_driver::{
    Arguments, CopyRequest, CudaError, Direction, Extent, Kernels, Launch, NextHostFunction, Plane,
};
use rstest::rstest;

use crate::machine::{Machine, PAGEABLE};

#[derive(Clone, Copy, Debug)]
enum Kind {
    Legacy,
    PerThread,
    Blocking,
    NonBlocking,
}

/// What happens between the producer's write and the consumer's read.
#[derive(Clone, Copy, Debug)]
enum Between {
    Nothing,
    EventWait,
    /// The event is recorded before the write.
    EarlyEventWait,
    StreamSynchronize,
    EventSynchronize,
    ContextSynchronize,
    LegacySynchronize,
    /// Synchronizes with the consumer.
    WrongSynchronize,
    Free,
    FreeHost,
    /// A blocking copy of other memory.
    Copy,
}

fn stream(machine: &mut Machine, kind: Kind) -> StreamHandle {
    match kind {
        Kind::Legacy => StreamHandle::LEGACY,
        Kind::PerThread => StreamHandle::PER_THREAD,
        Kind::Blocking => machine.stream(0),
        Kind::NonBlocking => machine.stream(1),
    }
}

#[rstest]
#[case(Kind::NonBlocking, Kind::NonBlocking, Between::Nothing, false)]
#[case(Kind::Blocking, Kind::Blocking, Between::Nothing, false)]
#[case(Kind::PerThread, Kind::Blocking, Between::Nothing, false)]
#[case(Kind::Legacy, Kind::NonBlocking, Between::Nothing, false)]
#[case(Kind::NonBlocking, Kind::Legacy, Between::Nothing, false)]
#[case(Kind::Legacy, Kind::Blocking, Between::Nothing, true)]
#[case(Kind::Blocking, Kind::Legacy, Between::Nothing, true)]
#[case(Kind::Legacy, Kind::PerThread, Between::Nothing, true)]
#[case(Kind::PerThread, Kind::Legacy, Between::Nothing, true)]
#[case(Kind::NonBlocking, Kind::NonBlocking, Between::EventWait, true)]
#[case(Kind::NonBlocking, Kind::NonBlocking, Between::EarlyEventWait, false)]
#[case(Kind::NonBlocking, Kind::NonBlocking, Between::StreamSynchronize, true)]
#[case(Kind::NonBlocking, Kind::NonBlocking, Between::EventSynchronize, true)]
#[case(Kind::NonBlocking, Kind::NonBlocking, Between::ContextSynchronize, true)]
#[case(Kind::NonBlocking, Kind::NonBlocking, Between::WrongSynchronize, false)]
#[case(Kind::Blocking, Kind::NonBlocking, Between::LegacySynchronize, true)]
#[case(Kind::NonBlocking, Kind::NonBlocking, Between::LegacySynchronize, false)]
#[case(Kind::NonBlocking, Kind::NonBlocking, Between::Free, true)]
#[case(Kind::NonBlocking, Kind::NonBlocking, Between::FreeHost, true)]
#[case(Kind::Blocking, Kind::NonBlocking, Between::Copy, true)]
#[case(Kind::NonBlocking, Kind::NonBlocking, Between::Copy, false)]
fn a_read_sees_a_write_only_if_something_orders_them(
    #[case] producer: Kind,
    #[case] consumer: Kind,
    #[case] between: Between,
    #[case] fresh: bool,
) {
    let mut machine = Machine::new();
    let (producer, consumer) = (stream(&mut machine, producer), stream(&mut machine, consumer));
    let (data, other, seen) = (machine.alloc(4), machine.alloc(4), machine.pinned(4));
    machine.fill(data, 1, 4, producer);
    machine.synchronize(producer);
    let early = machine.record(producer);
    machine.fill(data, 2, 4, producer);
    order(&mut machine, between, producer, consumer, early, other);
    machine.copy_async(seen, data.0, 4, consumer);
    machine.synchronize(consumer);
    assert_eq!(machine.read_host(seen, 4), [if fresh { 2 } else { 1 }; 4]);
}

fn order(
    machine: &mut Machine,
    between: Between,
    producer: StreamHandle,
    consumer: StreamHandle,
    early: u64,
    other: DevicePtr,
) {
    match between {
        Between::Nothing => {}
        Between::EventWait => {
            let event = machine.record(producer);
            machine.wait(consumer, event);
        }
        Between::EarlyEventWait => machine.wait(consumer, early),
        Between::StreamSynchronize => machine.synchronize(producer),
        Between::EventSynchronize => {
            let event = machine.record(producer);
            machine.driver.event_synchronize(event).expect("synchronized");
        }
        Between::ContextSynchronize => machine
            .call(|driver, caller| driver.context_synchronize(caller, 0))
            .expect("synchronized"),
        Between::LegacySynchronize => machine.synchronize(StreamHandle::LEGACY),
        Between::WrongSynchronize => machine.synchronize(consumer),
        Between::Free => machine.free(other).expect("freed"),
        Between::FreeHost => {
            let pinned = machine.pinned(8);
            machine.call(|driver, caller| driver.host_free(caller, pinned)).expect("freed");
        }
        Between::Copy => drop(machine.read_device(other, 4)),
    }
}

#[test]
fn a_wait_captures_the_event_as_it_was_when_queued() {
    let mut machine = Machine::new();
    let (producer, consumer) = (machine.stream(1), machine.stream(1));
    let (data, seen) = (machine.alloc(1), machine.pinned(1));
    machine.fill(data, 1, 1, producer);
    let event = machine.record(producer);
    machine.wait(consumer, event);
    machine.fill(data, 2, 1, producer);
    machine
        .call(|driver, caller| driver.event_record(caller, event, producer))
        .expect("recorded again");
    machine.copy_async(seen, data.0, 1, consumer);
    machine.synchronize(consumer);
    assert_eq!(machine.read_host(seen, 1), [1], "the second record came after the wait");
}

#[rstest]
#[case::once(false, 2)]
#[case::and_again_on_another_stream(true, 1)]
fn a_wait_is_for_the_last_record_alone(#[case] again: bool, #[case] expected: u8) {
    let mut machine = Machine::new();
    let [producer, consumer, other] = [0; 3].map(|_| machine.stream(1));
    let (data, seen) = (machine.alloc(1), machine.pinned(1));
    machine.fill(data, 1, 1, producer);
    machine.synchronize(producer);
    machine.fill(data, 2, 1, producer);
    let event = machine.record(producer);
    if again {
        machine
            .call(|driver, caller| driver.event_record(caller, event, other))
            .expect("recorded again");
    }
    machine.wait(consumer, event);
    machine.copy_async(seen, data.0, 1, consumer);
    machine.synchronize(consumer);
    assert_eq!(machine.read_host(seen, 1), [expected]);
}

#[test]
fn pageable_sources_are_read_at_once_and_pinned_ones_when_the_copy_runs() {
    let mut machine = Machine::new();
    let stream = machine.stream(1);
    let (staged, late, pinned) = (machine.alloc(1), machine.alloc(1), machine.pinned(1));
    machine.write_host(PAGEABLE, &[1]);
    machine.write_host(pinned, &[1]);
    machine.copy_async(staged.0, PAGEABLE, 1, stream);
    machine.copy_async(late.0, pinned, 1, stream);
    machine.write_host(PAGEABLE, &[2]);
    machine.write_host(pinned, &[2]);
    machine.synchronize(stream);
    assert_eq!([machine.read_device(staged, 1), machine.read_device(late, 1)], [[1], [2]]);
}

#[test]
fn an_asynchronous_copy_to_pageable_memory_waits() {
    let mut machine = Machine::new();
    let stream = machine.stream(1);
    let data = machine.alloc(1);
    machine.fill(data, 5, 1, stream);
    machine.copy_async(PAGEABLE, data.0, 1, stream);
    assert_eq!(machine.read_host(PAGEABLE, 1), [5]);
}

#[test]
fn work_of_a_destroyed_stream_still_counts() {
    let mut machine = Machine::new();
    let stream = machine.stream(0);
    let data = machine.alloc(1);
    machine.fill(data, 5, 1, stream);
    machine.call(|driver, caller| driver.stream_destroy(caller, stream)).expect("destroyed");
    assert_eq!(machine.read_device(data, 1), [5], "the legacy stream waits for it");
    let again = machine.call(|driver, caller| driver.stream_synchronize(caller, stream));
    assert_eq!(again, Err(CudaError::INVALID_HANDLE));
    assert_eq!(machine.driver.take_misuses(), [(Misuse::DestroyedStream, [stream.0, 0])]);
}

#[test]
fn polling_alone_gets_there_in_the_end() {
    let mut machine = Machine::new();
    let stream = machine.stream(1);
    let data = machine.alloc(1);
    machine.fill(data, 5, 1, stream);
    let queries: Vec<_> = (0..5)
        .map(|_| machine.call(|driver, caller| driver.stream_query(caller, stream)))
        .collect();
    assert_eq!(queries[0], Err(CudaError::NOT_READY));
    assert_eq!(queries[4], Ok(()));
}

#[test]
fn a_stream_holds_a_bounded_amount_of_work() {
    let mut machine = Machine::new();
    let stream = machine.stream(1);
    let (data, seen) = (machine.alloc(1), machine.pinned(1));
    machine.fill(data, 9, 1, stream);
    machine.copy_async(seen, data.0, 1, stream);
    for _ in 0..2000 {
        machine.fill(data, 1, 1, stream);
    }
    assert_eq!(machine.read_host(seen, 1), [9], "the oldest work ran without a wait");
}

#[test]
fn event_times_follow_the_order_of_work() {
    let mut machine = Machine::new();
    let stream = machine.stream(1);
    let data = machine.alloc(1);
    let start = machine.record(stream);
    machine.fill(data, 9, 1, stream);
    let end = machine.record(stream);
    assert_eq!(machine.driver.event_elapsed(start, end), Err(CudaError::NOT_READY));
    machine.driver.event_synchronize(end).expect("synchronized");
    assert!(machine.driver.event_elapsed(start, end).expect("both done") > 0.0);
    assert!(machine.driver.event_elapsed(end, start).expect("both done") < 0.0);
}

#[test]
fn host_functions_run_in_stream_order_and_not_before() {
    let mut machine = Machine::new();
    let stream = machine.stream(1);
    for function in [11, 12] {
        machine
            .call(|driver, caller| driver.stream_call(caller, stream, function, 0, false))
            .expect("queued");
    }
    let synchronized = machine.call(|driver, caller| driver.stream_synchronize(caller, stream));
    let first = Err(CudaError::HOST_FUNCTION_FIRST);
    assert_eq!(synchronized, first, "whoever holds the driver runs them");
    for function in [11, 12] {
        let next = machine.call(|driver, _| driver.next_host_function());
        let NextHostFunction::Call(found) = next else { panic!("{next:?}") };
        assert_eq!(found.function, function);
        let again = machine.call(|driver, caller| driver.stream_synchronize(caller, stream));
        assert_eq!(again, first, "another thread waits for it");
        let other = machine.call(|driver, _| driver.next_host_function());
        assert_eq!(other, NextHostFunction::IsRunning);
        machine.call(|driver, _| driver.end_host_function(found.operation));
    }
    machine.synchronize(stream);
    assert_eq!(machine.calls(), [], "not while the driver is held");
}

#[test]
fn no_query_waits_for_long_for_a_host_function() {
    let mut machine = Machine::new();
    let stream = machine.stream(1);
    let query =
        |machine: &mut Machine| machine.call(|driver, caller| driver.stream_query(caller, stream));
    machine
        .call(|driver, caller| driver.stream_call(caller, stream, 11, 0, false))
        .expect("queued");
    for _ in 0..3 {
        assert_eq!(query(&mut machine), Err(CudaError::NOT_READY));
    }
    assert_eq!(query(&mut machine), Err(CudaError::HOST_FUNCTION_SOON));
    assert!(machine.driver.awaits_host_function());
    let next = machine.call(|driver, _| driver.next_host_function());
    let NextHostFunction::Call(found) = next else { panic!("{next:?}") };
    let again =
        (0..100).map(|_| query(&mut machine)).find(|result| *result == Err(CudaError::NOT_READY));
    assert!(again.is_some(), "it may wait for the thread that asks");
    machine.call(|driver, _| driver.end_host_function(found.operation));
    assert_eq!(query(&mut machine), Ok(()));
}

#[test]
fn copies_of_rows_keep_what_lies_between() {
    let mut machine = Machine::new();
    let data = machine.alloc(32);
    machine.fill(data, 0, 32, StreamHandle::LEGACY);
    machine.write_host(PAGEABLE, &[1, 2, 3, 4, 5, 6]);
    let to = Plane { pitch: 8, ..Plane::row(data.0) };
    let from = Plane { pitch: 3, ..Plane::row(PAGEABLE) };
    let extent = Extent { width: 2, rows: 2, slices: 1 };
    let copy = CopyRequest { to, from, extent, direction: Direction::Any };
    machine.call(|driver, caller| driver.copy(caller, &copy)).expect("copied");
    assert_eq!(machine.read_device(data, 12), [1, 2, 0, 0, 0, 0, 0, 0, 4, 5, 0, 0]);
}

#[test]
fn copies_of_slices_keep_what_lies_between() {
    let mut machine = Machine::new();
    let data = machine.alloc(64);
    machine.fill(data, 0, 64, StreamHandle::LEGACY);
    machine.write_host(PAGEABLE, &[1, 2, 3, 4]);
    let to = Plane { address: data.0, pitch: 4, slice_pitch: 16 };
    let from = Plane { address: PAGEABLE, pitch: 1, slice_pitch: 2 };
    let extent = Extent { width: 1, rows: 2, slices: 2 };
    let copy = CopyRequest { to, from, extent, direction: Direction::Any };
    machine.call(|driver, caller| driver.copy(caller, &copy)).expect("copied");
    let found = machine.read_device(data, 21);
    let written: Vec<_> = (0..21).filter(|at| found[*at] != 0).map(|at| (at, found[at])).collect();
    assert_eq!(written, [(0, 1), (4, 2), (16, 3), (20, 4)]);
}

#[test]
fn a_faulting_kernel_breaks_the_device_when_it_runs() {
    let faults = allocert_driver::FaultPlan::parse("kernel:bad=700").expect("well formed");
    let mut machine = Machine::with(allocert_driver::Settings { faults, ..Default::default() });
    let module = machine
        .call(|driver, caller| driver.module_load(caller, Some(Kernels::of_ptx(".entry bad() {}"))))
        .expect("loaded");
    assert_eq!(machine.driver.image_function(module, "worse"), Err(CudaError::NOT_FOUND));
    let bad = machine.driver.image_function(module, "bad").expect("defined");
    let launch = Launch {
        function: bad,
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
        arguments: Arguments::None,
        is_cooperative: false,
    };
    machine
        .call(|driver, caller| driver.launch(caller, &launch, StreamHandle::LEGACY))
        .expect("queued");
    assert!(machine.call(|driver, caller| driver.alloc(caller, 1)).is_ok(), "not yet");
    assert_eq!(
        machine.call(|driver, caller| driver.context_synchronize(caller, 0)),
        Err(CudaError::ILLEGAL_ADDRESS)
    );
    assert_eq!(
        machine.call(|driver, caller| driver.alloc(caller, 1)),
        Err(CudaError::ILLEGAL_ADDRESS)
    );
}
