//! Contexts, primary and created, and each thread's stack of them.

use allocert_contract::trace::cuda::Misuse;
use std::mem::ManuallyDrop;

use crate::{
    Caller, Driver,
    error::{CudaError, Result},
    handle_registry::Missing,
};

/// What the driver keeps for each thread of the program.
#[derive(Debug)]
pub struct Thread {
    /// The operating system's number for it.
    pub id: u32,
    incarnation: u64,
    depth: usize,
    stack: [u64; FIRST_DEPTH],
    /// What is pushed on a full `stack`: an H200 takes two million contexts. Stays when the thread
    /// ends, because a destructor of a thread-local value may still call the driver then.
    deeper: ManuallyDrop<Vec<u64>>,
}

/// More contexts than programs push.
const FIRST_DEPTH: usize = 32;

impl Thread {
    pub const fn new(id: u32) -> Self {
        let deeper = ManuallyDrop::new(Vec::new());
        Self { id, incarnation: 0, depth: 0, stack: [0; FIRST_DEPTH], deeper }
    }

    /// The current context's handle; 0 for none.
    #[inline]
    pub fn current(&self) -> u64 {
        let Some(last) = self.depth.checked_sub(1) else { return 0 };
        self.stack.get(last).or_else(|| self.deeper.last()).copied().unwrap_or(0)
    }

    fn push(&mut self, context: u64) {
        match self.stack.get_mut(self.depth) {
            Some(slot) => *slot = context,
            None => self.deeper.push(context),
        }
        self.depth += 1;
    }

    fn pop(&mut self) -> Option<u64> {
        let context = self.current();
        self.depth = self.depth.checked_sub(1)?;
        self.deeper.pop();
        Some(context)
    }
}

#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) device: usize,
    pub(crate) primary: bool,
    /// False for a primary context between its last release, or reset, and the next retain.
    pub(crate) active: bool,
    retained: u32,
    flags: u32,
    /// Whether it shows `CU_CTX_COREDUMP_ENABLE`, since it is active.
    shows_coredump: bool,
    pub(crate) id: u64,
    /// The legacy stream's handle.
    pub(crate) legacy: u64,
    /// Each thread's own stream.
    pub(crate) per_thread: Vec<(u32, u64)>,
    /// Last pending work of destroyed blocking streams.
    pub(crate) orphans: Vec<u64>,
    /// The last operation that all streams of the context come after, non-blocking ones too.
    pub(crate) barrier: Option<u64>,
    pub(crate) next_stream_id: u64,
    limits: [u64; 9],
    pub(crate) cache_config: u32,
    pub(crate) peers: Vec<u64>,
}

/// Stack, printf FIFO, malloc heap, device runtime depth and launches, L2 fetch granularity,
/// persisting L2 size, shared memory of graphics, compute in graphics. As an H200 begins.
const LIMITS: [u64; 9] = [1024, 0x84_0000, 8 << 20, 2, 2048, 64, 0xb4_0000, 0x3_8c00, 0];
/// `CU_CTX_SCHED_MASK`, `CU_CTX_MAP_HOST`, `CU_CTX_LMEM_RESIZE_TO_MAX`, coredump flags,
/// `CU_CTX_SYNC_MEMOPS`.
const FLAGS: u32 = 0xff;
/// `CU_CTX_COREDUMP_ENABLE` and `CU_CTX_USER_COREDUMP_ENABLE`
const COREDUMP: u32 = 0x20;
const USER_COREDUMP: u32 = 0x40;
/// `CU_CTX_SCHED_MASK`: at most one of its bits.
const SCHEDULING: u32 = 7;
/// `CU_CTX_MAP_HOST`, which a primary context says it has, and which cannot be set for one.
const MAP_HOST: u32 = 8;
const API_VERSION: u32 = 3020;
/// `CU_FUNC_CACHE_PREFER_EQUAL`, the last one.
pub(crate) const CACHE_PREFER_EQUAL: u32 = 3;
/// `CU_LIMIT_STACK_SIZE`
const STACK_SIZE: u32 = 0;
/// An H200 takes a stack of so many bytes, and refuses one of 992 more. The limit lies between.
const MOST_STACK_BYTES: u64 = (512 << 10) - 1024;
const STACK_STEP_BYTES: u64 = 16;
/// `CU_LIMIT_PRINTF_FIFO_SIZE`
const PRINTF_FIFO_SIZE: u32 = 1;
const LEAST_FIFO_BYTES: u64 = 512 << 10;
/// `CU_LIMIT_MALLOC_HEAP_SIZE`
const MALLOC_HEAP_SIZE: u32 = 2;
const LEAST_HEAP_BYTES: u64 = 4 << 20;
/// `CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT`
const PENDING_LAUNCHES: u32 = 4;
const LEAST_LAUNCHES: u64 = 32;
const MOST_LAUNCHES: u64 = 599_186;
/// `CU_LIMIT_MAX_L2_FETCH_GRANULARITY`
const FETCH_GRANULARITY: u32 = 5;
const MOST_FETCHED_BYTES: u64 = 128;
/// `CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH`
const SYNC_DEPTH: u32 = 3;
/// `CU_LIMIT_PERSISTING_L2_CACHE_SIZE`
const PERSISTING_L2_CACHE_SIZE: u32 = 6;
const L2_STEP_BYTES: u64 = 3840 << 10;
/// `CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE`
const MOST_L2_BYTES: u64 = 10 * L2_STEP_BYTES;
/// `CU_LIMIT_SHMEM_SIZE`
const SHMEM_SIZE: u32 = 7;
/// `CU_LIMIT_CIG_ENABLED`
const CIG_ENABLED: u32 = 8;
/// `CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED`
const CIG_SHMEM_FALLBACK_ENABLED: u32 = 9;

