//! What the worker has before the first case, and what each forked child inherits.

use std::os::unix::net::UnixStream;

use allocert_cuda::{Driver, DriverError};
use allocert_suite::nouns::DriverSettings;

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
    /// The subject that each child loads itself, because it cannot be loaded before a fork.
    pub(crate) loaded_in_child: Option<Load>,
    /// Whether the subject initialized the driver in this child while it was loaded. The driver
    /// stays as it is then from case to case.
    pub(crate) keeps_driver: bool,
}

impl WorkerState {
    /// Whether there is a subject, loaded or to be loaded by each child.
    pub(crate) fn has_subject(&self) -> bool {
        self.subject.is_some() || self.loaded_in_child.is_some()
    }

    /// Loads what this process, a child, must load itself. The case that comes first begins with
    /// that. Gives the reason why it fails.
    pub(crate) fn load_in_child(&mut self, settings: &DriverSettings) -> Result<(), String> {
        let Some(order) = &self.loaded_in_child else { return Ok(()) };
        self.recorder.restart(settings).map_err(|error| error.to_string())?;
        self.recorder.case_begin();
        let subject = load(&order.interface, &order.subject);
        self.subject = Some(subject.map_err(|refused| refused.message)?);
        self.keeps_driver = self.has_initialized_driver();
        Ok(())
    }

    /// Whether somebody called `cuInit` in this process. The software driver reads its settings at
    /// the first call.
    pub(crate) fn has_initialized_driver(&self) -> bool {
        let Some(driver) = self.driver else { return false };
        let answer = self.recorder.as_harness(|| driver.device_get_count());
        !answer.is_err_and(|error| error.code() == Some(DriverError::NOT_INITIALIZED))
    }
}
