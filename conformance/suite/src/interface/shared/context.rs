//! The CUDA context of a thread.

use serde::{Deserialize, Serialize};

use crate::interface::properties::{Attachment, Properties};

/// Makes the primary context of a device current on the step's thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attach {
    #[serde(default)]
    pub device: u32,
}

impl Attach {
    pub(crate) fn properties(&self) -> Properties<'_> {
        Properties::none().attachment(Attachment::Attached { device: self.device })
    }
}

/// What `detach: {}` does to the context of its thread.
pub(crate) const DETACH: Attachment = Attachment::Detached;
