//! One requirement: one normative statement, where it is written, and how it can be observed.

use serde::{Deserialize, Serialize};
use strum::Display;

use crate::side::{Interface, Role, Side};

/// One entry of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// `EMM-ALLOC-03`: interface, group, number.
    pub id: String,
    /// How binding the text is. The only thing a verdict takes its severity from.
    pub level: Level,
    /// Whose duty it is.
    pub role: Role,
    /// The demand, in our own words.
    pub statement: String,
    /// Where the demand is written.
    pub source: Source,
    /// The versions of the contract that contain it.
    pub versions: Vec<String>,
    /// The parts of an observation that show whether it holds.
    pub observed_by: Vec<Channel>,
    /// Whether only a real GPU can show it.
    #[serde(default)]
    pub gpu: bool,
    /// The operation whose unexpected failure breaks this requirement.
    #[serde(default)]
    pub operation: Option<String>,
    /// Whether it only says what a result is like, or how the subject makes it. An error, which is
    /// no result, does not break it where the operation has a requirement of its own.
    #[serde(default)]
    pub of_result: bool,
    /// The always-on check whose findings carry this id.
    #[serde(default)]
    pub check: Option<String>,
    /// The defects of an export, or of a call of the C table, that carry this id. The judge checks
    /// all exports and calls of a case for them.
    #[serde(default)]
    pub defects: Vec<String>,
    /// What the fault sweep, the matrix of pairs and exploration demand in the words of this
    /// requirement, each as `tool.demand`: `sweep.failure_surfaces`. Their code names the demand,
    /// never the id.
    #[serde(default)]
    pub demands: Vec<String>,
    /// Whether a host can use nothing of a subject that violates it. Reports then name it before
    /// what other cases find, unless it follows from a violation there.
    #[serde(default)]
    pub comes_first: bool,
    /// Why no case can test it.
    #[serde(default)]
    pub excluded: Option<String>,
    /// The catalogue file, relative to `catalogue/`.
    #[serde(skip)]
    pub file: String,
    /// The line of the entry in that file, from 1.
    #[serde(skip)]
    pub line: usize,
}

impl Requirement {
    /// Whether cases look for it without naming it.
    #[must_use]
    pub fn always_on(&self) -> bool {
        self.check.is_some() || !self.defects.is_empty()
    }

    /// The side that it binds; the loader has refused an entry without one.
    #[must_use]
    pub fn side(&self) -> Option<Side> {
        Side::of(Interface::of_id(&self.id)?, self.role)
    }
}

/// The text a requirement comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    pub text: String,
    pub section: String,
}

/// RFC 2119's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[derive(Display)]
#[strum(serialize_all = "UPPERCASE")]
pub enum Level {
    Must,
    Should,
    May,
}

/// Where a requirement shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// What a step returned or raised.
    Outcome,
    /// The driver calls.
    Trace,
    /// How the process ended and what it printed.
    Exit,
}
