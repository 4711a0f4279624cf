//! A memory manager for hosts of `allocert_emm.h`: one allocation of the driver for each request.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::emm::{CAP_MEMORY_INFO, KIND_DEVICE, Memory, MemoryInfo, Status};
use allocert_abi::plugin::{CudaContext, EmmPlugin, Failure};
use allocert_cuda::{Driver, DriverError};

allocert_abi::export_emm_plugin! { allocert_emm_plugin_v1 => Manager }

/// Frees device memory when it is released, or at the last `defer_end`.
#[derive(Debug)]
pub struct Manager {
    driver: Driver,
    /// Never locked while the driver is called.
    blocks: Mutex<Blocks>,
}

#[derive(Debug, Default)]
struct Blocks {
    /// Addresses by token.
    live: BTreeMap<u64, u64>,
    /// Addresses that were released between `defer_begin` and `defer_end`.
    released: Vec<u64>,
    last_token: u64,
    /// The last token that was given before the last `reset`.
    reset_at: u64,
    deferring: u32,
}

impl Manager {
    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees all and gives the last error, if there is one.
    fn free(&self, addresses: Vec<u64>) -> Result<(), DriverError> {
        let results: Vec<_> = addresses.into_iter().map(|one| self.driver.mem_free(one)).collect();
        results.into_iter().collect()
    }
}

impl EmmPlugin for Manager {
    const NAME: &'static CStr = c"emm-plugin";
    const VERSION: &'static CStr = c"0.1.0";
    const CAPABILITIES: u32 = CAP_MEMORY_INFO;

    fn create(_context: CudaContext, device: i32) -> Result<Self, Failure> {
        let driver = Driver::load().map_err(failure("create"))?;
        let count = driver.device_get_count().map_err(failure("create"))?;
        if !(0..count).contains(&device) {
            return Err(invalid(format!("create: there is no device {device}")));
        }
        Ok(Self { driver, blocks: Mutex::default() })
    }

    fn initialize(&self) -> Result<(), Failure> {
        Ok(())
    }

    fn memalloc(&self, size_bytes: u64) -> Result<Memory, Failure> {
        // The driver refuses 0 bytes, and such an allocation needs an address of its own.
        let address = self.driver.mem_alloc(size_bytes.max(1)).map_err(failure("memalloc"))?;
        let mut blocks = self.blocks();
        blocks.last_token += 1;
        let token = blocks.last_token;
        blocks.live.insert(token, address);
        let kind = KIND_DEVICE;
        Ok(Memory { kind, device_pointer: address, size_bytes, token, ..Memory::empty() })
    }

    fn release(&self, token: u64) -> Result<(), Failure> {
        let mut blocks = self.blocks();
        let Some(address) = blocks.live.remove(&token) else {
            let is_old = (1..=blocks.reset_at).contains(&token);
            let message = format!("release: token {token} is not live");
            return if is_old { Ok(()) } else { Err(invalid(message)) };
        };
        if blocks.deferring > 0 {
            blocks.released.push(address);
            return Ok(());
        }
        drop(blocks);
        self.free(vec![address]).map_err(failure("release"))
    }

    fn get_memory_info(&self) -> Result<MemoryInfo, Failure> {
        let info = self.driver.mem_get_info().map_err(failure("get_memory_info"))?;
        let (free_bytes, total_bytes) = (info.free_bytes, info.total_bytes);
        Ok(MemoryInfo { free_bytes, total_bytes, ..MemoryInfo::empty() })
    }

    fn reset(&self) -> Result<(), Failure> {
        let mut blocks = self.blocks();
        let mut addresses: Vec<u64> = std::mem::take(&mut blocks.live).into_values().collect();
        addresses.append(&mut blocks.released);
        blocks.reset_at = blocks.last_token;
        drop(blocks);
        // What the driver cannot free belonged to a context that is gone.
        let _ = self.free(addresses);
        Ok(())
    }

    fn defer_begin(&self) -> Result<(), Failure> {
        self.blocks().deferring += 1;
        Ok(())
    }

    fn defer_end(&self) -> Result<(), Failure> {
        let mut blocks = self.blocks();
        if blocks.deferring == 0 {
            let message = "defer_end: defer_begin was not called";
            return Err(Failure::new(Status::STATE, message));
        }
        blocks.deferring -= 1;
        let done = blocks.deferring == 0;
        let released = if done { std::mem::take(&mut blocks.released) } else { Vec::new() };
        drop(blocks);
        self.free(released).map_err(failure("defer_end"))
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = self.reset();
    }
}

fn invalid(message: String) -> Failure {
    Failure::new(Status::INVALID_VALUE, message)
}

fn failure(call: &'static str) -> impl FnOnce(DriverError) -> Failure {
    move |error| {
        let out_of_memory = error.is_out_of_memory();
        let status = if out_of_memory { Status::OUT_OF_MEMORY } else { Status::DRIVER_ERROR };
        Failure::new(status, format!("{call}: {error}"))
    }
}
