//! The contexts that the worker plays the host with: the primary context of each device.

use std::collections::HashMap;

use allocert_cuda::{Context, Driver, DriverError};
use allocert_suite::observation::{Facts, Outcome, Raised};
use serde_json::json;

use crate::names::{Halt, Named, Owner};
use crate::scene::Scene;
use crate::subject::{facts, trouble};

/// Contexts retained so far, by device.
#[derive(Debug, Default)]
pub(crate) struct Contexts(HashMap<u32, Context>);

impl Contexts {
    fn of(&mut self, driver: Driver, device: u32) -> Result<Context, DriverError> {
        if let Some(context) = self.0.get(&device) {
            return Ok(*context);
        }
        driver.init()?;
        let context = driver.primary_ctx_retain(device.cast_signed())?;
        self.0.insert(device, context);
        Ok(context)
    }
}

pub(crate) fn driver_error(error: DriverError) -> Raised {
    trouble("DriverError", error.to_string(), error.code().map(u32::cast_signed))
}

impl Scene<'_> {
    pub(crate) fn driver(&self) -> Result<Driver, Halt> {
        self.driver.ok_or_else(|| driver_error(DriverError::Missing).into())
    }

    /// The context of `device`; the call is the worker's own.
    pub(crate) fn context(&mut self, device: u32) -> Result<Context, Halt> {
        let driver = self.driver()?;
        let contexts = &mut self.contexts;
        Ok(self.recorder.aside(|| contexts.of(driver, device)).map_err(driver_error)?)
    }

    pub(crate) fn attach(&mut self, device: u32) -> Result<Facts, Halt> {
        let driver = self.driver()?;
        let context = self.context(device)?;
        self.recorder.aside(|| driver.ctx_set_current(Some(context))).map_err(driver_error)?;
        Ok(Facts::new())
    }

    pub(crate) fn detach(&mut self) -> Result<Facts, Halt> {
        let driver = self.driver()?;
        self.recorder.aside(|| driver.ctx_set_current(None)).map_err(driver_error)?;
        Ok(Facts::new())
    }

    pub(crate) fn create(&mut self, name: &str, device: u32) -> Result<Facts, Halt> {
        let context = self.context(device)?;
        let manager = self.subject.create(context, device.cast_signed())?;
        self.names.bind(name, Named::Manager(Owner::new(manager, device).into()));
        Ok(facts([("type", json!("allocert_emm_manager"))]))
    }

    pub(crate) fn destroy(&mut self, on: &str) -> Result<Facts, Halt> {
        let owner = self.names.manager(on)?;
        self.names.take(on)?;
        owner.destroy();
        Ok(Facts::new())
    }
}

/// A step that ended as one of the two.
pub(crate) fn outcome(result: Result<Facts, Halt>) -> Outcome {
    result.map_or_else(Into::into, Outcome::Returned)
}
