//! A machine with imitated host memory and one thread.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use allocert_contract::{DevicePtr, StreamHandle};
use allocert_driver::{
    AddressWindow, Caller, CopyRequest, Direction, Driver, Extent, Fill, HostSpace, Plane, Result,
    Settings, Thread,
};

const WINDOW: AddressWindow = AddressWindow { base: 0x7d00_0000_0000, bytes_per_device: 1 << 36 };
/// Host addresses that the test uses without telling the driver.
pub(crate) const PAGEABLE: u64 = 0x1000_0000;

pub(crate) struct Machine {
    pub(crate) driver: Driver,
    pub(crate) thread: Thread,
    pub(crate) context: u64,
    host: Arc<Mutex<Host>>,
}

#[derive(Default)]
struct Host {
    bytes: BTreeMap<u64, u8>,
    next: u64,
    calls: Vec<u64>,
}

struct Shared(Arc<Mutex<Host>>);

impl Shared {
    fn with<R>(&self, body: impl FnOnce(&mut Host) -> R) -> R {
        body(&mut self.0.lock().expect("no test panics while holding it"))
    }
}

impl HostSpace for Shared {
    fn allocate(&mut self, bytes: u64) -> Option<u64> {
        self.with(|host| {
            host.next += bytes.next_multiple_of(4096);
            Some(0x2000_0000 + host.next - bytes.next_multiple_of(4096))
        })
    }

    fn release(&mut self, _: u64, _: u64) {}

    fn read(&self, address: u64, into: &mut [u8]) {
        self.with(|host| {
            (address..)
                .zip(into)
                .for_each(|(at, byte)| *byte = host.bytes.get(&at).copied().unwrap_or(0))
        });
    }

    fn write(&mut self, address: u64, from: &[u8]) {
        self.with(|host| host.bytes.extend((address..).zip(from.iter().copied())));
    }

    fn is_mapped(&self, _: u64, _: u64) -> bool {
        true
    }

    fn is_writable(&self, _: u64, _: u64) -> bool {
        true
    }

    fn call(&mut self, function: u64, _: Option<u64>, _: u64) {
        self.with(|host| host.calls.push(function));
    }
}

fn row(to: u64, from: u64, bytes: u64) -> CopyRequest {
    let (to, from) = (Plane::row(to), Plane::row(from));
    CopyRequest { to, from, extent: Extent::row(bytes), direction: Direction::Any }
}

impl Machine {
    /// Initialized, with the primary context of device 0 current.
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let host = Arc::new(Mutex::new(Host::default()));
        let driver = Driver::new(settings, WINDOW, Box::new(Shared(host.clone())), 1);
        let mut machine = Self { driver, thread: Thread::new(1), context: 0, host };
        machine.driver.init(0).expect("a device");
        machine.driver.adopt(&mut machine.thread);
        machine.context = machine.retain(0);
        machine
    }

    /// Retains a primary context and makes it current.
    pub(crate) fn retain(&mut self, device: i32) -> u64 {
        let (result, context) = self.driver.primary_retain(device);
        result.expect("retained");
        self.call(|driver, caller| driver.context_set(caller, context)).expect("set");
        context
    }

    pub(crate) fn call<R>(&mut self, body: impl FnOnce(&mut Driver, &mut Caller) -> R) -> R {
        body(&mut self.driver, &mut Caller { thread: &mut self.thread, per_thread: false })
    }

    pub(crate) fn alloc(&mut self, bytes: u64) -> DevicePtr {
        self.call(|driver, caller| driver.alloc(caller, bytes)).expect("allocated")
    }

    pub(crate) fn free(&mut self, address: DevicePtr) -> Result {
        self.call(|driver, caller| driver.free(caller, address))
    }

    pub(crate) fn pinned(&mut self, bytes: u64) -> u64 {
        self.call(|driver, caller| driver.host_alloc(caller, bytes, 0)).expect("allocated")
    }

    pub(crate) fn stream(&mut self, flags: u32) -> StreamHandle {
        self.call(|driver, caller| driver.stream_create(caller, flags, 0)).expect("created")
    }

    pub(crate) fn fill(&mut self, address: DevicePtr, value: u8, bytes: u64, stream: StreamHandle) {
        let to = Plane::row(address.0);
        let fill = Fill { to, value: value.into(), element_bytes: 1, count: bytes, rows: 1 };
        self.call(|driver, caller| driver.memset_async(caller, fill, stream)).expect("queued");
    }

    pub(crate) fn copy_async(&mut self, to: u64, from: u64, bytes: u64, stream: StreamHandle) {
        let copy = row(to, from, bytes);
        self.call(|driver, caller| driver.copy_async(caller, &copy, stream)).expect("queued");
    }

    /// `cuMemcpy`.
    pub(crate) fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result {
        let copy = row(to, from, bytes);
        self.call(|driver, caller| driver.copy(caller, &copy))
    }

    /// Waits as `cuMemcpyDtoH` does, and so only for what its stream waits for.
    pub(crate) fn read_device(&mut self, address: DevicePtr, bytes: u64) -> Vec<u8> {
        self.copy(PAGEABLE, address.0, bytes).expect("copied");
        self.read_host(PAGEABLE, bytes)
    }

    pub(crate) fn synchronize(&mut self, stream: StreamHandle) {
        self.call(|driver, caller| driver.stream_synchronize(caller, stream))
            .expect("synchronized");
    }

    pub(crate) fn record(&mut self, stream: StreamHandle) -> u64 {
        let event = self.call(|driver, caller| driver.event_create(caller, 0)).expect("created");
        self.call(|driver, caller| driver.event_record(caller, event, stream)).expect("recorded");
        event
    }

    pub(crate) fn wait(&mut self, stream: StreamHandle, event: u64) {
        self.call(|driver, caller| driver.stream_wait_event(caller, stream, event, 0))
            .expect("queued");
    }

    pub(crate) fn read_host(&self, address: u64, bytes: u64) -> Vec<u8> {
        let mut found = vec![0; bytes as usize];
        Shared(self.host.clone()).read(address, &mut found);
        found
    }

    pub(crate) fn write_host(&mut self, address: u64, bytes: &[u8]) {
        Shared(self.host.clone()).write(address, bytes);
    }

    pub(crate) fn calls(&self) -> Vec<u64> {
        Shared(self.host.clone()).with(|host| host.calls.clone())
    }
}
