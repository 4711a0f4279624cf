//! `allocert driver-facts`: what the driver behind the recorder is, for the harness to know before
//! it runs anything.

use allocert_cuda::{Driver, DriverError};
use serde_json::json;

use crate::error::WorkerError;
use crate::recorder::Recorder;

/// Initializes the driver and prints one JSON line: `{"version": 13000, "devices": 1, "device":
/// "NVIDIA H200"}`. The name is that of the first device.
///
/// # Errors
/// [`WorkerError`] for a driver that does not record, and for one that does not begin.
pub fn driver_facts() -> Result<(), WorkerError> {
    let recorder = Recorder::load()?;
    let (version, devices, device) =
        recorder.as_harness(ask).map_err(|source| WorkerError::Begin { source })?;
    println!("{}", json!({"version": version, "devices": devices, "device": device}));
    Ok(())
}

fn ask() -> Result<(i32, i32, Option<String>), DriverError> {
    let driver = Driver::load()?;
    driver.init()?;
    let devices = driver.device_get_count()?;
    let device = (devices > 0).then(|| driver.device_get_name(0)).transpose()?;
    Ok((driver.get_version()?, devices, device))
}