impl Context {
    pub(crate) fn new(device: usize, primary: bool, id: u64) -> Self {
        Self {
            device,
            primary,
            active: !primary,
            retained: 0,
            flags: 0,
            shows_coredump: false,
            id,
            legacy: 0,
            per_thread: Vec::new(),
            orphans: Vec::new(),
            barrier: None,
            next_stream_id: 0,
            limits: LIMITS,
            cache_config: 0,
            peers: Vec::new(),
        }
    }
}

/// Whether a context can be created with these flags.
fn are_flags(flags: u32) -> bool {
    flags & !FLAGS == 0 && (flags & SCHEDULING).count_ones() <= 1
}

/// What the H200 keeps of a limit that it is given: in bytes, but for the number of launches.
/// `INVALID_VALUE` for a limit that it refuses.
fn kept_limit(limit: u32, value: u64) -> Result<u64> {
    match limit {
        STACK_SIZE if value <= MOST_STACK_BYTES => Ok(value.next_multiple_of(STACK_STEP_BYTES)),
        FETCH_GRANULARITY if value <= MOST_FETCHED_BYTES => Ok(value),
        STACK_SIZE | FETCH_GRANULARITY => Err(CudaError::INVALID_VALUE),
        PRINTF_FIFO_SIZE => Ok(value.max(LEAST_FIFO_BYTES)),
        MALLOC_HEAP_SIZE => Ok(value.max(LEAST_HEAP_BYTES)),
        PERSISTING_L2_CACHE_SIZE if value > MOST_L2_BYTES => Err(CudaError::INVALID_VALUE),
        PERSISTING_L2_CACHE_SIZE => Ok(value.next_multiple_of(L2_STEP_BYTES)),
        PENDING_LAUNCHES => Ok(value.clamp(LEAST_LAUNCHES, MOST_LAUNCHES)),
        _ => Ok(value),
    }
}

impl Driver {
    /// Forgets a thread's contexts if they belong to a driver before a restart.
    #[inline]
    pub fn adopt(&self, thread: &mut Thread) {
        if thread.incarnation != self.incarnation {
            *thread = Thread { incarnation: self.incarnation, ..Thread::new(thread.id) };
        }
    }

    /// Fails before `cuInit`.
    #[inline]
    pub fn initialized(&self) -> Result {
        if self.initialized { Ok(()) } else { Err(CudaError::NOT_INITIALIZED) }
    }

    /// The current context, usable.
    #[inline]
    pub(crate) fn current(&self, caller: &Caller) -> Result<u64> {
        self.current_device(caller).map(|(context, _)| context)
    }

