use std::any::Any;
use std::fmt;
use std::ptr;
use std::sync::Arc;

use allocert_contract::StreamHandle;
use cudarc::driver::sys;

use crate::error::{DriverError, check};
use crate::{Driver, Event};

/// Whatever keeps something alive as long as it is not dropped.
pub type Keep = Arc<dyn Any + Send + Sync>;

/// A stream that exists as long as this value or a clone of it.
#[derive(Clone)]
pub struct Stream(Kind);

#[derive(Clone)]
enum Kind {
    Legacy,
    PerThread,
    Created(Arc<Created>),
    /// Somebody else's, alive as long as `keep` or, without it, as its maker promised.
    Foreign {
        handle: u64,
        keep: Option<Keep>,
    },
}

struct Created(u64);

impl Drop for Created {
    fn drop(&mut self) {
        // SAFETY: the handle came from cuStreamCreate and is destroyed here alone. A context that
        // is gone took the stream along and is refused; there is nobody to tell.
        let _ = unsafe { sys::cuStreamDestroy_v2(stream(self.0)) };
    }
}

impl Stream {
    /// The legacy default stream.
    pub const LEGACY: Self = Self(Kind::Legacy);
    /// The default stream of whichever thread calls.
    pub const PER_THREAD: Self = Self(Kind::PerThread);

    /// The stream that `handle` names, which `keep` keeps alive.
    ///
    /// # Safety
    /// `handle` is the value of a `CUstream` other than 0 that lives as long as `keep`; without
    /// one, as long as the value made here and its clones.
    #[must_use]
    pub unsafe fn foreign(handle: StreamHandle, keep: Option<Keep>) -> Self {
        Self(match handle {
            StreamHandle::LEGACY => Kind::Legacy,
            StreamHandle::PER_THREAD => Kind::PerThread,
            StreamHandle(handle) => Kind::Foreign { handle, keep },
        })
    }

    /// The value by which the driver knows it.
    #[must_use]
    pub fn handle(&self) -> StreamHandle {
        match &self.0 {
            Kind::Legacy => StreamHandle::LEGACY,
            Kind::PerThread => StreamHandle::PER_THREAD,
            Kind::Created(created) => StreamHandle(created.0),
            Kind::Foreign { handle, .. } => StreamHandle(*handle),
        }
    }

    /// Whether holding this value is enough to keep the stream alive.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        !matches!(self.0, Kind::Foreign { keep: None, .. })
    }

    pub(crate) fn raw(&self) -> sys::CUstream {
        stream(self.handle().0)
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({:#x})", self.handle().0)
    }
}

/// Streams. Errors are whatever the driver answers.
#[expect(clippy::missing_errors_doc, reason = "said once for the block")]
impl Driver {
    /// `cuStreamCreate` in the current context, of a stream that does not wait for the legacy
    /// default stream. It is destroyed with the last clone.
    pub fn stream_create(self) -> Result<Stream, DriverError> {
        let mut raw = ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the out pointer is valid for a write during the call.
        check("cuStreamCreate", unsafe { sys::cuStreamCreate(&raw mut raw, flags) })?;
        Ok(Stream(Kind::Created(Arc::new(Created(raw.expose_provenance() as u64)))))
    }

    /// `cuStreamSynchronize`.
    pub fn stream_synchronize(self, stream: &Stream) -> Result<(), DriverError> {
        // SAFETY: the stream is alive (Stream).
        check("cuStreamSynchronize", unsafe { sys::cuStreamSynchronize(stream.raw()) })
    }

    /// `cuStreamWaitEvent`: later work of the stream waits for what the event captured.
    pub fn stream_wait_event(self, stream: &Stream, event: &Event) -> Result<(), DriverError> {
        // SAFETY: stream and event are alive (Stream, Event).
        check("cuStreamWaitEvent", unsafe { sys::cuStreamWaitEvent(stream.raw(), event.raw(), 0) })
    }
}

fn stream(handle: u64) -> sys::CUstream {
    ptr::with_exposed_provenance_mut(handle as usize)
}
