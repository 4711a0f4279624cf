//! Streams: which one a handle stands for, and what must come before work on it.

use std::collections::VecDeque;

use allocert_contract::{StreamHandle, trace::cuda::Misuse};

use crate::{
    Caller, Driver,
    device::PRIORITIES,
    error::{CudaError, Result},
    event::{EXTERNAL, refuse_external},
    handle_registry::Missing,
    work_queue::Work,
};

#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) context: u64,
    kind: Kind,
    flags: u32,
    priority: i32,
    id: u64,
    /// Operations that did not run yet, oldest first.
    pub(crate) pending: VecDeque<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Waits for all blocking streams of its context, and they for it.
    Legacy,
    /// `CU_STREAM_NON_BLOCKING` not given, or a thread's own stream.
    Blocking,
    NonBlocking,
}

const NON_BLOCKING: u32 = 1;
/// As measured: the legacy stream's id, and where those of created streams start.
const LEGACY_ID: u64 = 7;
const FIRST_ID: u64 = 13;

impl Driver {
    pub(crate) fn new_legacy_stream(&mut self, context: u64) -> u64 {
        if let Ok(context) = self.contexts.get_mut(context) {
            context.next_stream_id = FIRST_ID;
        }
        self.streams.insert(Stream {
            context,
            kind: Kind::Legacy,
            flags: 0,
            priority: 0,
            id: LEGACY_ID,
            pending: VecDeque::new(),
        })
    }

    fn new_stream(&mut self, context: u64, kind: Kind, flags: u32, priority: i32) -> u64 {
        let id = self.contexts.get_mut(context).map_or(0, |context| {
            context.next_stream_id += 1;
            context.next_stream_id - 1
        });
        self.streams.insert(Stream { context, kind, flags, priority, id, pending: VecDeque::new() })
    }

    /// The stream that `handle` means to this caller, in a usable context.
    pub(crate) fn stream(&mut self, caller: &Caller, handle: StreamHandle) -> Result<u64> {
        self.initialized()?;
        let context = match handle {
            StreamHandle::PER_THREAD => return self.own_stream(caller),
            StreamHandle::DEFAULT if caller.per_thread => return self.own_stream(caller),
            StreamHandle::DEFAULT | StreamHandle::LEGACY => {
                let context = self.current(caller)?;
                return self
                    .contexts
                    .get(context)
                    .map(|context| context.legacy)
                    .map_err(|_| CudaError::INVALID_CONTEXT);
            }
            StreamHandle(created) => self.created_stream(created)?.context,
        };
        self.usable(context)?;
        Ok(handle.0)
    }

    /// Whether an asynchronous copy could be queued on a stream: not while a destroyed context is
    /// current, whosever the stream is.
    pub fn check_copy_stream(&mut self, caller: &Caller, handle: StreamHandle) -> Result {
        self.ready(caller)?;
        self.check_stream(caller, handle)
    }

    /// Whether work could be queued on a stream.
    pub fn check_stream(&mut self, caller: &Caller, handle: StreamHandle) -> Result {
        self.stream(caller, handle).map(|_| ())
    }

    fn created_stream(&mut self, handle: u64) -> Result<&mut Stream> {
        let misuse = match self.streams.get(handle) {
            Ok(stream) if stream.kind != Kind::Legacy => {
                return self.streams.get_mut(handle).map_err(|_| CudaError::INVALID_HANDLE);
            }
            Err(Missing::Destroyed) => Misuse::DestroyedStream,
            Ok(_) | Err(Missing::Unknown) => Misuse::UnknownStream,
        };
        self.report_misuse(misuse, [handle, 0]);
        Err(CudaError::INVALID_HANDLE)
    }

    /// The calling thread's own stream in the current context.
    fn own_stream(&mut self, caller: &Caller) -> Result<u64> {
        let handle = self.current(caller)?;
        let thread = caller.thread.id;
        let context = self.contexts.get(handle).map_err(|_| CudaError::INVALID_CONTEXT)?;
        if let Some((_, stream)) = context.per_thread.iter().find(|(owner, _)| *owner == thread) {
            return Ok(*stream);
        }
        let stream = self.new_stream(handle, Kind::Blocking, 0, 0);
        if let Ok(context) = self.contexts.get_mut(handle) {
            context.per_thread.push((thread, stream));
        }
        Ok(stream)
    }

