//! The settings of the simulated machine, which the user chooses by environment variables.

use thiserror::Error;

use crate::fault_plan::{FaultError, FaultPlan};

/// The simulated machine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `ALLOCERT_DEVICES`, 0 to 16; default 1.
    pub devices: u32,
    /// `ALLOCERT_MEMORY_BYTES`, memory of each device; default 16 GiB.
    pub memory_bytes: u64,
    /// `ALLOCERT_DRIVER_VERSION`, as `cuDriverGetVersion` answers; default 13000.
    pub driver_version: i32,
    /// `ALLOCERT_PEER_ACCESS`, whether devices reach each other's memory, 0 or 1; default 1.
    pub peer_access: bool,
    /// `ALLOCERT_FAULTS`, see [`FaultPlan`]; default none.
    pub faults: FaultPlan,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            devices: 1,
            memory_bytes: 16 << 30,
            driver_version: 13000,
            peer_access: true,
            faults: FaultPlan::default(),
        }
    }
}

#[derive(Debug, Error, PartialEq)]
pub enum SettingError {
    #[error("ALLOCERT_DEVICES={0}: expected a number of devices from 0 to 16")]
    Devices(String),
    #[error(
        "ALLOCERT_MEMORY_BYTES={0}: expected bytes from 2MiB to 4TiB, e.g. 68719476736 or 64GiB"
    )]
    MemoryBytes(String),
    #[error("ALLOCERT_DRIVER_VERSION={0}: expected a CUDA version from 11000 to 19990, e.g. 13000")]
    DriverVersion(String),
    #[error("ALLOCERT_PEER_ACCESS={0}: expected 0 or 1")]
    PeerAccess(String),
    #[error("ALLOCERT_FAULTS: {0}")]
    Faults(#[from] FaultError),
}

impl Settings {
    /// Reads the settings through `variable`, which answers as `std::env::var(name).ok()` does.
    /// Unset and empty mean the default.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let value = |name| variable(name).filter(|text| !text.is_empty());
        let mut settings = Self::default();
        if let Some(text) = value("ALLOCERT_DEVICES") {
            settings.devices = text
                .parse()
                .ok()
                .filter(|count| *count <= 16)
                .ok_or(SettingError::Devices(text))?;
        }
        if let Some(text) = value("ALLOCERT_MEMORY_BYTES") {
            let bytes = parse_bytes(&text).filter(|bytes| (2 << 20..=4 << 40).contains(bytes));
            settings.memory_bytes = bytes.ok_or(SettingError::MemoryBytes(text))?;
        }
        if let Some(text) = value("ALLOCERT_DRIVER_VERSION") {
            let version = text.parse().ok().filter(|version| (11000..20000).contains(version));
            settings.driver_version = version.ok_or(SettingError::DriverVersion(text))?;
        }
        if let Some(text) = value("ALLOCERT_PEER_ACCESS") {
            settings.peer_access = match text.as_str() {
                "0" => false,
                "1" => true,
                _ => return Err(SettingError::PeerAccess(text)),
            };
        }
        if let Some(text) = value("ALLOCERT_FAULTS") {
            settings.faults = FaultPlan::parse(&text)?;
        }
        Ok(settings)
    }
}

fn parse_bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        "TiB" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn with(name: &str, text: &str) -> Result<Settings, SettingError> {
        Settings::from_variables(|asked| (asked == name).then(|| text.to_owned()))
    }

    #[rstest]
    #[case("16GiB", 16 << 30)]
    #[case("64MiB", 64 << 20)]
    #[case("4194304", 4 << 20)]
    fn memory_takes_a_unit(#[case] text: &str, #[case] bytes: u64) {
        assert_eq!(
            with("ALLOCERT_MEMORY_BYTES", text).map(|settings| settings.memory_bytes),
            Ok(bytes)
        );
    }

    #[rstest]
    #[case(
        "ALLOCERT_DEVICES",
        "many",
        "ALLOCERT_DEVICES=many: expected a number of devices from 0 to 16"
    )]
    #[case(
        "ALLOCERT_MEMORY_BYTES",
        "16GB",
        "ALLOCERT_MEMORY_BYTES=16GB: expected bytes from 2MiB to 4TiB, e.g. 68719476736 or 64GiB"
    )]
    #[case(
        "ALLOCERT_DRIVER_VERSION",
        "13.0",
        "ALLOCERT_DRIVER_VERSION=13.0: expected a CUDA version from 11000 to 19990, e.g. 13000"
    )]
    #[case("ALLOCERT_PEER_ACCESS", "no", "ALLOCERT_PEER_ACCESS=no: expected 0 or 1")]
    #[case(
        "ALLOCERT_FAULTS",
        "cuMemAlloc@1=2",
        "ALLOCERT_FAULTS: `cuMemAlloc@1=2`: the software driver has no `cuMemAlloc`; did you mean \
         `cuMemAlloc_v2`?"
    )]
    fn a_bad_value_names_its_variable(
        #[case] name: &str,
        #[case] text: &str,
        #[case] message: &str,
    ) {
        assert_eq!(with(name, text).map(|_| ()).expect_err("refused").to_string(), message);
    }
}
