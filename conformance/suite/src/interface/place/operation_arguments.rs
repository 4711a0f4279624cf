//! The places that operations name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantNames};

use crate::interface::properties::BoundType;

/// What `used` answered.
pub(crate) const AMOUNT: BoundType = BoundType::kept("an amount of memory in use");

/// Memory of a device that the worker took.
pub(crate) const OCCUPIED: BoundType = BoundType::new("memory that the worker took");

/// A kind of place, as fixtures write it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumString, VariantNames,
)]
#[strum(serialize_all = "snake_case")]
pub enum PlaceKind {
    /// Memory of the host.
    Cpu,
    /// Memory of a device.
    Cuda,
    /// Page-locked memory of the host.
    CudaPinned,
    /// The kind 9, which does not exist.
    Unknown,
    /// The kind -1, which does not exist.
    Negative,
}

impl PlaceKind {
    /// The number that the C contract has for it.
    #[must_use]
    pub fn number(self) -> i32 {
        match self {
            Self::Cpu => 0,
            Self::Cuda => 1,
            Self::CudaPinned => 2,
            Self::Unknown => 9,
            Self::Negative => -1,
        }
    }
}

/// A place, as fixtures write it: `cpu`, `cuda:1`. The device is 0 where none is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Place {
    pub kind: PlaceKind,
    /// As it is passed on, whether there is such a device or not.
    pub device: i32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.device {
            0 => write!(f, "{}", self.kind),
            device => write!(f, "{}:{device}", self.kind),
        }
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, device) = text.split_once(':').unwrap_or((text, "0"));
        match (kind.parse(), device.parse()) {
            (Ok(kind), Ok(device)) => Ok(Self { kind, device }),
            (Err(_), _) => Err(format!(
                "`{kind}` is no kind of place; there are {}",
                PlaceKind::VARIANTS.join(", ")
            )),
            (_, Err(_)) => Err(format!("`{device}` is no number of a device")),
        }
    }
}

impl TryFrom<String> for Place {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Place> for String {
    fn from(place: Place) -> Self {
        place.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_its_kind_and_the_number_of_its_device() {
        for (text, kind, device) in [
            ("cpu", PlaceKind::Cpu, 0),
            ("cuda:2", PlaceKind::Cuda, 2),
            ("cuda_pinned", PlaceKind::CudaPinned, 0),
            ("negative:-1", PlaceKind::Negative, -1),
        ] {
            assert_eq!(text.parse(), Ok(Place { kind, device }));
            assert_eq!(Place { kind, device }.to_string(), text);
        }
        let refused = |text: &str| text.parse::<Place>().expect_err("no place");
        assert_eq!(
            refused("gpu:0"),
            "`gpu` is no kind of place; there are cpu, cuda, cuda_pinned, unknown, negative"
        );
        assert_eq!(refused("cuda:first"), "`first` is no number of a device");
    }
}
