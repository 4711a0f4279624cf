//! What the worker has before the first case, and what each forked child inherits.

use std::os::unix::net::UnixStream;

use allocert_cuda::Driver;

use crate::interface::load;
use crate::protocol::Load;
use crate::recorder::Recorder;
use crate::subject::Subject;

/// The connection to the harness, the driver and the subject.
pub(crate) struct WorkerState {
    pub(crate) socket: UnixStream,
    pub(crate) recorder: Recorder,
    pub(crate) driver: Option<Driver>,
    pub(crate) subject: Option<Box<dyn Subject>>,
    /// The subject that each child loads itself, because it starts threads when it is loaded.
    pub(crate) loaded_in_child: Option<Load>,
}

impl WorkerState {
    /// Whether there is a subject, loaded or to be loaded by each child.
    pub(crate) fn has_subject(&self) -> bool {
        self.subject.is_some() || self.loaded_in_child.is_some()
    }

    /// Loads what this process, a child, must load itself. Gives the reason why that fails.
    pub(crate) fn load_in_child(&mut self) -> Result<(), String> {
        let Some(order) = &self.loaded_in_child else { return Ok(()) };
        let subject = load(&order.interface, &order.subject);
        self.subject = Some(subject.map_err(|refused| refused.message)?);
        Ok(())
    }
}
