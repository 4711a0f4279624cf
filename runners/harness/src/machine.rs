//! The machine under a run: the simulated one, or this computer's own.

use std::path::Path;
use std::process::{Command, Output};

use allocert_suite::offer::Driver;
use serde::Deserialize;

use crate::error::Error;
use crate::run_dir::RunDir;
use crate::search_path;

/// What a run's driver is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    pub driver: Driver,
    /// As `cuDriverGetVersion` answers; nothing where a case may choose it.
    pub version: Option<u32>,
    pub devices: u32,
    /// The name of the first device; nothing where a case may choose the devices.
    pub device: Option<String>,
}

/// What the process that [`Machine::real`] starts prints, as one JSON line.
#[derive(Debug, Deserialize)]
struct Facts {
    version: u32,
    devices: u32,
    device: Option<String>,
}

impl Machine {
    /// The software driver, with the devices and the memory that a case asks for.
    pub fn simulated() -> Self {
        Self { driver: Driver::Sim, version: None, devices: 1, device: None }
    }

    /// This computer's driver, behind the recorder. `EXECUTABLE driver-facts` asks it, because a
    /// process in which CUDA began cannot start workers.
    ///
    /// # Errors
    /// [`Error::NoDriver`] with the reason in the recorder's words.
    pub fn real(executable: &Path, run: &RunDir) -> Result<Self, Error> {
        let mut command = Command::new(executable);
        command
            .arg("driver-facts")
            .env("LD_LIBRARY_PATH", search_path::libraries(run))
            .env_remove("ALLOCERT_TRACE");
        command.env(MODE, mode(Driver::Real)).env_remove("ALLOCERT_FAULTS");
        let output = command
            .output()
            .map_err(|source| Error::io("start a process that asks the real driver", source))?;
        let facts = read(&output).ok_or_else(|| Error::NoDriver { reason: words(&output) })?;
        if facts.devices == 0 {
            return Err(Error::NoDriver { reason: "it has no devices".to_owned() });
        }
        let Facts { version, devices, device } = facts;
        Ok(Self { driver: Driver::Real, version: Some(version), devices, device })
    }
}

/// Tells the recording driver who answers.
pub(crate) const MODE: &str = "ALLOCERT_MODE";

pub(crate) fn mode(driver: Driver) -> &'static str {
    match driver {
        Driver::Sim => "simulate",
        Driver::Real => "forward",
    }
}

fn read(output: &Output) -> Option<Facts> {
    output.status.success().then(|| serde_json::from_slice(&output.stdout).ok()).flatten()
}

fn words(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim();
    if said.is_empty() {
        format!("the process that asked it said nothing ({})", output.status)
    } else {
        said.to_owned()
    }
}
