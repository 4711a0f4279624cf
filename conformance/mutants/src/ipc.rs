//! Wrong IPC handles. The reference underneath is the pool, whose blocks do not begin where the
//! driver's do.

use allocert_abi::emm::{IpcHandle, Memory, Status};

use crate::base::{Answer, Base, Kind, fail};
use crate::mutant::{Cell, Count, Live, Mutation};

/// Claims the capability and refuses.
#[derive(Default)]
pub(crate) struct IpcRefused;

impl Mutation for IpcRefused {
    fn get_ipc_handle(&self, _base: &Base, _token: u64, _offset_bytes: u64) -> Answer<IpcHandle> {
        Err(fail(Status::INTERNAL, "get_ipc_handle: not implemented"))
    }
}

/// Says that every block begins where the driver's allocation does.
#[derive(Default)]
pub(crate) struct IpcOffsetZero;

impl Mutation for IpcOffsetZero {
    const KIND: Kind = Kind::Pool;

    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        Ok(IpcHandle { offset_bytes: 0, ..base.get_ipc_handle(token, offset_bytes)? })
    }
}

/// Forgets that it was asked for a view.
#[derive(Default)]
pub(crate) struct IpcViewIgnored;

impl Mutation for IpcViewIgnored {
    const KIND: Kind = Kind::Pool;

    fn get_ipc_handle(&self, base: &Base, token: u64, _offset_bytes: u64) -> Answer<IpcHandle> {
        base.get_ipc_handle(token, 0)
    }
}

/// Shares the oldest block whatever was asked for.
#[derive(Default)]
pub(crate) struct IpcWrongBlock {
    live: Live,
}

impl Mutation for IpcWrongBlock {
    const KIND: Kind = Kind::Pool;

    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        Ok(self.live.enter(base.memalloc(size_bytes)?))
    }

    fn release(&self, base: &Base, token: u64) -> Answer {
        self.live.leave(token);
        base.release(token)
    }

    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        let right = base.get_ipc_handle(token, offset_bytes)?;
        match self.live.oldest() {
            Some(oldest) => Ok(IpcHandle {
                size_bytes: right.size_bytes,
                ..base.get_ipc_handle(oldest.token, 0)?
            }),
            None => Ok(right),
        }
    }

    fn reset(&self, base: &Base) -> Answer {
        self.live.clear();
        base.reset()
    }
}

/// Reports another size.
#[derive(Default)]
pub(crate) struct IpcSize;

impl Mutation for IpcSize {
    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        let handle = base.get_ipc_handle(token, offset_bytes)?;
        Ok(IpcHandle { size_bytes: handle.size_bytes.next_multiple_of(1 << 21), ..handle })
    }
}

/// Names no device.
#[derive(Default)]
pub(crate) struct IpcDevice;

impl Mutation for IpcDevice {
    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        Ok(IpcHandle { device_uuid: [0; 16], ..base.get_ipc_handle(token, offset_bytes)? })
    }
}

/// Never gives the same handle twice.
#[derive(Default)]
pub(crate) struct IpcUnstable {
    count: Count,
}

impl Mutation for IpcUnstable {
    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        let mut handle = base.get_ipc_handle(token, offset_bytes)?;
        handle.handle[63] ^= self.count.next() as u8;
        Ok(handle)
    }
}

/// Passes on a handle that nobody can open.
#[derive(Default)]
pub(crate) struct IpcGarbage;

impl Mutation for IpcGarbage {
    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        let handle = base.get_ipc_handle(token, offset_bytes)?;
        Ok(IpcHandle { handle: handle.handle.map(|byte| !byte), ..handle })
    }
}

/// Gives a blank handle for memory of no bytes.
#[derive(Default)]
pub(crate) struct IpcBlank {
    empty: Live,
}

impl Mutation for IpcBlank {
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        let memory = base.memalloc(size_bytes)?;
        Ok(if size_bytes == 0 { self.empty.enter(memory) } else { memory })
    }

    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        let empty = self.empty.lock().iter().any(|memory| memory.token == token);
        if empty { Ok(IpcHandle::empty()) } else { base.get_ipc_handle(token, offset_bytes) }
    }

    fn live(&self) -> Option<&Live> {
        Some(&self.empty)
    }
}

/// Makes a handle for everything, and out of nothing where the driver refuses.
#[derive(Default)]
pub(crate) struct IpcForAll;

impl Mutation for IpcForAll {
    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        base.get_ipc_handle(token, offset_bytes).or(Ok(IpcHandle::empty()))
    }
}

/// Remembers a handle for each block, also when the block is gone.
#[derive(Default)]
pub(crate) struct IpcAfterRelease {
    handles: Cell<Vec<(u64, IpcHandle)>>,
}

impl Mutation for IpcAfterRelease {
    fn release(&self, base: &Base, token: u64) -> Answer {
        if let Ok(handle) = base.get_ipc_handle(token, 0) {
            self.handles.lock().push((token, handle));
        }
        base.release(token)
    }

    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        let known = self
            .handles
            .lock()
            .iter()
            .find(|(known, _)| *known == token)
            .map(|(_, handle)| *handle);
        known.map_or_else(|| base.get_ipc_handle(token, offset_bytes), Ok)
    }
}

/// Has another word for what it makes no handle of.
#[derive(Default)]
pub(crate) struct IpcHostUnsupported {
    host: Live,
}

impl Mutation for IpcHostUnsupported {
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        Ok(self.host.enter(base.memhostalloc(size_bytes, flags)?))
    }

    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        let host = self.host.lock().iter().any(|memory| memory.token == token);
        if host {
            return Err(fail(Status::NOT_SUPPORTED, "get_ipc_handle: this is host memory"));
        }
        base.get_ipc_handle(token, offset_bytes)
    }
}

/// Goes wherever the offset leads.
#[derive(Default)]
pub(crate) struct IpcBeyond;

impl Mutation for IpcBeyond {
    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        base.get_ipc_handle(token, offset_bytes).or_else(|failure| {
            let handle = base.get_ipc_handle(token, 0).map_err(|_| failure)?;
            Ok(IpcHandle { offset_bytes: handle.offset_bytes.wrapping_add(offset_bytes), ..handle })
        })
    }
}
