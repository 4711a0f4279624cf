//! Work that is queued in streams. It runs as late as possible: when a call has to wait for it,
//! together with everything that must come before it.
//!
//! An operation depends only on operations that were queued before it. So any set of operations may
//! run in the order of their numbers.

use std::collections::{BTreeMap, BTreeSet};

use allocert_contract::trace::cuda::Misuse;

use crate::{
    Driver,
    error::{CudaError, Result},
    transfer::{Fill, Transfer},
};

#[derive(Debug, Default)]
pub(crate) struct Queue {
    pending: BTreeMap<u64, Operation>,
    last: u64,
    /// The function of the host that a call waits for or a query found unfinished.
    awaited: Option<u64>,
    /// Device time, for event timestamps; moves with the work done.
    pub(crate) clock_ns: u64,
}

#[derive(Debug)]
struct Operation {
    stream: u64,
    context: u64,
    after: Vec<u64>,
    work: Work,
    /// Queries that were answered "not ready".
    polls: u32,
}

#[derive(Debug)]
pub(crate) enum Work {
    /// Waits for what it depends on.
    Wait,
    /// Stamps an event.
    Record {
        event: u64,
    },
    Copy(Transfer),
    /// `block`: the number of the block that it fills.
    Fill {
        fill: Fill,
        block: u64,
    },
    /// `cuMemFreeAsync`.
    Free {
        address: u64,
        buffer_id: u64,
    },
    Call {
        function: u64,
        stream: Option<u64>,
        data: u64,
    },
    /// A function of the host that a thread runs now, without the driver.
    Calling,
    /// A launch; computes nothing.
    Kernel {
        fault: Option<CudaError>,
    },
}

/// A function of the host: a `CUhostFn`, or a `CUstreamCallback` if `stream` is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostFunction {
    /// For [`Driver::end_host_function`].
    pub operation: u64,
    pub function: u64,
    pub stream: Option<u64>,
    pub data: u64,
}

/// What the holder of the driver does about functions of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHostFunction {
    /// Calls it, while others use the driver.
    Call(HostFunction),
    /// Waits: another thread is inside the function.
    IsRunning,
    None,
}

/// A stream may hold so many operations; queueing one more runs the oldest, as a full hardware
/// queue does.
const STREAM_DEPTH: usize = 1024;

/// The query that finds pending work finished: the three before it answer that it is not, so that a
/// subject that takes the first answer for the end is found. Work that is only polled must end some
/// time.
const LAST_POLL: u32 = 4;
/// A query that finds a function of the host unfinished is made again so often.
const LAST_POLL_OF_HOST_FUNCTION: u32 = LAST_POLL + 100;

/// Device time that each operation takes.
const OPERATION_NS: u64 = 1000;

impl Queue {
    pub(crate) fn is_pending(&self, operation: u64) -> bool {
        self.pending.contains_key(&operation)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Whether nothing has to run before the operation.
    fn is_next(&self, operation: u64) -> bool {
        self.pending
            .get(&operation)
            .is_some_and(|found| !found.after.iter().any(|id| self.is_pending(*id)))
    }

    fn of_context(&self, context: u64) -> Vec<u64> {
        let of =
            |(id, operation): (&u64, &Operation)| (operation.context == context).then_some(*id);
        self.pending.iter().filter_map(of).collect()
    }

    fn host_functions(&self) -> impl Iterator<Item = u64> {
        let of = |(id, operation): (&u64, &Operation)| operation.work.is_of_host().then_some(*id);
        self.pending.iter().filter_map(of)
    }

    /// The first function of the host among the operations and all that must come before them.
    fn host_function_before(&self, roots: impl IntoIterator<Item = u64>) -> Option<u64> {
        self.host_functions().next()?;
        let is_of_host =
            |id: &u64| self.pending.get(id).is_some_and(|operation| operation.work.is_of_host());
        self.with_predecessors(roots).into_iter().find(is_of_host)
    }

    fn with_predecessors(&self, roots: impl IntoIterator<Item = u64>) -> BTreeSet<u64> {
        let mut wanted = BTreeSet::new();
        let mut stack: Vec<u64> = roots.into_iter().collect();
        while let Some(id) = stack.pop() {
            if let Some(operation) = self.pending.get(&id)
                && wanted.insert(id)
            {
                stack.extend(&operation.after);
            }
        }
        wanted
    }
}

impl Work {
    fn is_of_host(&self) -> bool {
        matches!(self, Self::Call { .. } | Self::Calling)
    }
}

impl Driver {
    /// Queues `work` on a stream behind what the ordering rules demand, and behind `also`.
    pub(crate) fn enqueue(&mut self, stream: u64, work: Work, also: Option<u64>) -> Result<u64> {
        let mut after = self.order_before(stream);
        after.extend(also.filter(|id| self.queue.is_pending(*id)));
        let found = self.streams.get_mut(stream).map_err(|_| CudaError::INVALID_HANDLE)?;
        self.queue.last += 1;
        let id = self.queue.last;
        let context = found.context;
        found.pending.push_back(id);
        let full =
            (found.pending.len() > STREAM_DEPTH).then(|| found.pending.front().copied()).flatten();
        self.queue.pending.insert(id, Operation { stream, context, after, work, polls: 0 });
        if let Some(oldest) = full {
            self.force([oldest]);
        }
        Ok(id)
    }