    /// The operations that new work on the stream must follow (CUDA Driver API, "Stream
    /// synchronization behavior").
    pub(crate) fn order_before(&self, stream: u64) -> Vec<u64> {
        let Ok(found) = self.streams.get(stream) else { return Vec::new() };
        let barrier = self.contexts.get(found.context).ok().and_then(|context| context.barrier);
        let mut before = self.order_by_kind(found);
        before.extend(barrier.filter(|id| self.queue.is_pending(*id)));
        before
    }

    fn order_by_kind(&self, found: &Stream) -> Vec<u64> {
        match found.kind {
            Kind::Legacy => self.pending_for_legacy(found.context),
            Kind::NonBlocking => found.pending.back().copied().into_iter().collect(),
            Kind::Blocking => {
                let legacy = self
                    .contexts
                    .get(found.context)
                    .ok()
                    .and_then(|context| self.streams.get(context.legacy).ok());
                let barrier = legacy.and_then(|legacy| legacy.pending.back());
                found.pending.back().into_iter().chain(barrier).copied().collect()
            }
        }
    }

    /// The last operations of the legacy stream and of all streams that it waits for.
    fn pending_for_legacy(&self, context: u64) -> Vec<u64> {
        let orphans = self.contexts.get(context).map_or(&[][..], |context| &context.orphans);
        let streams = self
            .streams
            .iter()
            .filter(|(_, stream)| stream.context == context && stream.kind != Kind::NonBlocking);
        let tails = streams.filter_map(|(_, stream)| stream.pending.back().copied());
        tails.chain(orphans.iter().copied().filter(|id| self.queue.is_pending(*id))).collect()
    }

    /// Runs everything queued on the stream, and what it waits for. For a call that has changed
    /// nothing yet.
    pub(crate) fn drain_stream(&mut self, stream: u64) -> Result {
        self.settle(&self.order_before_now(stream))?;
        self.stream_usable(stream)
    }

    /// Whether `stream` is a legacy stream, and work of `other` comes before its own.
    pub(crate) fn legacy_waits_for(&self, stream: u64, other: u64) -> bool {
        let (Ok(stream), Ok(other)) = (self.streams.get(stream), self.streams.get(other)) else {
            return false;
        };
        let same_context = stream.context == other.context;
        stream.is_legacy() && same_context && other.kind != Kind::NonBlocking
    }

    /// Fails if the stream's context can no longer be used.
    pub(crate) fn stream_usable(&self, stream: u64) -> Result {
        let context = self.streams.get(stream).map_err(|_| CudaError::INVALID_HANDLE)?.context;
        self.usable(context).map(|_| ())
    }

    /// What synchronizing with the stream waits for.
    fn order_before_now(&self, stream: u64) -> Vec<u64> {
        match self.streams.get(stream) {
            Ok(found) if found.kind == Kind::Legacy => self.pending_for_legacy(found.context),
            Ok(found) => found.pending.back().copied().into_iter().collect(),
            Err(_) => Vec::new(),
        }
    }

    /// `cuStreamCreate`, `cuStreamCreateWithPriority`.
    pub fn stream_create(
        &mut self,
        caller: &Caller,
        flags: u32,
        priority: i32,
    ) -> Result<StreamHandle> {
        let kind = match flags {
            0 => Kind::Blocking,
            NON_BLOCKING => Kind::NonBlocking,
            _ => return Err(CudaError::INVALID_VALUE),
        };
        self.initialized()?;
        let context = self.current(caller)?;
        let priority = priority.clamp(PRIORITIES.0, PRIORITIES.1);
        Ok(StreamHandle(self.new_stream(context, kind, flags, priority)))
    }

