//! Mutations of `get_ipc_handle`. Some are made of the pool, whose blocks do not begin where the
//! driver's allocations do.

use allocert_abi::emm::{IpcHandle, Memory, Status};
use allocert_abi::export_emm_plugin;

use crate::emm::base_manager::{Answer, BaseKind, BaseManager, fail};
use crate::emm::mutation::state::{Count, LiveBlocks, Locked};
use crate::emm::mutation::{Mutant, Mutation};

export_emm_plugin! {
    mutant_ipc_fails => Mutant<IpcFails>,
    mutant_ipc_offset_zero => Mutant<IpcOffsetZero>,
    mutant_ipc_view_offset_ignored => Mutant<IpcViewOffsetIgnored>,
    mutant_ipc_wrong_block => Mutant<IpcWrongBlock>,
    mutant_ipc_size_rounded => Mutant<IpcSizeRounded>,
    mutant_ipc_device_missing => Mutant<IpcDeviceMissing>,
    mutant_ipc_handle_changes => Mutant<IpcHandleChanges>,
    mutant_ipc_handle_corrupt => Mutant<IpcHandleCorrupt>,
    mutant_ipc_handle_empty_for_zero_size => Mutant<IpcHandleEmptyForZeroSize>,
    mutant_ipc_handle_empty_on_error => Mutant<IpcHandleEmptyOnError>,
    mutant_ipc_after_release => Mutant<IpcAfterRelease>,
    mutant_ipc_host_wrong_status => Mutant<IpcHostWrongStatus>,
    mutant_ipc_offset_out_of_range => Mutant<IpcOffsetOutOfRange>,
}

/// Claims the capability for IPC and fails.
#[derive(Default)]
struct IpcFails;

impl Mutation for IpcFails {
    fn get_ipc_handle(
        &self,
        _base: &BaseManager,
        _token: u64,
        _offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        Err(fail(Status::INTERNAL, "get_ipc_handle: not implemented"))
    }
}

/// Reports offset 0 for every block.
#[derive(Default)]
struct IpcOffsetZero;

impl Mutation for IpcOffsetZero {
    const KIND: BaseKind = BaseKind::Pool;

    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        Ok(IpcHandle { offset_bytes: 0, ..base.get_ipc_handle(token, offset_bytes)? })
    }
}

/// Ignores the offset of a view.
#[derive(Default)]
struct IpcViewOffsetIgnored;

impl Mutation for IpcViewOffsetIgnored {
    const KIND: BaseKind = BaseKind::Pool;

    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        _offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        base.get_ipc_handle(token, 0)
    }
}

/// Returns the handle of the oldest block, whichever block is asked for.
#[derive(Default)]
struct IpcWrongBlock {
    live: LiveBlocks,
}

impl Mutation for IpcWrongBlock {
    const KIND: BaseKind = BaseKind::Pool;

    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.live)
    }

    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.add(base.memalloc(size_bytes)?))
    }

    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        let right = base.get_ipc_handle(token, offset_bytes)?;
        match self.live.oldest() {
            Some(oldest) => Ok(IpcHandle {
                size_bytes: right.size_bytes,
                ..base.get_ipc_handle(oldest.token, 0)?
            }),
            None => Ok(right),
        }
    }
}

/// Reports the size rounded up to 2 MiB.
#[derive(Default)]
struct IpcSizeRounded;

impl Mutation for IpcSizeRounded {
    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        let handle = base.get_ipc_handle(token, offset_bytes)?;
        Ok(IpcHandle { size_bytes: handle.size_bytes.next_multiple_of(1 << 21), ..handle })
    }
}

/// Reports a device UUID of zeros.
#[derive(Default)]
struct IpcDeviceMissing;

impl Mutation for IpcDeviceMissing {
    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        Ok(IpcHandle { device_uuid: [0; 16], ..base.get_ipc_handle(token, offset_bytes)? })
    }
}

/// Returns a different handle for the same block each time.
#[derive(Default)]
struct IpcHandleChanges {
    count: Count,
}

impl Mutation for IpcHandleChanges {
    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        let mut handle = base.get_ipc_handle(token, offset_bytes)?;
        handle.handle[63] ^= self.count.increment() as u8;
        Ok(handle)
    }
}

/// Returns a handle that no process can open.
#[derive(Default)]
struct IpcHandleCorrupt;

impl Mutation for IpcHandleCorrupt {
    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        let handle = base.get_ipc_handle(token, offset_bytes)?;
        Ok(IpcHandle { handle: handle.handle.map(|byte| !byte), ..handle })
    }
}

/// Returns an empty handle for memory of zero bytes.
#[derive(Default)]
struct IpcHandleEmptyForZeroSize {
    empty: LiveBlocks,
}

impl Mutation for IpcHandleEmptyForZeroSize {
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        Ok(if size_bytes == 0 { self.empty.add(memory) } else { memory })
    }

    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        if self.empty.contains(token) {
            Ok(IpcHandle::empty())
        } else {
            base.get_ipc_handle(token, offset_bytes)
        }
    }

    fn live(&self) -> Option<&LiveBlocks> {
        Some(&self.empty)
    }
}

/// Returns an empty handle where the driver refuses to make one.
#[derive(Default)]
struct IpcHandleEmptyOnError;

impl Mutation for IpcHandleEmptyOnError {
    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        base.get_ipc_handle(token, offset_bytes).or(Ok(IpcHandle::empty()))
    }
}

/// Returns the handle of a block after its release.
#[derive(Default)]
struct IpcAfterRelease {
    handles: Locked<Vec<(u64, IpcHandle)>>,
}

impl Mutation for IpcAfterRelease {
    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        if let Ok(handle) = base.get_ipc_handle(token, 0) {
            self.handles.lock().push((token, handle));
        }
        base.release(token)
    }

    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        let known = self
            .handles
            .lock()
            .iter()
            .find(|(known, _)| *known == token)
            .map(|(_, handle)| *handle);
        known.map_or_else(|| base.get_ipc_handle(token, offset_bytes), Ok)
    }
}

/// Refuses a handle of host memory with the wrong status.
#[derive(Default)]
struct IpcHostWrongStatus {
    host: LiveBlocks,
}

impl Mutation for IpcHostWrongStatus {
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(self.host.add(base.memhostalloc(size_bytes, flags)?))
    }

    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        if self.host.contains(token) {
            return Err(fail(Status::STATE, "get_ipc_handle: this is host memory"));
        }
        base.get_ipc_handle(token, offset_bytes)
    }
}

/// Returns a handle for an offset behind the allocation.
#[derive(Default)]
struct IpcOffsetOutOfRange;

impl Mutation for IpcOffsetOutOfRange {
    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        base.get_ipc_handle(token, offset_bytes).or_else(|failure| {
            let handle = base.get_ipc_handle(token, 0).map_err(|_| failure)?;
            Ok(IpcHandle { offset_bytes: handle.offset_bytes.wrapping_add(offset_bytes), ..handle })
        })
    }
}
