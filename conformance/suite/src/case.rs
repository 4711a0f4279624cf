//! A case as its fixture states it. `fixtures/README.md` is the format; these types are its strict
//! reading.

use std::collections::BTreeMap;

use allocert_requirements::Side;
use allocert_requirements::yaml::Spanned;
use serde::Deserialize;
use serde_json::Value;

use crate::expectation::Expectations;
use crate::nouns::{DriverSettings, Name, Need, Teardown, Thread};
use crate::operation::Operation;

/// One fixture with its axes already replaced.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// `emm/alloc/exact-size`, equal to the path of the file.
    pub case: String,
    /// What the subject must do, in one sentence.
    pub about: String,
    /// The side whose operations the steps use. Written only where it is not the case's own side;
    /// see [`Case::operations`].
    #[serde(default)]
    pub operations: Option<Side>,
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Names of the axes; their values are already in the text.
    #[serde(default)]
    pub axes: BTreeMap<String, Vec<Value>>,
    #[serde(default)]
    pub driver: DriverSettings,
    #[serde(default = "yes")]
    pub setup: bool,
    #[serde(default)]
    pub teardown: Teardown,
    #[serde(default = "ten")]
    pub timeout_s: u32,
    pub steps: Vec<Spanned<Step>>,
    #[serde(default)]
    pub r#finally: Expectations,
}

impl Case {
    /// The side that the case certifies: the first folder of its path. Fixtures outside of
    /// `cases/`, which only tests have, certify an EMM plugin.
    #[must_use]
    pub fn side(&self) -> Side {
        Side::of_path(&self.case).unwrap_or(Side::Emm)
    }

    /// The side whose operations the steps use: what is written, or the case's own side.
    #[must_use]
    pub fn operations(&self) -> Side {
        self.operations.unwrap_or_else(|| self.side())
    }
}

/// One step: an operation and what must come of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub r#do: Operation,
    /// The manager that is used.
    #[serde(default = "first_manager")]
    pub on: Name,
    #[serde(default)]
    pub thread: Option<Thread>,
    /// A name for `since`.
    #[serde(default)]
    pub label: Option<String>,
    /// Requirement id to what must hold.
    #[serde(default)]
    pub expect: Expectations,
}

fn yes() -> bool {
    true
}

fn ten() -> u32 {
    10
}

fn first_manager() -> Name {
    Name::new_static("m")
}
