//! What the worker has before the first case, and what each forked child inherits.

use std::os::unix::net::UnixStream;

use allocert_cuda::Driver;

use crate::recorder::Recorder;
use crate::subject::Subject;

/// The connection to the harness, the driver and the subject.
pub(crate) struct WorkerState {
    pub(crate) socket: UnixStream,
    pub(crate) recorder: Recorder,
    pub(crate) driver: Option<Driver>,
    pub(crate) subject: Option<Box<dyn Subject>>,
}
