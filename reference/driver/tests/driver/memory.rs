//! Device and host memory.

use allocert_contract::{
    DevicePtr, StreamHandle,
    trace::cuda::{Function, Misuse},
};
use allocert_driver::{AttributeValue, CudaError, Settings, UNINITIALISED};

use crate::machine::{Machine, PAGEABLE};

#[test]
fn unwritten_memory_reads_as_the_pattern_also_after_reuse() {
    let mut machine = Machine::new();
    let first = machine.alloc(4);
    assert_eq!(machine.read_device(first, 4), [UNINITIALISED; 4]);
    machine.fill(first, 1, 4, StreamHandle::LEGACY);
    machine.free(first).expect("freed");
    let second = machine.alloc(4);
    assert_eq!(second, first, "last in, first out");
    assert_eq!(machine.read_device(second, 4), [UNINITIALISED; 4]);
}

#[test]
fn copies_must_stay_inside_one_allocation() {
    let mut machine = Machine::new();
    let data = machine.alloc(10);
    machine.alloc(4096);
    assert_eq!(machine.copy(data.0, PAGEABLE, 11), Err(CudaError::INVALID_VALUE));
    machine.free(data).expect("freed");
    assert_eq!(machine.copy(data.0, PAGEABLE, 1), Err(CudaError::INVALID_VALUE));
}

#[test]
fn devices_have_their_own_memory_and_addresses() {
    let mut machine =
        Machine::with(Settings { devices: 2, memory_bytes: 8 << 20, ..Settings::default() });
    let on_first = machine.alloc(8 << 20);
    assert_eq!(
        machine.call(|driver, caller| driver.alloc(caller, 1)),
        Err(CudaError::OUT_OF_MEMORY)
    );
    machine.retain(1);
    let on_second = machine.alloc(8 << 20);
    let ordinal = |machine: &mut Machine, address: DevicePtr| {
        machine.call(|driver, caller| driver.pointer_attribute(caller, 9, address.0).1)
    };
    assert_eq!(ordinal(&mut machine, on_first), Some(AttributeValue::Narrow(0)));
    assert_eq!(ordinal(&mut machine, on_second), Some(AttributeValue::Narrow(1)));
    machine.free(on_first).expect("any thread may free it");
}

#[test]
fn a_copy_between_devices_is_work_of_both() {
    let mut machine = Machine::with(Settings { devices: 2, ..Settings::default() });
    let near = machine.alloc(16);
    machine.retain(1);
    let far = machine.alloc(16);
    machine.fill(far, 7, 16, StreamHandle::LEGACY);
    machine.retain(0);
    machine.copy(near.0, far.0, 16).expect("queued behind the fill");
    machine.free(far).expect("freed after the copy");
    assert_eq!(machine.read_device(near, 16), [7; 16]);
    assert_eq!(machine.driver.take_misuses(), []);
}

#[test]
fn work_on_host_memory_that_another_context_freed_is_a_misuse() {
    let mut machine = Machine::new();
    let first = machine.context;
    let stream = machine.stream(1);
    let data = machine.alloc(16);
    machine.call(|driver, caller| driver.context_create(caller, 0, 0)).expect("made and current");
    let pinned = machine.pinned(16);
    machine.copy_async(data.0, pinned, 16, stream);
    machine
        .call(|driver, caller| driver.host_free(caller, pinned))
        .expect("freed without waiting for the other context");
    machine.call(|driver, caller| driver.context_set(caller, first)).expect("current");
    machine.synchronize(stream);
    assert_eq!(machine.driver.take_misuses(), [(Misuse::WorkAfterFree, [pinned, 16])]);
    assert_eq!(machine.read_device(data, 1), [UNINITIALISED]);
}

#[test]
fn the_end_of_a_large_copy_from_pageable_memory_arrives_late() {
    let mut machine = Machine::new();
    let reader = machine.stream(1);
    let seen = machine.pinned(2);
    for (bytes, last) in [((64 << 10) - 4, 9), (64 << 10, 0), (1 << 20, 0)] {
        let data = machine.alloc(bytes);
        machine.fill(data, 0, bytes, StreamHandle::LEGACY);
        machine.write_host(PAGEABLE, &vec![9; bytes as usize]);
        machine.copy(data.0, PAGEABLE, bytes).expect("copied");
        machine.copy_async(seen, data.0, 1, reader);
        machine.copy_async(seen + 1, data.0 + bytes - 1, 1, reader);
        machine.synchronize(reader);
        assert_eq!(machine.read_host(seen, 2), [9, last], "{bytes} bytes");
        machine.synchronize(StreamHandle::LEGACY);
        machine.copy_async(seen + 1, data.0 + bytes - 1, 1, reader);
        machine.synchronize(reader);
        assert_eq!(machine.read_host(seen + 1, 1), [9], "{bytes} bytes, after waiting");
    }
}

#[test]
fn registered_memory_is_known_until_it_is_unregistered() {
    let mut machine = Machine::new();
    let register = |machine: &mut Machine| {
        machine.call(|driver, caller| driver.host_register(caller, PAGEABLE, 64, 0))
    };
    assert_eq!(register(&mut machine), Ok(()));
    assert_eq!(register(&mut machine), Err(CudaError::HOST_MEMORY_ALREADY_REGISTERED));
    assert_eq!(
        machine.call(|driver, caller| driver.host_device_pointer(caller, PAGEABLE + 8, 0)),
        Ok(PAGEABLE + 8)
    );
    assert_eq!(machine.call(|driver, caller| driver.host_unregister(caller, PAGEABLE)), Ok(()));
    assert_eq!(
        machine.call(|driver, caller| driver.host_unregister(caller, PAGEABLE)),
        Err(CudaError::HOST_MEMORY_NOT_REGISTERED)
    );
}

#[test]
fn a_reset_returns_all_memory() {
    let mut machine = Machine::new();
    let before = machine.call(|driver, caller| driver.memory_info(caller));
    for bytes in [1, 600, 3 << 20] {
        machine.alloc(bytes);
    }
    machine.driver.primary_reset(0).expect("reset");
    assert_eq!(
        machine.call(|driver, caller| driver.alloc(caller, 1)),
        Err(CudaError::CONTEXT_IS_DESTROYED)
    );
    machine.retain(0);
    assert_eq!(machine.call(|driver, caller| driver.memory_info(caller)), before);
}

#[test]
fn an_injected_sticky_error_breaks_the_device() {
    let mut machine = Machine::new();
    machine.driver.faults().add(Function::cuMemAlloc_v2, 1, 1, CudaError::ILLEGAL_ADDRESS);
    let error =
        machine.driver.faults().on_call(Function::cuMemAlloc_v2).expect("the first call fails");
    machine.call(|driver, caller| driver.inject(caller, error));
    assert_eq!(
        machine.call(|driver, caller| driver.alloc(caller, 1)),
        Err(CudaError::ILLEGAL_ADDRESS)
    );
}
