//! Stream-ordered memory.

use allocert_contract::{DevicePtr, StreamHandle, trace::cuda::Misuse};
use allocert_driver::{CudaError, PoolAttribute, Result, Settings};

use crate::machine::Machine;

fn alloc(machine: &mut Machine, bytes: u64, stream: StreamHandle) -> DevicePtr {
    machine
        .call(|driver, caller| driver.alloc_async(caller, bytes, None, stream))
        .expect("allocated")
}

fn free(machine: &mut Machine, address: DevicePtr, stream: StreamHandle) -> Result {
    machine.call(|driver, caller| driver.free_async(caller, address, stream))
}

#[test]
fn freed_memory_is_reused_at_once_in_its_stream_and_not_in_another() {
    let mut machine = Machine::new();
    let (first, second) = (machine.stream(1), machine.stream(1));
    let freed = alloc(&mut machine, 100, first);
    free(&mut machine, freed, first).expect("freed");
    assert_ne!(alloc(&mut machine, 100, second), freed, "the free did not happen yet");
    assert_eq!(alloc(&mut machine, 100, first), freed);
}

#[test]
fn a_free_happens_when_its_stream_gets_there() {
    let mut machine = Machine::new();
    let (first, second) = (machine.stream(1), machine.stream(1));
    let freed = alloc(&mut machine, 100, first);
    free(&mut machine, freed, first).expect("freed");
    machine.synchronize(first);
    assert_eq!(alloc(&mut machine, 100, second), freed);
}

#[test]
fn a_pointer_is_dead_for_callers_once_it_is_given_to_a_free() {
    let mut machine = Machine::new();
    let stream = machine.stream(1);
    let freed = alloc(&mut machine, 100, stream);
    free(&mut machine, freed, stream).expect("freed");
    assert_eq!(free(&mut machine, freed, stream), Err(CudaError::INVALID_VALUE));
    assert_eq!(machine.free(freed), Err(CudaError::INVALID_VALUE));
}

#[test]
fn work_queued_elsewhere_that_runs_after_the_free_is_noticed() {
    let mut machine = Machine::new();
    let (owner, other) = (machine.stream(1), machine.stream(1));
    let data = alloc(&mut machine, 100, owner);
    machine.fill(data, 1, 100, other);
    free(&mut machine, data, owner).expect("freed");
    machine.synchronize(owner);
    machine.synchronize(other);
    assert_eq!(machine.driver.take_misuses(), [(Misuse::WorkAfterFree, [data.0, 100])]);
}

#[test]
fn a_full_device_finishes_pending_frees_before_it_gives_up() {
    let mut machine = Machine::with(Settings { memory_bytes: 8 << 20, ..Settings::default() });
    let (first, second) = (machine.stream(1), machine.stream(1));
    let all = alloc(&mut machine, 8 << 20, first);
    free(&mut machine, all, first).expect("freed");
    assert_eq!(alloc(&mut machine, 6 << 20, second), all);
}

#[test]
fn pools_count_what_is_used() {
    let mut machine = Machine::new();
    let stream = machine.stream(1);
    let pool = machine.driver.pool_create(0, 0, 0).expect("created");
    let data = machine
        .call(|driver, caller| driver.alloc_async(caller, 100, Some(pool), stream))
        .expect("allocated");
    assert_eq!(machine.driver.pool_attribute(pool, PoolAttribute::UsedCurrent), Ok(100));
    free(&mut machine, data, stream).expect("freed");
    assert_eq!(machine.driver.pool_attribute(pool, PoolAttribute::UsedCurrent), Ok(0));
    assert_eq!(machine.driver.pool_attribute(pool, PoolAttribute::UsedHigh), Ok(100));
    assert_eq!(machine.driver.pool_destroy(pool), Ok(()));
    assert_eq!(machine.driver.pool_destroy(pool), Err(CudaError::INVALID_VALUE));
}

#[test]
fn memory_that_is_taken_again_smaller_still_takes_the_work_before_its_free() {
    let mut machine = Machine::new();
    let stream = machine.stream(1);
    for (bytes, again) in [(512, 1), (1000, 513), (3 << 20, (3 << 20) - 511)] {
        let data = alloc(&mut machine, bytes, stream);
        machine.fill(data, 1, bytes, stream);
        free(&mut machine, data, stream).expect("freed");
        assert_eq!(alloc(&mut machine, again, stream), data);
        machine.fill(data, 2, again, stream);
        machine.synchronize(stream);
        assert_eq!(machine.driver.take_misuses(), []);
        assert_eq!(machine.read_device(data, again), vec![2; again as usize]);
        free(&mut machine, data, stream).expect("freed");
        machine.synchronize(stream);
    }
}