    /// The current context, usable, and its device.
    #[inline]
    pub(crate) fn current_device(&self, caller: &Caller) -> Result<(u64, usize)> {
        self.initialized()?;
        let context = caller.thread.current();
        if context == 0 {
            return Err(CudaError::INVALID_CONTEXT);
        }
        Ok((context, self.usable(context)?.device))
    }

    /// Whether the current context can be used.
    pub fn check_context(&self, caller: &Caller) -> Result {
        self.current(caller).map(|_| ())
    }

    /// For calls that work without a context but not with a broken one.
    #[inline]
    pub(crate) fn ready(&self, caller: &Caller) -> Result {
        self.initialized()?;
        match caller.thread.current() {
            0 => Ok(()),
            context => self.usable(context).map(|_| ()),
        }
    }

    /// The context, alive and without a sticky error.
    #[inline]
    pub(crate) fn usable(&self, context: u64) -> Result<&Context> {
        let found = self
            .contexts
            .get(context)
            .ok()
            .filter(|context| context.active)
            .ok_or(CudaError::CONTEXT_IS_DESTROYED)?;
        match self.devices[found.device].sticky {
            None => Ok(found),
            Some(error) => Err(error),
        }
    }

    /// A context named by a handle from the program.
    fn named(&mut self, handle: u64) -> Result<&mut Context> {
        let misuse = match self.contexts.get(handle) {
            Ok(_) => return self.contexts.get_mut(handle).map_err(|_| CudaError::INVALID_CONTEXT),
            Err(Missing::Unknown) => Misuse::UnknownContext,
            Err(Missing::Destroyed) => Misuse::DestroyedContext,
        };
        self.report_misuse(misuse, [handle, 0]);
        Err(CudaError::INVALID_CONTEXT)
    }

    fn activate(&mut self, handle: u64) {
        let legacy = self.new_legacy_stream(handle);
        if let Ok(context) = self.contexts.get_mut(handle) {
            context.active = true;
            context.legacy = legacy;
            context.limits = LIMITS;
            // As measured on an H200.
            let shown = if context.primary { COREDUMP } else { COREDUMP | USER_COREDUMP };
            context.shows_coredump = context.flags & shown != 0;
        }
    }

    /// Ends everything that lives in the context. Work that nobody waited for is lost.
    fn deactivate(&mut self, handle: u64) {
        self.drop_work_of(handle);
        self.release_memory_of(handle);
        for stream in self.streams.handles(|stream| stream.context == handle) {
            self.streams.remove(stream).ok();
        }
        for event in self.events.handles(|event| event.context == handle) {
            self.events.remove(event).ok();
        }
        self.drop_code_of(handle);
        if let Ok(context) = self.contexts.get_mut(handle) {
            *context = Context {
                active: false,
                // As measured, a reset takes no retain away, but the flags.
                retained: context.retained,
                ..Context::new(context.device, context.primary, context.id)
            };
        }
    }

    /// `cuDevicePrimaryCtxRetain`. Alongside an error, the handle that it would have been.
    pub fn primary_retain(&mut self, device: i32) -> (Result, u64) {
        let device = match self.device(device) {
            Ok(device) => device,
            Err(error) => return (Err(error), 0),
        };
        let handle = self.devices[device].primary;
        if let Some(error) = self.devices[device].sticky {
            return (Err(error), handle);
        }
        if self.contexts.get(handle).is_ok_and(|context| !context.active) {
            self.activate(handle);
        }
        if let Ok(context) = self.contexts.get_mut(handle) {
            context.retained += 1;
        }
        (Ok(()), handle)
    }

    /// `cuDevicePrimaryCtxRelease`. The last one waits as `cuDevicePrimaryCtxReset` does.
    pub fn primary_release(&mut self, device: i32) -> Result {
        let handle = self.primary(device)?;
        let context = self.named(handle)?;
        context.retained = context.retained.checked_sub(1).ok_or(CudaError::INVALID_CONTEXT)?;
        if context.retained == 0 {
            self.deactivate(handle);
            self.drain_all();
        }
        Ok(())
    }

    /// `cuDevicePrimaryCtxReset`. Waits for all other contexts, those of other devices too.
    pub fn primary_reset(&mut self, device: i32) -> Result {
        let handle = self.primary(device)?;
        self.deactivate(handle);
        self.drain_all();
        Ok(())
    }

