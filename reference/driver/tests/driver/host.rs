//! Page-locked memory at its edges, as an H200 with driver 580.159.04 answers.

use allocert_driver::CudaError;
use rstest::rstest;

use crate::machine::Machine;

const BUFFER: u64 = 0x1000_0000;

#[test]
fn no_bytes_give_no_address_and_no_error() {
    let mut machine = Machine::new();
    assert_eq!(machine.call(|driver, caller| driver.host_alloc(caller, 0, 0)), Ok(0));
    assert_eq!(machine.call(|driver, caller| driver.host_free(caller, 0)), Ok(()));
}

#[test]
fn a_region_is_registered_once_and_unregistered_without_a_context() {
    let mut machine = Machine::new();
    let register = |machine: &mut Machine, bytes| {
        machine.call(|driver, caller| driver.host_register(caller, BUFFER, bytes, 0))
    };
    assert_eq!(register(&mut machine, 0), Err(CudaError::INVALID_VALUE));
    assert_eq!(register(&mut machine, 8192), Ok(()));
    assert_eq!(register(&mut machine, 8192), Err(CudaError::HOST_MEMORY_ALREADY_REGISTERED));
    machine.call(|driver, caller| driver.context_set(caller, 0)).expect("no context is current");
    let unregister = |machine: &mut Machine| {
        machine.call(|driver, caller| driver.host_unregister(caller, BUFFER))
    };
    assert_eq!(unregister(&mut machine), Ok(()));
    assert_eq!(unregister(&mut machine), Err(CudaError::HOST_MEMORY_NOT_REGISTERED));
}

#[test]
fn a_reset_context_still_tells_its_device_and_nothing_else() {
    let mut machine = Machine::new();
    machine.driver.primary_reset(0).expect("reset");
    assert_eq!(machine.call(|driver, caller| driver.context_device(caller, 0)), Ok(0));
    let info = machine.call(|driver, caller| driver.memory_info(caller));
    assert_eq!(info, Err(CudaError::CONTEXT_IS_DESTROYED));
}

#[rstest]
#[case::plain(0, 2)]
#[case::portable(1, 3)]
#[case::mapped(2, 2)]
#[case::write_combined(4, 6)]
#[case::portable_and_write_combined(5, 7)]
#[case::all(7, 7)]
fn flags_are_as_asked_and_mapped(#[case] asked: u32, #[case] told: u32) {
    let mut machine = Machine::new();
    let address =
        machine.call(|driver, caller| driver.host_alloc(caller, 4096, asked)).expect("allocated");
    assert_eq!(machine.call(|driver, caller| driver.host_flags(caller, address)), Ok(told));
}