    /// Runs the operations and all that must come before them.
    pub(crate) fn force(&mut self, operations: impl IntoIterator<Item = u64>) {
        for id in self.queue.with_predecessors(operations) {
            self.run(id);
        }
    }

    /// Whether nothing that must end before the operations is a function of the host. A call that
    /// will wait asks before it changes anything.
    pub(crate) fn no_host_function_before(
        &mut self,
        operations: impl IntoIterator<Item = u64>,
    ) -> Result {
        match self.queue.host_function_before(operations) {
            None => Ok(()),
            found => {
                self.queue.awaited = found;
                Err(CudaError::HOST_FUNCTION_FIRST)
            }
        }
    }

    /// As [`Driver::force`], for a call that has changed nothing yet.
    pub(crate) fn settle(&mut self, operations: &[u64]) -> Result {
        self.no_host_function_before(operations.iter().copied())?;
        self.force(operations.iter().copied());
        Ok(())
    }

    /// One query of the operations: whether they are done. Enough queries finish them. They let a
    /// function of the host run, and do not wait for long until it has returned.
    pub(crate) fn poll(&mut self, operations: &[u64]) -> Result {
        let pending: Vec<_> =
            operations.iter().copied().filter(|id| self.queue.is_pending(*id)).collect();
        let mut polls = 0;
        for id in &pending {
            if let Some(operation) = self.queue.pending.get_mut(id) {
                operation.polls = operation.polls.saturating_add(1);
                polls = polls.max(operation.polls);
            }
        }
        if !pending.is_empty() && polls < LAST_POLL {
            return Err(CudaError::NOT_READY);
        }
        self.settle(&pending).map_err(|error| match error {
            CudaError::HOST_FUNCTION_FIRST if polls < LAST_POLL_OF_HOST_FUNCTION => {
                CudaError::HOST_FUNCTION_SOON
            }
            CudaError::HOST_FUNCTION_FIRST => CudaError::NOT_READY,
            error => error,
        })
    }

    /// As [`Driver::drain_context`], for a call that has changed nothing yet.
    pub(crate) fn settle_context(&mut self, context: u64) -> Result {
        self.settle(&self.queue.of_context(context))?;
        self.usable(context).map(|_| ())
    }

    pub(crate) fn drain_context(&mut self, context: u64) -> Result {
        self.force(self.queue.of_context(context));
        self.usable(context).map(|_| ())
    }

    /// Runs all work of a context whose device is known, for a call that has changed nothing yet.
    #[inline]
    pub(crate) fn settle_owner(&mut self, context: u64, device: usize) -> Result {
        if !self.queue.is_empty() {
            self.settle(&self.queue.of_context(context))?;
        }
        self.devices[device].sticky.map_or(Ok(()), Err)
    }

    /// Makes all later work of the context come after all that is queued now.
    pub(crate) fn raise_barrier(&mut self, context: u64) -> Result {
        let after = self.queue.of_context(context);
        if after.is_empty() {
            return Ok(());
        }
        let found = self.contexts.get_mut(context).map_err(|_| CudaError::INVALID_CONTEXT)?;
        self.queue.last += 1;
        let (id, stream) = (self.queue.last, found.legacy);
        found.barrier = Some(id);
        let operation = Operation { stream, context, after, work: Work::Wait, polls: 0 };
        self.queue.pending.insert(id, operation);
        Ok(())
    }

    pub(crate) fn is_next(&self, operation: u64) -> bool {
        self.queue.is_next(operation)
    }

    #[inline]
    pub(crate) fn drain_device(&mut self, device: usize) -> Result {
        if !self.queue.is_empty() {
            self.drain_pending(device);
        }
        self.devices[device].sticky.map_or(Ok(()), Err)
    }

    pub(crate) fn drain_all(&mut self) {
        for device in 0..self.devices.len() {
            self.drain_device(device).ok();
        }
    }