#[test]
fn memory_may_be_taken_again_smaller_and_larger_in_turn() {
    let mut machine = Machine::new();
    let stream = machine.stream(1);
    let data = alloc(&mut machine, 700, stream);
    for (value, bytes) in [(1, 600), (2, 1000), (3, 520), (4, 1024)] {
        free(&mut machine, data, stream).expect("freed");
        assert_eq!(alloc(&mut machine, bytes, stream), data);
        machine.fill(data, value, bytes, stream);
    }
    machine.synchronize(stream);
    assert_eq!(machine.driver.take_misuses(), []);
    assert_eq!(machine.read_device(data, 1024), [4; 1024]);
}

#[test]
fn a_queued_copy_reads_what_memory_held_before_it_was_taken_again() {
    let mut machine = Machine::new();
    let stream = machine.stream(1);
    let (data, copy) = (alloc(&mut machine, 1000, stream), alloc(&mut machine, 1000, stream));
    machine.fill(data, 1, 1000, stream);
    machine.synchronize(stream);
    machine.copy_async(copy.0, data.0, 1000, stream);
    free(&mut machine, data, stream).expect("freed");
    assert_eq!(alloc(&mut machine, 600, stream), data);
    machine.fill(data, 2, 600, stream);
    machine.synchronize(stream);
    assert_eq!(machine.driver.take_misuses(), []);
    assert_eq!(machine.read_device(copy, 1000), [1; 1000]);
    assert_eq!(machine.read_device(data, 600), [2; 600]);
}

#[test]
fn the_legacy_stream_takes_memory_again_behind_the_work_of_a_blocking_stream() {
    let mut machine = Machine::new();
    let stream = machine.stream(0);
    let data = alloc(&mut machine, 1000, stream);
    machine.fill(data, 1, 1000, stream);
    free(&mut machine, data, stream).expect("freed");
    assert_eq!(alloc(&mut machine, 600, StreamHandle::LEGACY), data);
    machine.fill(data, 2, 600, StreamHandle::LEGACY);
    assert_eq!(machine.read_device(data, 600), [2; 600]);
    assert_eq!(machine.driver.take_misuses(), []);
}

#[test]
fn memory_that_was_taken_again_and_freed_at_once_still_takes_the_work_before() {
    let mut machine = Machine::new();
    let (stream, other) = (machine.stream(1), machine.stream(1));
    let data = alloc(&mut machine, 1000, stream);
    machine.fill(data, 1, 1000, stream);
    free(&mut machine, data, stream).expect("freed");
    assert_eq!(alloc(&mut machine, 600, stream), data);
    machine.free(data).expect("freed");
    assert_eq!(machine.free(data), Err(CudaError::INVALID_VALUE));
    assert_ne!(alloc(&mut machine, 1000, other), data, "the stream did not get there yet");
    machine.synchronize(stream);
    assert_eq!(machine.driver.take_misuses(), []);
    assert_eq!(alloc(&mut machine, 1000, other), data);
}

#[test]
fn work_in_no_order_with_a_free_is_noticed_where_the_memory_was_taken_again() {
    for again in [1000, 600] {
        let mut machine = Machine::new();
        let (owner, other) = (machine.stream(1), machine.stream(1));
        let data = alloc(&mut machine, 1000, owner);
        machine.fill(data, 1, 1000, other);
        free(&mut machine, data, owner).expect("freed");
        assert_eq!(alloc(&mut machine, again, owner), data);
        machine.synchronize(owner);
        machine.synchronize(other);
        assert_eq!(machine.driver.take_misuses(), [(Misuse::WorkAfterFree, [data.0, 1000])]);
    }
}

#[test]
fn work_queued_before_memory_of_a_pool_is_freed_at_once_is_noticed() {
    for again in [1000, 600] {
        let mut machine = Machine::new();
        let stream = machine.stream(1);
        let data = alloc(&mut machine, 1000, stream);
        machine.fill(data, 1, 1000, stream);
        machine.free(data).expect("freed");
        assert_eq!(alloc(&mut machine, again, stream), data);
        machine.synchronize(stream);
        assert_eq!(machine.driver.take_misuses(), [(Misuse::WorkAfterFree, [data.0, 1000])]);
    }
}
