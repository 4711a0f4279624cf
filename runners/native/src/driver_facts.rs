//! `allocert driver-facts`: what the driver behind the recorder is, for the harness to know before
//! it runs anything.

use allocert_cuda::{Driver, DriverError};
use serde_json::json;

use crate::error::WorkerError;
use crate::recorder::Recorder;

/// Initializes the driver and prints one JSON line: `{"version": 13000, "devices": 1}`.
///
/// # Errors
/// [`WorkerError`] for a driver that does not record, and for one that does not begin.
pub fn driver_facts() -> Result<(), WorkerError> {
    let recorder = Recorder::load()?;
    let (version, devices) =
        recorder.as_harness(ask).map_err(|source| WorkerError::Begin { source })?;
    println!("{}", json!({"version": version, "devices": devices}));
    Ok(())
}

fn ask() -> Result<(i32, i32), DriverError> {
    let driver = Driver::load()?;
    driver.init()?;
    Ok((driver.get_version()?, driver.device_get_count()?))
}
