//! Exported memory. What happens between two processes is tested through the C border.

use allocert_driver::{CudaError, Settings, UNINITIALISED};
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
    let handles = [data, interior].map(|address| {
        machine.call(|driver, caller| driver.ipc_export(caller, address)).expect("exported")
    });
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
    assert_eq!(
        machine.call(|driver, caller| driver.ipc_open(caller, &handle, flags)),
        Err(CudaError::INVALID_VALUE)
    );
}

#[rstest]
#[case(true, CudaError::INVALID_VALUE)] // there is no such process
#[case(false, CudaError::PEER_ACCESS_UNSUPPORTED)]
#[cfg_attr(miri, ignore = "needs memfd_create")]
fn memory_of_another_device_takes_peer_access(
    #[case] peer_access: bool,
    #[case] refused: CudaError,
) {
    let mut machine = Machine::with(Settings { devices: 2, peer_access, ..Settings::default() });
    let data = machine.alloc(4096);
    let mut handle =
        machine.call(|driver, caller| driver.ipc_export(caller, data)).expect("exported");
    handle[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(
        machine.call(|driver, caller| driver.ipc_open(caller, &handle, 1)),
        Err(CudaError::INVALID_VALUE)
    );
    let other = machine.retain(1);
    assert_eq!(machine.call(|driver, caller| driver.ipc_open(caller, &handle, 1)), Err(refused));
    assert_eq!(machine.driver.can_access_peer(0, 1), Ok(peer_access));
    let own = machine.context;
    let enabled = machine.call(|driver, caller| driver.enable_peer(caller, own, 0));
    assert_eq!(enabled, if peer_access { Ok(()) } else { Err(CudaError::PEER_ACCESS_UNSUPPORTED) });
    assert_ne!(own, other);
}
