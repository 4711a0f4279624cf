//! Exported memory. What happens between two processes is tested through the C border.

use allocert_driver::{CudaError, UNINITIALISED};
use rstest::rstest;

use crate::machine::Machine;

#[test]
#[cfg_attr(miri, ignore = "needs memfd_create")]
fn exporting_keeps_the_bytes_and_gives_one_handle_for_the_whole_allocation() {
    let mut machine = Machine::new();
    let data = machine.alloc(200_000);
    machine.fill(data, 3, 100_000, allocert_contract::StreamHandle::LEGACY);
    machine.call(|driver, caller| driver.context_synchronize(caller, 0)).expect("synchronized");
    let interior = allocert_contract::DevicePtr(data.0 + 4096);
    let handles = [data, interior]
        .map(|address| machine.call(|driver, caller| driver.ipc_export(caller, address)).expect("exported"));
    assert_eq!(handles[0], handles[1]);
    let bytes = machine.read_device(data, 200_000);
    assert_eq!((bytes[99_999], bytes[100_000], bytes[199_999]), (3, UNINITIALISED, UNINITIALISED));
    let opened = machine.call(|driver, caller| driver.ipc_open(caller, &handles[0], 1));
    assert_eq!(opened, Err(CudaError::INVALID_CONTEXT), "the exporter itself cannot open it");
}

#[rstest]
#[case([0; 64], 1)]
#[case(*b"allocIPC--------------------------------------------------------", 1)]
fn nonsense_handles_are_refused(#[case] handle: [u8; 64], #[case] flags: u32) {
    let mut machine = Machine::new();
    assert_eq!(machine.call(|driver, caller| driver.ipc_open(caller, &handle, flags)), Err(CudaError::INVALID_VALUE));
}