    fn drain_pending(&mut self, device: usize) {
        let on_device =
            |context| self.contexts.get(context).is_ok_and(|context| context.device == device);
        let all: Vec<_> = self
            .queue
            .pending
            .iter()
            .filter(|(_, operation)| on_device(operation.context))
            .map(|(id, _)| *id)
            .collect();
        self.force(all);
    }

    /// Forgets the work of a context that ends.
    pub(crate) fn drop_work_of(&mut self, context: u64) {
        let pending = self.queue.pending.iter();
        let ending: Vec<_> = pending
            .filter(|(_, operation)| operation.context == context)
            .map(|(id, _)| *id)
            .collect();
        for id in ending {
            let dropped = self.queue.pending.remove(&id).map(|operation| operation.work);
            // Memory of a pool outlives the context.
            if let Some(Work::Free { address, buffer_id }) = dropped {
                self.finish_free(address, buffer_id);
            }
        }
    }

    fn run(&mut self, id: u64) {
        let Some(operation) = self.queue.pending.remove(&id) else { return };
        if let Ok(stream) = self.streams.get_mut(operation.stream) {
            stream.pending.retain(|pending| *pending != id);
        }
        self.queue.clock_ns += OPERATION_NS;
        let Ok(device) = self.contexts.get(operation.context).map(|context| context.device) else {
            return;
        };
        if self.devices[device].sticky.is_none() {
            self.perform(id, device, operation.work);
        }
    }

    fn perform(&mut self, id: u64, device: usize, work: Work) {
        match work {
            Work::Wait | Work::Calling => {}
            Work::Record { event } => {
                let now = self.queue.clock_ns;
                if let Ok(event) = self.events.get_mut(event) {
                    event.stamp(id, now);
                }
            }
            Work::Copy(transfer) => self.transfer(&transfer),
            Work::Fill { fill, block } => self.fill(&fill, block),
            Work::Free { address, buffer_id } => self.finish_free(address, buffer_id),
            Work::Call { function, stream, data } => self.host.call(function, stream, data),
            Work::Kernel { fault } => self.devices[device].sticky = fault,
        }
    }

    /// Whether functions of the host are queued.
    pub fn has_host_functions(&self) -> bool {
        self.queue.host_functions().next().is_some()
    }

    /// Whether a call waits for a function of the host, or a query found it unfinished.
    pub fn awaits_host_function(&self) -> bool {
        self.queue.awaited.is_some_and(|id| self.queue.is_pending(id))
    }

    /// The function of the host that a call waits for, or else the oldest. What comes before it has
    /// run. [`Driver::end_host_function`] must follow.
    pub fn next_host_function(&mut self) -> NextHostFunction {
        let awaited = self.queue.awaited.take().filter(|id| self.queue.is_pending(*id));
        let oldest = || self.queue.host_functions().next();
        let Some(id) = awaited.or_else(oldest) else { return NextHostFunction::None };
        let before = self.queue.pending.get(&id).map_or(Vec::new(), |found| found.after.clone());
        if let Err(CudaError::HOST_FUNCTION_FIRST) = self.settle(&before) {
            return self.next_host_function();
        }
        let Some(operation) = self.queue.pending.get_mut(&id) else {
            return NextHostFunction::None;
        };
        match std::mem::replace(&mut operation.work, Work::Calling) {
            Work::Call { function, stream, data } if self.performs(id) => {
                NextHostFunction::Call(HostFunction { operation: id, function, stream, data })
            }
            Work::Calling => NextHostFunction::IsRunning,
            _ => {
                self.run(id);
                self.next_host_function()
            }
        }
    }

    /// Whether the operation's context still runs work.
    fn performs(&self, id: u64) -> bool {
        let context = self.queue.pending.get(&id).map(|operation| operation.context);
        context.is_some_and(|context| self.usable(context).is_ok())
    }

    /// The function has returned.
    pub fn end_host_function(&mut self, operation: u64) {
        if matches!(self.queue.pending.get(&operation), Some(Operation { work: Work::Calling, .. }))
        {
            self.run(operation);
        }
    }

    /// In a child of `fork`: the threads that were inside functions of the host are not there.
    pub fn end_host_functions_of_others(&mut self) {
        let all: Vec<_> = self.queue.host_functions().collect();
        all.into_iter().for_each(|id| self.end_host_function(id));
    }

    pub(crate) fn work_after_free(&mut self, address: u64, bytes: u64) {
        self.report_misuse(Misuse::WorkAfterFree, [address, bytes]);
    }
}
