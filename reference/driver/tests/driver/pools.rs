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
    let pool = machine.driver.pool_create(0).expect("created");
    let data = machine
        .call(|driver, caller| driver.alloc_async(caller, 100, Some(pool), stream))
        .expect("allocated");
    assert_eq!(machine.driver.pool_attribute(pool, PoolAttribute::UsedCurrent), Ok(512));
    free(&mut machine, data, stream).expect("freed");
    machine.synchronize(stream);
    assert_eq!(machine.driver.pool_attribute(pool, PoolAttribute::UsedCurrent), Ok(0));
    assert_eq!(machine.driver.pool_attribute(pool, PoolAttribute::UsedHigh), Ok(512));
    assert_eq!(machine.driver.pool_destroy(pool), Ok(()));
    assert_eq!(machine.driver.pool_destroy(pool), Err(CudaError::INVALID_VALUE));
}
