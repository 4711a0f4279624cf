use std::ptr;

use cudarc::driver::sys;

use crate::error::{DriverError, check};
use crate::{Driver, Stream};

/// An event that this value owns and destroys. Waits for the event that are queued already stay
/// valid.
#[derive(Debug)]
pub struct Event(usize);

impl Event {
    pub(crate) fn raw(&self) -> sys::CUevent {
        ptr::with_exposed_provenance_mut(self.0)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the handle came from cuEventCreate and is destroyed here alone. A context that is
        // gone took it along.
        let _ = unsafe { sys::cuEventDestroy_v2(self.raw()) };
    }
}

/// Events. Errors are whatever the driver answers.
#[expect(clippy::missing_errors_doc, reason = "said once for the block")]
impl Driver {
    /// `cuEventCreate` in the current context, without timing.
    pub fn event_create(self) -> Result<Event, DriverError> {
        let mut raw = ptr::null_mut();
        let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: the out pointer is valid for a write during the call.
        check("cuEventCreate", unsafe { sys::cuEventCreate(&raw mut raw, flags) })?;
        Ok(Event(raw.expose_provenance()))
    }

    /// `cuEventRecord`: captures all work that is queued on the stream now.
    pub fn event_record(self, event: &Event, stream: &Stream) -> Result<(), DriverError> {
        // SAFETY: event and stream are alive (Event, Stream).
        check("cuEventRecord", unsafe { sys::cuEventRecord(event.raw(), stream.raw()) })
    }

    /// `cuEventSynchronize`.
    pub fn event_synchronize(self, event: &Event) -> Result<(), DriverError> {
        // SAFETY: the event is alive (Event).
        check("cuEventSynchronize", unsafe { sys::cuEventSynchronize(event.raw()) })
    }
}
