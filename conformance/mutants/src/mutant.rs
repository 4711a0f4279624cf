//! How a mutation becomes a plugin.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use allocert_abi::emm::{CAP_HOST_MEMORY, CAP_IPC, CAP_MEMORY_INFO, IpcHandle, Memory, MemoryInfo};
use allocert_abi::plugin::{CudaContext, EmmPlugin};

use crate::base::{Answer, Base, Kind};

/// One way to be wrong. Every method that is not overridden is faithful.
pub(crate) trait Mutation: Default + Send + Sync + 'static {
    const KIND: Kind = Kind::Direct;

    /// The list of what is alive that a mutation keeps: what is released or reset leaves it.
    fn live(&self) -> Option<&Live> {
        None
    }
    fn create(&self, _base: &Base) -> Answer {
        Ok(())
    }
    fn initialize(&self, base: &Base) -> Answer {
        base.initialize()
    }
    fn memalloc(&self, base: &Base, size_bytes: u64) -> Answer<Memory> {
        base.memalloc(size_bytes)
    }
    fn memhostalloc(&self, base: &Base, size_bytes: u64, flags: u32) -> Answer<Memory> {
        base.memhostalloc(size_bytes, flags)
    }
    fn mempin(
        &self,
        base: &Base,
        pointer: NonNull<c_void>,
        size_bytes: u64,
        flags: u32,
    ) -> Answer<Memory> {
        base.mempin(pointer, size_bytes, flags)
    }
    fn release(&self, base: &Base, token: u64) -> Answer {
        if let Some(live) = self.live() {
            live.leave(token);
        }
        base.release(token)
    }
    fn get_memory_info(&self, base: &Base) -> Answer<MemoryInfo> {
        base.get_memory_info()
    }
    fn get_ipc_handle(&self, base: &Base, token: u64, offset_bytes: u64) -> Answer<IpcHandle> {
        base.get_ipc_handle(token, offset_bytes)
    }
    fn reset(&self, base: &Base) -> Answer {
        if let Some(live) = self.live() {
            live.clear();
        }
        base.reset()
    }
    fn defer_begin(&self, base: &Base) -> Answer {
        base.defer_begin()
    }
    fn defer_end(&self, base: &Base) -> Answer {
        base.defer_end()
    }
    /// The end of the manager; the faithful one is dropped.
    fn destroy(&self, base: Base) {
        drop(base);
    }
}

/// A faithful manager with one mutation.
pub(crate) struct Mutant<M: Mutation> {
    mutation: M,
    /// Taken by the drop alone.
    base: Option<Base>,
}

impl<M: Mutation> Mutant<M> {
    fn base(&self) -> &Base {
        self.base.as_ref().expect("taken by the drop alone")
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
        let base = Base::open(M::KIND, context, device)?;
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
        self.mutation.mempin(self.base(), pointer, size_bytes, flags)
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

/// State of a mutation: a value behind a lock.
#[derive(Debug, Default)]
pub(crate) struct Cell<T>(Mutex<T>);

// SAFETY: the values kept here are numbers and addresses of the C contract, which are the same on
// every thread; the lock orders who looks at them.
unsafe impl<T> Send for Cell<T> {}
// SAFETY: as for Send.
unsafe impl<T> Sync for Cell<T> {}

impl<T> Cell<Vec<T>> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> Cell<T> {
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Memory that was given out and not released, oldest first.
pub(crate) type Live = Cell<Vec<Memory>>;

impl Live {
    pub(crate) fn enter(&self, memory: Memory) -> Memory {
        self.lock().push(memory);
        memory
    }

    pub(crate) fn leave(&self, token: u64) -> Option<Memory> {
        let mut live = self.lock();
        let at = live.iter().position(|memory| memory.token == token)?;
        Some(live.remove(at))
    }

    pub(crate) fn oldest(&self) -> Option<Memory> {
        self.lock().first().copied()
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }
}

/// How often something happened.
pub(crate) type Count = Cell<u64>;

impl Count {
    /// Counts one more; how often it happened before.
    pub(crate) fn next(&self) -> u64 {
        let mut count = self.lock();
        *count += 1;
        *count - 1
    }

    pub(crate) fn get(&self) -> u64 {
        *self.lock()
    }

    pub(crate) fn set(&self, value: u64) {
        *self.lock() = value;
    }
}

/// Something that happened once and for all.
pub(crate) type Flag = Cell<bool>;

impl Flag {
    pub(crate) fn raise(&self) {
        *self.lock() = true;
    }

    pub(crate) fn lower(&self) {
        *self.lock() = false;
    }

    pub(crate) fn is_up(&self) -> bool {
        *self.lock()
    }
}
