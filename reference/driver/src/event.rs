//! Events. An event is a position in the order of a stream.

use allocert_contract::{StreamHandle, trace::cuda::Misuse};

use crate::{
    Caller, Driver,
    error::{CudaError, Result},
    handle_registry::Missing,
    work_queue::Work,
};

#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) context: u64,
    flags: u32,
    /// The operation that the last record queued.
    pub(crate) recorded: Option<u64>,
    stamp_ns: Option<u64>,
}

const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;
const FLAGS: u32 = 0b111;

/// Milliseconds between two events.
pub type Elapsed = f32;

/// `CU_EVENT_RECORD_EXTERNAL`, `CU_EVENT_WAIT_EXTERNAL`: for streams that are being captured.
pub(crate) const EXTERNAL: u32 = 1;

/// The flags of a record or a wait in a stream that is not being captured.
pub(crate) fn refuse_external(flags: u32) -> Result {
    match flags {
        0 => Ok(()),
        EXTERNAL => Err(CudaError::ILLEGAL_STATE),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

impl Event {
    pub(crate) fn stamp(&mut self, operation: u64, now_ns: u64) {
        if self.recorded == Some(operation) {
            self.stamp_ns = Some(now_ns);
        }
    }
}

impl Driver {
    pub(crate) fn event(&mut self, handle: u64) -> Result<&mut Event> {
        if handle == 0 {
            return Err(CudaError::INVALID_HANDLE);
        }
        self.initialized()?;
        let misuse = match self.events.get(handle) {
            Ok(event) => {
                self.usable(event.context)?;
                return self.events.get_mut(handle).map_err(|_| CudaError::INVALID_HANDLE);
            }
            Err(Missing::Destroyed) => Misuse::DestroyedEvent,
            Err(Missing::Unknown) => Misuse::UnknownEvent,
        };
        self.report_misuse(misuse, [handle, 0]);
        Err(CudaError::INVALID_HANDLE)
    }

    /// `cuEventCreate`.
    pub fn event_create(&mut self, caller: &Caller, flags: u32) -> Result<u64> {
        let context = self.current(caller)?;
        if flags & !FLAGS != 0 || flags & (INTERPROCESS | DISABLE_TIMING) == INTERPROCESS {
            return Err(CudaError::INVALID_VALUE);
        }
        Ok(self.events.insert(Event { context, flags, recorded: None, stamp_ns: None }))
    }

    /// `cuEventRecord`: captures what is queued on the stream now.
    pub fn event_record(&mut self, caller: &Caller, handle: u64, stream: StreamHandle) -> Result {
        if handle == 0 {
            self.stream(caller, stream)?;
        }
        let context = self.event(handle)?.context;
        let stream = self.stream(caller, stream)?;
        if self.streams.get(stream).is_ok_and(|stream| stream.context != context) {
            return Err(CudaError::INVALID_HANDLE);
        }
        let operation = self.enqueue(stream, Work::Record { event: handle }, None)?;
        let event = self.event(handle)?;
        event.recorded = Some(operation);
        event.stamp_ns = None;
        Ok(())
    }

    /// `cuEventRecordWithFlags`.
    pub fn event_record_with_flags(
        &mut self,
        caller: &Caller,
        handle: u64,
        stream: StreamHandle,
        flags: u32,
    ) -> Result {
        self.stream(caller, stream)?;
        self.event(handle)?;
        refuse_external(flags)?;
        self.event_record(caller, handle, stream)
    }

    /// `cuEventQuery`: `NOT_READY` while what it captured is pending.
    pub fn event_query(&mut self, handle: u64) -> Result {
        let event = self.event(handle)?;
        let (recorded, context) = (event.recorded, event.context);
        self.poll(recorded.as_slice())?;
        self.usable(context).map(|_| ())
    }

    /// `cuEventSynchronize`.
    pub fn event_synchronize(&mut self, handle: u64) -> Result {
        let event = self.event(handle)?;
        let (recorded, context) = (event.recorded, event.context);
        self.settle(recorded.as_slice())?;
        self.usable(context).map(|_| ())
    }

    /// `cuEventDestroy`.
    pub fn event_destroy(&mut self, handle: u64) -> Result {
        self.event(handle)?;
        self.events.remove(handle).map(|_| ()).map_err(|_| CudaError::INVALID_HANDLE)
    }

    /// `cuEventElapsedTime`, in device time.
    pub fn event_elapsed(&mut self, start: u64, end: u64) -> Result<Elapsed> {
        let mut recorded = [0; 2];
        for (operation, handle) in recorded.iter_mut().zip([start, end]) {
            let event = self.event(handle)?;
            if event.flags & DISABLE_TIMING != 0 {
                return Err(CudaError::INVALID_HANDLE);
            }
            *operation = event.recorded.ok_or(CudaError::INVALID_HANDLE)?;
        }
        self.poll(&recorded)?;
        let mut stamps = [0; 2];
        for (stamp, handle) in stamps.iter_mut().zip([start, end]) {
            *stamp = self.event(handle)?.stamp_ns.unwrap_or(0);
        }
        Ok((stamps[1] as f32 - stamps[0] as f32) / 1e6)
    }
}
