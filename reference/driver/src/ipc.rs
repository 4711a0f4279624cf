//! Memory shared between processes.
//!
//! Exporting moves an allocation's bytes into an anonymous file. The handle holds the exporter's
//! process, the file descriptor and a nonce. An importer opens the file through `/proc`, so a
//! handle ends with the allocation or with its process, as a real one does.

use std::{
    fs::{File, OpenOptions},
    os::{fd::AsRawFd, unix::fs::FileExt},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use allocert_contract::DevicePtr;

use crate::{
    Caller, Driver,
    address_space::Owner,
    allocation_data::{Bytes, SharedBytes},
    error::{CudaError, Result},
};

/// `CUipcMemHandle`.
pub type IpcHandle = [u8; 64];

/// The file's first bytes are the handle's own; data follows.
const DATA_OFFSET: u64 = 4096;
const MAGIC: [u8; 8] = *b"allocIPC";
/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`, the only flag there is, and required.
const LAZY_PEER_ACCESS: u32 = 1;

#[derive(Clone, Copy)]
struct Export {
    nonce: u64,
    process: u32,
    descriptor: i32,
    size: u64,
    device: u32,
}

impl Export {
    fn encode(self) -> IpcHandle {
        let mut handle = [0; 64];
        handle[..8].copy_from_slice(&MAGIC);
        handle[8..16].copy_from_slice(&self.nonce.to_le_bytes());
        handle[16..20].copy_from_slice(&self.process.to_le_bytes());
        handle[20..24].copy_from_slice(&self.descriptor.to_le_bytes());
        handle[24..32].copy_from_slice(&self.size.to_le_bytes());
        handle[32..36].copy_from_slice(&self.device.to_le_bytes());
        handle
    }

    fn decode(handle: &IpcHandle) -> Option<Self> {
        let word =
            |offset: usize| u64::from_le_bytes(std::array::from_fn(|index| handle[offset + index]));
        let half =
            |offset: usize| u32::from_le_bytes(std::array::from_fn(|index| handle[offset + index]));
        (handle[..8] == MAGIC).then(|| Self {
            nonce: word(8),
            process: half(16),
            descriptor: half(20) as i32,
            size: word(24),
            device: half(32),
        })
    }
}

impl Driver {
    /// `cuIpcGetMemHandle`: the handle of the whole allocation around the address.
    pub fn ipc_export(&mut self, caller: &Caller, address: DevicePtr) -> Result<IpcHandle> {
        self.initialized()?;
        if address == DevicePtr::NULL {
            return Err(CudaError::INVALID_VALUE);
        }
        self.current(caller)?;
        let device = self.device_of(address.0).ok_or(CudaError::INVALID_VALUE)?;
        let space = &mut self.devices[device].space;
        let id = space.find(address.0).ok_or(CudaError::INVALID_VALUE)?;
        let block = space.block_mut(id);
        if block.owner != Owner::Plain || block.freed {
            return Err(CudaError::INVALID_VALUE);
        }
        if let Bytes::Shared(shared) = &block.bytes {
            let mut handle = [0; 64];
            shared.file.read_exact_at(&mut handle, 0).map_err(|_| CudaError::OPERATING_SYSTEM)?;
            return Ok(handle);
        }
        let (shared, handle) =
            share(&block.bytes, block.size, device as u32).ok_or(CudaError::OUT_OF_MEMORY)?;
        block.bytes = Bytes::Shared(Arc::new(shared));
        Ok(handle)
    }

    /// `cuIpcOpenMemHandle`. Opening twice gives the same address; each opening must be closed.
    /// Memory of another device takes peer access, which the one flag enables.
    pub fn ipc_open(
        &mut self,
        caller: &Caller,
        handle: &IpcHandle,
        flags: u32,
    ) -> Result<DevicePtr> {
        self.initialized()?;
        if flags != LAZY_PEER_ACCESS {
            return Err(CudaError::INVALID_VALUE);
        }
        let context = self.current(caller)?;
        let export = Export::decode(handle).ok_or(CudaError::INVALID_VALUE)?;
        if export.process == std::process::id() {
            return Err(CudaError::INVALID_CONTEXT);
        }
        let device = self.contexts.get(context).map_err(|_| CudaError::INVALID_CONTEXT)?.device;
        if export.device as usize != device && !self.settings.peer_access {
            return Err(CudaError::PEER_ACCESS_UNSUPPORTED);
        }
        if let Some(address) = self.open_again(device, export.nonce) {
            return Ok(address);
        }
        let file = open_export(&export, handle).ok_or(CudaError::INVALID_VALUE)?;
        let space = &mut self.devices[device].space;
        let address = space
            .allocate(export.size, context, Owner::Imported { opens: 1 }, export.nonce)
            .ok_or(CudaError::OUT_OF_MEMORY)?;
        if let Some(id) = space.find(address) {
            space.block_mut(id).bytes =
                Bytes::Shared(Arc::new(SharedBytes { file, data_offset: DATA_OFFSET }));
        }
        Ok(DevicePtr(address))
    }

    fn open_again(&mut self, device: usize, nonce: u64) -> Option<DevicePtr> {
        let space = &mut self.devices[device].space;
        let ids = space.ids();
        let id = ids.into_iter().find(|id| {
            matches!(space.block(*id).owner, Owner::Imported { .. })
                && space.block(*id).buffer_id == nonce
        })?;
        let block = space.block_mut(id);
        if let Owner::Imported { opens } = &mut block.owner {
            *opens += 1;
        }
        Some(DevicePtr(block.base))
    }

    /// `cuIpcCloseMemHandle`. Waits for all work of the context that opened the memory, even if it
    /// is still open after this call.
    pub fn ipc_close(&mut self, caller: &Caller, address: DevicePtr) -> Result {
        self.current(caller)?;
        let device = self.device_of(address.0).ok_or(CudaError::INVALID_VALUE)?;
        let space = &mut self.devices[device].space;
        let id = space
            .find(address.0)
            .filter(|id| space.block(*id).base == address.0)
            .ok_or(CudaError::INVALID_VALUE)?;
        let block = space.block_mut(id);
        let context = block.context;
        let Owner::Imported { opens } = &mut block.owner else {
            return Err(CudaError::INVALID_VALUE);
        };
        *opens -= 1;
        let last = *opens == 0;
        self.drain_context(context)?;
        if last {
            self.release(device, id);
        }
        Ok(())
    }
}

fn share(bytes: &Bytes, size: u64, device: u32) -> Option<(SharedBytes, IpcHandle)> {
    let descriptor =
        rustix::fs::memfd_create("allocert-ipc", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
    let file = File::from(descriptor);
    file.set_len(DATA_OFFSET + size).ok()?;
    let handle = Export {
        nonce: nonce(),
        process: std::process::id(),
        descriptor: file.as_raw_fd(),
        size,
        device,
    }
    .encode();
    file.write_all_at(&handle, 0).ok()?;
    let shared = SharedBytes { file, data_offset: DATA_OFFSET };
    shared.adopt(bytes).ok()?;
    Some((shared, handle))
}

/// The exporter's file, if it is still the one that the handle was made for.
fn open_export(export: &Export, handle: &IpcHandle) -> Option<File> {
    let path = format!("/proc/{}/fd/{}", export.process, export.descriptor);
    let file = OpenOptions::new().read(true).write(true).open(path).ok()?;
    let mut found = [0; 64];
    file.read_exact_at(&mut found, 0).ok()?;
    (found == *handle).then_some(file)
}

/// Differs between all exports of all processes of a machine, for all practical purposes.
fn nonce() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let now =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    now ^ u64::from(std::process::id()) << 40 ^ COUNT.fetch_add(1, Ordering::Relaxed) << 20
}
