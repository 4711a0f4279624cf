//! A driver that hands out addresses, keeps account and fails on demand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use allocert_emm::{Driver, DriverError, HostFlags, MemoryInfo};

#[derive(Clone, Debug)]
pub(crate) struct Script(Arc<Mutex<State>>);

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) total_bytes: u64,
    /// Live device allocations: base and size.
    pub(crate) device: BTreeMap<u64, u64>,
    /// Live page-locked allocations and registrations.
    pub(crate) host: BTreeMap<usize, u64>,
    /// Every call, in order.
    pub(crate) calls: Vec<String>,
    /// Device memory that the driver serves from a larger block, this far behind its base.
    pub(crate) base_offset_bytes: u64,
    /// The context is gone: every call is refused.
    pub(crate) dead: bool,
    next: u64,
}

type Answer<T> = Result<T, DriverError>;

impl Script {
    pub(crate) fn new(total_bytes: u64) -> Self {
        Self(Arc::new(Mutex::new(State {
            total_bytes,
            device: BTreeMap::new(),
            host: BTreeMap::new(),
            calls: Vec::new(),
            base_offset_bytes: 0,
            dead: false,
            next: 0x7d00_0000_0000,
        })))
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test panics while it holds the lock")
    }

    /// The calls since the last time.
    pub(crate) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.state().calls)
    }

    fn call(&self, text: String) -> Answer<MutexGuard<'_, State>> {
        let mut state = self.state();
        state.calls.push(text);
        match state.dead {
            true => Err(DriverError::Call { call: "any", code: 709 }),
            false => Ok(state),
        }
    }
}

impl State {
    fn used_bytes(&self) -> u64 {
        self.device.values().sum()
    }

    fn place(&mut self, size_bytes: u64) -> u64 {
        let address = self.next;
        self.next += size_bytes.next_multiple_of(512);
        address
    }
}

fn refused<T>(call: &'static str, code: u32) -> Answer<T> {
    Err(DriverError::Call { call, code })
}

impl Driver for Script {
    fn mem_alloc(&self, size_bytes: u64) -> Answer<u64> {
        let mut state = self.call(format!("alloc {size_bytes}"))?;
        if state.used_bytes().saturating_add(size_bytes) > state.total_bytes {
            return refused("cuMemAlloc", 2);
        }
        let address = state.place(size_bytes);
        state.device.insert(address, size_bytes);
        Ok(address)
    }

    fn mem_free(&self, pointer: u64) -> Answer<()> {
        let mut state = self.call("free".to_owned())?;
        match state.device.remove(&pointer) {
            Some(_) => Ok(()),
            None => refused("cuMemFree", 1),
        }
    }

    fn mem_info(&self) -> Answer<MemoryInfo> {
        let state = self.call("info".to_owned())?;
        Ok(MemoryInfo {
            free_bytes: state.total_bytes - state.used_bytes(),
            total_bytes: state.total_bytes,
        })
    }

    fn mem_base(&self, pointer: u64) -> Answer<u64> {
        Ok(pointer - self.call("range".to_owned())?.base_offset_bytes)
    }

    fn host_alloc(&self, size_bytes: u64, flags: HostFlags) -> Answer<usize> {
        let HostFlags { mapped, portable, write_combined } = flags;
        let mut state =
            self.call(format!("hostalloc {size_bytes} {mapped} {portable} {write_combined}"))?;
        let address = state.place(size_bytes) as usize;
        state.host.insert(address, size_bytes);
        Ok(address)
    }

    fn host_free(&self, pointer: usize) -> Answer<()> {
        let mut state = self.call("hostfree".to_owned())?;
        match state.host.remove(&pointer) {
            Some(_) => Ok(()),
            None => refused("cuMemFreeHost", 1),
        }
    }

    fn host_register(&self, pointer: usize, size_bytes: u64, mapped: bool) -> Answer<()> {
        let mut state = self.call(format!("register {size_bytes} {mapped}"))?;
        match state.host.contains_key(&pointer) {
            true => refused("cuMemHostRegister", 712),
            false => {
                state.host.insert(pointer, size_bytes);
                Ok(())
            }
        }
    }

    fn host_unregister(&self, pointer: usize) -> Answer<()> {
        let mut state = self.call("unregister".to_owned())?;
        match state.host.remove(&pointer) {
            Some(_) => Ok(()),
            None => refused("cuMemHostUnregister", 713),
        }
    }

    fn host_device_pointer(&self, pointer: usize) -> Answer<u64> {
        match self.call("devptr".to_owned())?.host.contains_key(&pointer) {
            true => Ok(pointer as u64 | 1 << 60),
            false => refused("cuMemHostGetDevicePointer", 1),
        }
    }

    fn ipc_handle(&self, base: u64) -> Answer<[u8; 64]> {
        self.call(format!("ipc {base:#x}")).map(|_state| [7; 64])
    }

    fn device_uuid(&self) -> Answer<[u8; 16]> {
        self.call("uuid".to_owned()).map(|_state| [9; 16])
    }
}