    /// `cuDevicePrimaryCtxGetState`: flags, and whether it is active.
    pub fn primary_state(&mut self, device: i32) -> Result<(u32, bool)> {
        let handle = self.primary(device)?;
        let context = self.named(handle)?;
        Ok((context.flags, context.active))
    }

    /// `cuDevicePrimaryCtxSetFlags`.
    pub fn primary_set_flags(&mut self, device: i32, flags: u32) -> Result {
        let handle = self.primary(device)?;
        if flags & MAP_HOST != 0 || !are_flags(flags) {
            return Err(CudaError::INVALID_VALUE);
        }
        self.named(handle)?.flags = flags;
        Ok(())
    }

    fn primary(&self, device: i32) -> Result<u64> {
        self.device(device).map(|device| self.devices[device].primary)
    }

    /// `cuCtxCreate`. The new context becomes current.
    pub fn context_create(&mut self, caller: &mut Caller, flags: u32, device: i32) -> Result<u64> {
        let device = self.device(device)?;
        if !are_flags(flags) {
            return Err(CudaError::INVALID_VALUE);
        }
        if let Some(error) = self.devices[device].sticky {
            return Err(error);
        }
        let id = self.next_context_id();
        let handle = self.contexts.insert(Context { flags, ..Context::new(device, false, id) });
        self.activate(handle);
        caller.thread.push(handle);
        Ok(handle)
    }

    /// `cuCtxDestroy`. Primary contexts are released, not destroyed. Waits for all contexts,
    /// those of other devices too.
    pub fn context_destroy(&mut self, caller: &mut Caller, handle: u64) -> Result {
        if handle == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        self.initialized()?;
        let context = self.named(handle)?;
        if context.primary {
            return Err(CudaError::INVALID_CONTEXT);
        }
        self.drain_all();
        self.deactivate(handle);
        if let Ok(context) = self.contexts.remove(handle) {
            self.ended_contexts.insert(handle, context.device);
        }
        if caller.thread.current() == handle {
            caller.thread.pop();
        }
        Ok(())
    }

    /// `cuCtxPushCurrent`.
    pub fn context_push(&mut self, caller: &mut Caller, handle: u64) -> Result {
        self.initialized()?;
        if handle == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        self.named(handle)?;
        caller.thread.push(handle);
        Ok(())
    }

    /// `cuCtxPopCurrent`: the context that was current.
    pub fn context_pop(&self, caller: &mut Caller) -> Result<u64> {
        self.initialized()?;
        caller.thread.pop().ok_or(CudaError::INVALID_CONTEXT)
    }

    /// `cuCtxSetCurrent`: replaces the top of the thread's stack; 0 takes it away.
    pub fn context_set(&mut self, caller: &mut Caller, handle: u64) -> Result {
        self.initialized()?;
        if handle == 0 {
            caller.thread.pop();
            return Ok(());
        }
        self.named(handle)?;
        caller.thread.pop();
        caller.thread.push(handle);
        Ok(())
    }

    /// `cuCtxGetCurrent`; 0 for none.
    pub fn context_current(&self, caller: &Caller) -> Result<u64> {
        self.initialized()?;
        Ok(caller.thread.current())
    }

    /// The context called `handle`, or the current one for 0.
    pub(crate) fn context_or_current(
        &mut self,
        caller: &Caller,
        handle: u64,
    ) -> Result<&mut Context> {
        let handle = if handle == 0 { self.current(caller)? } else { handle };
        self.initialized()?;
        self.named(handle)
    }

    /// `cuCtxGetDevice`. Answers for a current context that was destroyed or reset, too.
    pub fn context_device(&mut self, caller: &Caller, handle: u64) -> Result<i32> {
        self.initialized()?;
        let current = caller.thread.current();
        if let (0, Ok(context)) = (handle, self.contexts.get(current)) {
            return Ok(context.device as i32);
        }
        if let (0, Some(device)) = (handle, self.ended_contexts.get(&current)) {
            return Ok(*device as i32);
        }
        self.context_or_current(caller, handle).map(|context| context.device as i32)
    }

