//! The sets of functions whose calls a trace records.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, FromRepr, IntoStaticStr, VariantArray};

/// A set of functions through which a subject and its surroundings call each other. The number is
/// part of a function's [code](super::Function::code).
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Display,
    EnumString,
    FromRepr,
    IntoStaticStr,
    VariantArray,
    Serialize,
    Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[repr(u16)]
pub enum Boundary {
    /// The C ABI of the CUDA driver.
    Cuda = 0,
    /// The calls of a host into an EMM plugin. NBEP 7, "Plugin interface".
    Plugin = 1,
    /// The four functions of a NumPy `PyDataMem_Handler`. NEP 49, "Implementation".
    Handler = 2,
    /// `Alloc`, `Free` and `Used` of memory that is bound to a place. Paddle, "Region-based
    /// Heterogeneous Memory Management", "API".
    Place = 3,
}

impl Boundary {
    /// The name that run files and fixtures write.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}
