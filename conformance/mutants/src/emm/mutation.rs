//! A mutation, and the plugin that it makes of the base manager.

pub(crate) mod second_manager;
pub(crate) mod state;

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use allocert_abi::emm::{CAP_HOST_MEMORY, CAP_IPC, CAP_MEMORY_INFO, IpcHandle, Memory, MemoryInfo};
use allocert_abi::plugin::{CudaContext, EmmPlugin};

use crate::emm::base_manager::{Answer, BaseKind, BaseManager, PinRequest};
use state::{LiveBlocks, ScopeDepth};

/// One thing that a mutant does wrong. Methods without an override call the base manager.
pub(crate) trait Mutation: Default + Send + Sync + 'static {
    const KIND: BaseKind = BaseKind::Direct;

    /// The mutation's own list of live blocks, from which `release` and `reset` remove.
    fn live(&self) -> Option<&LiveBlocks> {
        None
    }
    /// The mutation's own count of scopes, which `defer_begin` and `defer_end` change.
    fn depth(&self) -> Option<&ScopeDepth> {
        None
    }
    fn create(&self, _base: &BaseManager) -> Answer {
        Ok(())
    }
    fn initialize(&self, base: &BaseManager) -> Answer {
        base.initialize()
    }
    fn memalloc(&self, base: &BaseManager, size_bytes: u64) -> Answer<Memory> {
        base.memalloc(size_bytes)
    }
    fn memhostalloc(&self, base: &BaseManager, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags)
    }
    fn mempin(&self, base: &BaseManager, request: PinRequest) -> Answer<Memory> {
        base.mempin(request)
    }
    fn release(&self, base: &BaseManager, token: u64) -> Answer {
        if let Some(live) = self.live() {
            live.remove(token);
        }
        base.release(token)
    }
    fn get_memory_info(&self, base: &BaseManager) -> Answer<MemoryInfo> {
        base.get_memory_info()
    }
    fn get_ipc_handle(
        &self,
        base: &BaseManager,
        token: u64,
        offset_bytes: u64,
    ) -> Answer<IpcHandle> {
        base.get_ipc_handle(token, offset_bytes)
    }
    fn reset(&self, base: &BaseManager) -> Answer {
        if let Some(live) = self.live() {
            live.clear();
        }
        base.reset()
    }
    fn defer_begin(&self, base: &BaseManager) -> Answer {
        if let Some(depth) = self.depth() {
            depth.begin();
        }
        base.defer_begin()
    }
    fn defer_end(&self, base: &BaseManager) -> Answer {
        if let Some(depth) = self.depth() {
            depth.end();
        }
        base.defer_end()
    }
    /// Ends the base manager.
    fn destroy(&self, base: BaseManager) {
        drop(base);
    }
}

/// The base manager with one mutation.
pub(crate) struct Mutant<M: Mutation> {
    mutation: M,
    /// `None` only while the mutant is dropped.
    base: Option<BaseManager>,
}

impl<M: Mutation> Mutant<M> {
    fn base(&self) -> &BaseManager {
        self.base.as_ref().expect("only drop takes it")
    }
}

impl<M: Mutation> Drop for Mutant<M> {
    fn drop(&mut self) {
        if let Some(base) = self.base.take() {
            self.mutation.destroy(base);
        }
    }
}

impl<M: Mutation> EmmPlugin for Mutant<M> {
    const NAME: &'static CStr = c"allocert mutant";
    const VERSION: &'static CStr = c"1";
    const CAPABILITIES: u32 = CAP_HOST_MEMORY | CAP_MEMORY_INFO | CAP_IPC;

    fn create(context: CudaContext, device: i32) -> Answer<Self> {
        let base = BaseManager::open(M::KIND, context, device)?;
        let mutation = M::default();
        mutation.create(&base)?;
        Ok(Self { mutation, base: Some(base) })
    }
    fn initialize(&self) -> Answer {
        self.mutation.initialize(self.base())
    }
    fn memalloc(&self, size_bytes: u64) -> Answer<Memory> {
        self.mutation.memalloc(self.base(), size_bytes)
    }
    fn memhostalloc(&self, size_bytes: u64, flags: u32) -> Answer<Memory> {
        self.mutation.memhostalloc(self.base(), size_bytes, flags)
    }
    fn mempin(&self, pointer: NonNull<c_void>, size_bytes: u64, flags: u32) -> Answer<Memory> {
        self.mutation.mempin(self.base(), PinRequest { pointer, size_bytes, flags })
    }
    fn release(&self, token: u64) -> Answer {
        self.mutation.release(self.base(), token)
    }
    fn get_memory_info(&self) -> Answer<MemoryInfo> {
        self.mutation.get_memory_info(self.base())
    }
    fn get_ipc_handle(&self, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        self.mutation.get_ipc_handle(self.base(), token, offset_bytes)
    }
    fn reset(&self) -> Answer {
        self.mutation.reset(self.base())
    }
    fn defer_begin(&self) -> Answer {
        self.mutation.defer_begin(self.base())
    }
    fn defer_end(&self) -> Answer {
        self.mutation.defer_end(self.base())
    }
}