    /// `cuCtxGetFlags`; 0 for a current context that was destroyed or reset.
    pub fn context_flags(&mut self, caller: &Caller) -> Result<u32> {
        self.initialized()?;
        let current = caller.thread.current();
        let is_reset = self.contexts.get(current).is_ok_and(|context| !context.active);
        if is_reset || self.ended_contexts.contains_key(&current) {
            return Ok(0);
        }
        let context = self.context_or_current(caller, 0)?;
        let always = if context.primary { MAP_HOST } else { 0 };
        let shown = if context.shows_coredump { COREDUMP } else { 0 };
        Ok(context.flags & !(COREDUMP | USER_COREDUMP) | always | shown)
    }

    /// `cuCtxGetId`.
    pub fn context_id(&mut self, caller: &Caller, handle: u64) -> Result<u64> {
        self.context_or_current(caller, handle).map(|context| context.id)
    }

    /// `cuCtxGetApiVersion`.
    pub fn context_api_version(&mut self, caller: &Caller, handle: u64) -> Result<u32> {
        self.context_or_current(caller, handle).map(|_| API_VERSION)
    }

    /// `cuCtxSynchronize`: runs all work of the context.
    pub fn context_synchronize(&mut self, caller: &Caller, handle: u64) -> Result {
        let context = if handle == 0 { self.current(caller)? } else { handle };
        self.initialized()?;
        self.named(context)?;
        self.settle_context(context)
    }

    /// `cuCtxGetLimit`.
    pub fn context_limit(&mut self, caller: &Caller, limit: u32) -> Result<u64> {
        let context = self.context_or_current(caller, 0)?;
        match limit {
            SYNC_DEPTH | CIG_SHMEM_FALLBACK_ENABLED => Err(CudaError::UNSUPPORTED_LIMIT),
            _ => context.limits.get(limit as usize).copied().ok_or(CudaError::INVALID_VALUE),
        }
    }

    /// `cuCtxSetLimit`. The context's work ends before its stacks change.
    pub fn context_set_limit(&mut self, caller: &Caller, limit: u32, value: u64) -> Result {
        let context = self.context_or_current(caller, 0)?;
        match limit {
            SYNC_DEPTH | CIG_SHMEM_FALLBACK_ENABLED => return Err(CudaError::UNSUPPORTED_LIMIT),
            SHMEM_SIZE | CIG_ENABLED => return Err(CudaError::NOT_PERMITTED),
            _ => {}
        }
        let kept = context.limits.get_mut(limit as usize).ok_or(CudaError::INVALID_VALUE)?;
        *kept = kept_limit(limit, value)?;
        match limit {
            STACK_SIZE | PERSISTING_L2_CACHE_SIZE => self.drain_context(caller.thread.current()),
            _ => Ok(()),
        }
    }

    /// `cuCtxGetCacheConfig`.
    pub fn context_cache_config(&mut self, caller: &Caller) -> Result<u32> {
        self.context_or_current(caller, 0).map(|context| context.cache_config)
    }

    /// `cuCtxSetCacheConfig`.
    pub fn context_set_cache_config(&mut self, caller: &Caller, config: u32) -> Result {
        let context = self.context_or_current(caller, 0)?;
        if config > CACHE_PREFER_EQUAL {
            return Err(CudaError::INVALID_VALUE);
        }
        context.cache_config = config;
        Ok(())
    }

    /// `cuCtxEnablePeerAccess`.
    pub fn enable_peer(&mut self, caller: &Caller, peer: u64, flags: u32) -> Result {
        self.current(caller)?;
        let (peer_device, reachable) = (self.named(peer)?.device, self.settings.peer_access);
        let context = self.context_or_current(caller, 0)?;
        if flags != 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        if !reachable || context.device == peer_device {
            return Err(CudaError::PEER_ACCESS_UNSUPPORTED);
        }
        if context.peers.contains(&peer) {
            return Err(CudaError::PEER_ACCESS_ALREADY_ENABLED);
        }
        context.peers.push(peer);
        Ok(())
    }

    /// `cuCtxDisablePeerAccess`.
    pub fn disable_peer(&mut self, caller: &Caller, peer: u64) -> Result {
        self.current(caller)?;
        self.named(peer)?;
        let context = self.context_or_current(caller, 0)?;
        let index = context
            .peers
            .iter()
            .position(|known| *known == peer)
            .ok_or(CudaError::PEER_ACCESS_NOT_ENABLED)?;
        context.peers.remove(index);
        Ok(())
    }
}
