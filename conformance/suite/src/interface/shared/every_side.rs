//! Operations that every side has so far. `clear_faults` and `collect` have no fields.

use serde::{Deserialize, Serialize};

use super::one;
use crate::call_name;
use crate::interface::arguments::{Arguments, NameUse};
use crate::interface::properties::{DriverFault, HeldMemory, Properties};
use crate::nouns::Name;

/// Makes `count` calls of a driver function fail, from the `nth` on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The driver function.
    pub call: String,
    /// 1 is the next call.
    #[serde(default = "one")]
    pub nth: u64,
    /// How many calls fail.
    #[serde(default = "one")]
    pub count: u64,
    /// The `CUresult` that these calls return.
    pub error: i32,
}

impl Fault {
    pub(crate) fn properties(&self) -> Properties<'_> {
        let Self { call, nth, count, .. } = self;
        Properties::none().driver_fault(DriverFault { function: call, nth: *nth, count: *count })
    }

    pub(crate) fn arguments(&self) -> Arguments<'_> {
        Arguments::none().invalid_if(call_name::unknown_driver_function(&self.call))
    }
}

/// Sets a variable of the process environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    pub name: String,
    pub value: String,
}

/// Lets a name go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drop {
    pub name: Name,
}

impl Drop {
    pub(crate) fn properties(&self) -> Properties<'_> {
        let Self { name } = self;
        Properties::none()
            .unbinds(name)
            .held(HeldMemory::Drops { name })
            .finalizes()
            .keeps_context()
    }

    pub(crate) fn arguments(&self) -> Arguments<'_> {
        Arguments::all([NameUse::droppable(&self.name)])
    }
}
