//! The contexts that the worker plays the host with: the primary context of each device.

use std::collections::HashMap;

use allocert_cuda::{Context, Driver, DriverError};

/// Contexts retained so far, by device.
#[derive(Debug, Default)]
pub(crate) struct Contexts(HashMap<u32, Context>);

impl Contexts {
    pub(crate) fn of(&mut self, driver: Driver, device: u32) -> Result<Context, DriverError> {
        if let Some(context) = self.0.get(&device) {
            return Ok(*context);
        }
        driver.init()?;
        let context = driver.primary_ctx_retain(device.cast_signed())?;
        self.0.insert(device, context);
        Ok(context)
    }
}
