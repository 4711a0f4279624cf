//! One case in progress: what its steps have made.

use allocert_cuda::{Context, Driver, DriverError};

use crate::contexts::Contexts;
use crate::interface::emm::bindings::Bindings;
use crate::interface::emm::subject::EmmSubject;
use crate::recorder::Recorder;
use crate::step_result::{NoResult, driver_error};

pub(crate) struct EmmCase<'a> {
    pub(crate) subject: &'a dyn EmmSubject,
    pub(crate) recorder: &'a Recorder,
    pub(crate) driver: Option<Driver>,
    pub(crate) contexts: Contexts,
    pub(crate) bindings: Bindings,
}

impl<'a> EmmCase<'a> {
    pub(crate) fn new(
        subject: &'a dyn EmmSubject,
        recorder: &'a Recorder,
        driver: Option<Driver>,
    ) -> Self {
        let (contexts, bindings) = (Contexts::default(), Bindings::default());
        Self { subject, recorder, driver, contexts, bindings }
    }

    pub(crate) fn driver(&self) -> Result<Driver, NoResult> {
        self.driver.ok_or_else(|| driver_error(DriverError::Missing).into())
    }

    /// The context of `device`; the call is the worker's own.
    pub(crate) fn context(&mut self, device: u32) -> Result<Context, NoResult> {
        let driver = self.driver()?;
        let contexts = &mut self.contexts;
        Ok(self.recorder.as_harness(|| contexts.of(driver, device)).map_err(driver_error)?)
    }
}
