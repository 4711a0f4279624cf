//! A CUDA driver in software. It is deterministic, and its streams run as late as the ordering
//! rules allow.
//!
//! It implements the objects and rules of the CUDA Driver API and judges nobody. Its only input and
//! output are the files through which processes share exported memory. It reaches host memory
//! through [`HostSpace`].
#![forbid(unsafe_code)]

mod address_space;
mod allocation_data;
mod code_image;
mod context;
mod copy;
mod device;
mod device_memory;
mod error;
mod event;
mod fault_plan;
mod fill;
mod handle_registry;
mod host_memory;
mod ipc;
mod launch;
mod memory_pool;
mod modules;
mod occupancy;
mod page_runs;
mod pointer_attributes;
mod settings;
mod side;
mod slab;
mod stream;
mod transfer;
mod work_queue;

use std::collections::{BTreeMap, HashMap};

use allocert_contract::trace::cuda::Misuse;

pub use allocation_data::UNINITIALISED;
pub use code_image::{Kernel, Kernels, Layout, Parameter};
pub use context::Thread;
pub use copy::{CopyRequest, Direction};
pub use device::DEVICE_NAME;
pub use error::{CudaError, Result};
pub use event::Elapsed;
pub use fault_plan::{FaultError, FaultPlan};
pub use host_memory::HostSpace;
pub use ipc::IpcHandle;
pub use launch::{Arguments, Launch};
pub use memory_pool::{PoolAccess, PoolAttribute};
pub use pointer_attributes::AttributeValue;
pub use settings::{SettingError, Settings};
pub use transfer::{Extent, Fill, Plane};
pub use work_queue::{HostFunction, NextHostFunction};

use crate::{
    context::Context, device::Device, event::Event, handle_registry::Registry,
    host_memory::HostBlock, memory_pool::Pool, modules::Code, stream::Stream, work_queue::Queue,
};

/// Who calls, and how.
#[derive(Debug)]
pub struct Caller<'t> {
    /// The calling thread.
    pub thread: &'t mut Thread,
    /// Through a `_ptsz` or `_ptds` symbol: stream 0 is the thread's own.
    pub per_thread: bool,
}

/// Where device addresses may lie. Nothing may be mapped there.
#[derive(Clone, Copy, Debug)]
pub struct AddressWindow {
    /// Aligned to 2 MiB.
    pub base: u64,
    /// Address space of each device; a power of two, at least 2 MiB.
    pub bytes_per_device: u64,
}

impl AddressWindow {
    /// Address space for a device with that much memory: room for fragmentation and for memory
    /// imported from other processes.
    pub fn bytes_for(memory_bytes: u64) -> u64 {
        (memory_bytes * 4).max(64 << 30).next_power_of_two()
    }
}

/// The simulated machine as one process sees it.
pub struct Driver {
    settings: Settings,
    window: AddressWindow,
    host: Box<dyn HostSpace>,
    incarnation: u64,
    initialized: bool,
    devices: Vec<Device>,
    contexts: Registry<Context>,
    /// The devices of contexts that were destroyed: a thread may still have one current.
    ended_contexts: HashMap<u64, usize>,
    streams: Registry<Stream>,
    events: Registry<Event>,
    pools: Registry<Pool>,
    code: Code,
    host_blocks: BTreeMap<u64, HostBlock>,
    queue: Queue,
    faults: FaultPlan,
    misuses: Vec<(Misuse, [u64; 2])>,
    last_buffer_id: u64,
    last_context_id: u64,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver")
            .field("settings", &self.settings)
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}

impl Driver {
    /// `incarnation` must differ between drivers of one process: threads forget contexts of another
    /// one.
    pub fn new(
        settings: Settings,
        window: AddressWindow,
        host: Box<dyn HostSpace>,
        incarnation: u64,
    ) -> Self {
        let mut driver = Self {
            window,
            host,
            incarnation,
            initialized: false,
            devices: Vec::new(),
            contexts: Registry::new(0xc0),
            ended_contexts: HashMap::new(),
            streams: Registry::new(0x57),
            events: Registry::new(0xe0),
            pools: Registry::new(0xb0),
            code: Code::new(),
            host_blocks: BTreeMap::new(),
            queue: Queue::default(),
            faults: settings.faults.clone(),
            misuses: Vec::new(),
            last_buffer_id: 0,
            last_context_id: 0,
            settings,
        };
        for ordinal in 0..driver.settings.devices as usize {
            driver.add_device(ordinal);
        }
        driver
    }

    /// `cuInit`.
    pub fn init(&mut self, flags: u32) -> Result {
        if flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        if self.devices.is_empty() {
            return Err(CudaError::NO_DEVICE);
        }
        self.initialized = true;
        Ok(())
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn window(&self) -> AddressWindow {
        self.window
    }

    pub fn faults(&mut self) -> &mut FaultPlan {
        &mut self.faults
    }

    /// A fault plan's answer to a call: sticky errors also break the device of the current context.
    pub fn inject(&mut self, caller: &Caller, error: CudaError) {
        if let (true, Ok(context)) = (error.is_sticky(), self.contexts.get(caller.thread.current()))
        {
            self.devices[context.device].sticky = Some(error);
        }
    }

    #[inline]
    pub fn has_misuses(&self) -> bool {
        !self.misuses.is_empty()
    }

    /// Misuses seen since the last time, oldest first.
    pub fn take_misuses(&mut self) -> Vec<(Misuse, [u64; 2])> {
        std::mem::take(&mut self.misuses)
    }

    /// Takes the process's memory back, for a fresh start in the same process.
    pub fn dismantle(mut self) -> Box<dyn HostSpace> {
        for (address, _) in self.host_blocks.clone() {
            self.remove_host(address);
        }
        self.host
    }

    pub fn report_misuse(&mut self, misuse: Misuse, args: [u64; 2]) {
        self.misuses.push((misuse, args));
    }

    #[inline]
    fn next_context_id(&mut self) -> u64 {
        self.last_context_id += 1;
        self.last_context_id
    }

    fn next_buffer_id(&mut self) -> u64 {
        self.last_buffer_id += 1;
        self.last_buffer_id
    }
}