    /// `cuStreamDestroy`: returns at once; work already queued still runs when something waits for
    /// it.
    pub fn stream_destroy(&mut self, caller: &Caller, handle: StreamHandle) -> Result {
        self.initialized()?;
        if handle <= StreamHandle::PER_THREAD {
            if handle != StreamHandle::DEFAULT {
                self.current(caller)?;
            }
            return Err(CudaError::INVALID_HANDLE);
        }
        let context = self.created_stream(handle.0)?.context;
        let stream = self.streams.remove(handle.0).map_err(|_| CudaError::INVALID_HANDLE)?;
        if let (Some(last), Ok(context)) = (stream.pending.back(), self.contexts.get_mut(context)) {
            let queue = &self.queue;
            context.orphans.retain(|id| queue.is_pending(*id));
            if stream.kind == Kind::Blocking {
                context.orphans.push(*last);
            }
        }
        Ok(())
    }

    /// `cuStreamSynchronize`.
    pub fn stream_synchronize(&mut self, caller: &Caller, handle: StreamHandle) -> Result {
        let stream = self.stream(caller, handle)?;
        self.drain_stream(stream)
    }

    /// `cuStreamQuery`: `NOT_READY` while work is pending.
    pub fn stream_query(&mut self, caller: &Caller, handle: StreamHandle) -> Result {
        let stream = self.stream(caller, handle)?;
        self.poll(&self.order_before_now(stream))?;
        self.stream_usable(stream)
    }

    /// `cuStreamWaitEvent`.
    pub fn stream_wait_event(
        &mut self,
        caller: &Caller,
        handle: StreamHandle,
        event: u64,
        flags: u32,
    ) -> Result {
        let stream = self.stream(caller, handle)?;
        if flags != EXTERNAL {
            refuse_external(flags)?;
        }
        let recorded = self.event(event)?.recorded;
        refuse_external(flags)?;
        match recorded {
            // An event that was never recorded is not even a barrier in the legacy stream.
            None => Ok(()),
            recorded => self.enqueue(stream, Work::Wait, recorded).map(|_| ()),
        }
    }

    /// `cuStreamGetFlags`.
    pub fn stream_flags(&mut self, caller: &Caller, handle: StreamHandle) -> Result<u32> {
        self.stream_facts(caller, handle).map(|stream| stream.flags)
    }

    /// `cuStreamGetPriority`.
    pub fn stream_priority(&mut self, caller: &Caller, handle: StreamHandle) -> Result<i32> {
        self.stream_facts(caller, handle).map(|stream| stream.priority)
    }

    /// `cuStreamGetId`.
    pub fn stream_id(&mut self, caller: &Caller, handle: StreamHandle) -> Result<u64> {
        self.stream_facts(caller, handle).map(|stream| stream.id)
    }

    /// `cuStreamGetCtx`.
    pub fn stream_context(&mut self, caller: &Caller, handle: StreamHandle) -> Result<u64> {
        self.stream_facts(caller, handle).map(|stream| stream.context)
    }

    /// `cuStreamGetDevice`.
    pub fn stream_device(&mut self, caller: &Caller, handle: StreamHandle) -> Result<i32> {
        let context = self.stream_context(caller, handle)?;
        self.contexts
            .get(context)
            .map(|context| context.device as i32)
            .map_err(|_| CudaError::INVALID_CONTEXT)
    }

    fn stream_facts(&mut self, caller: &Caller, handle: StreamHandle) -> Result<&Stream> {
        let stream = self.stream(caller, handle)?;
        self.streams.get(stream).map_err(|_| CudaError::INVALID_HANDLE)
    }

    /// `cuLaunchHostFunc`, and `cuStreamAddCallback` if `as_callback`.
    pub fn stream_call(
        &mut self,
        caller: &Caller,
        handle: StreamHandle,
        function: u64,
        data: u64,
        as_callback: bool,
    ) -> Result {
        let stream = self.stream(caller, handle)?;
        if function == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        let work = Work::Call { function, stream: as_callback.then_some(handle.0), data };
        self.enqueue(stream, work, None)?;
        Ok(())
    }
}

impl Stream {
    pub(crate) fn is_legacy(&self) -> bool {
        self.kind == Kind::Legacy
    }
}

impl Driver {
    /// `cuCtxGetStreamPriorityRange`: least, greatest.
    pub fn stream_priorities(&self, caller: &Caller) -> Result<(i32, i32)> {
        self.current(caller)?;
        Ok((PRIORITIES.1, PRIORITIES.0))
    }
}
