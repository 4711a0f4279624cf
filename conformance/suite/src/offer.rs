//! What a run offers to its cases: the subject's language and capabilities, and the driver.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::nouns::Need;

/// What a run has to offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub flavor: Flavor,
    /// What the subject and its worker declare (`loaded.capabilities`); words that are no [`Need`]
    /// are left out.
    pub capabilities: BTreeSet<Need>,
    pub driver: Driver,
    /// Devices that the driver shows; the software driver shows as many as a case asks for.
    pub devices: u32,
    /// Whether the worker can use the subject as the plugin of the real numba-cuda.
    pub host: bool,
}

impl Offer {
    /// What a run of a subject has to offer, from what its worker says of it: the words that it
    /// declares, and its `host`.
    #[must_use]
    pub fn of(
        flavor: Flavor,
        declared: &[String],
        host: Option<&Value>,
        driver: Driver,
        devices: u32,
    ) -> Self {
        Self {
            flavor,
            capabilities: Need::ALL.into_iter().filter(|need| need.is_declared(declared)).collect(),
            driver,
            devices,
            host: host.is_some_and(|host| host.get("numba_cuda").is_some()),
        }
    }
}

/// The language the subject is reached through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flavor {
    Native,
    Python,
}

/// The driver under the subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// The software driver.
    Sim,
    /// A real one, recorded.
    Real,
}

impl Driver {
    /// As a report calls it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Sim => "software driver",
            Self::Real => "real driver",
        }
    }
}
