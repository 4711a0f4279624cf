//! What a step or a whole case must result in, and which requirement says so.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::nouns::ErrorKind;
use crate::predicate::Predicate;
use crate::vec_map::VecMap;

/// Requirement id to what must hold.
pub type Expectations = VecMap<SmolStr, Expectation>;

/// Fact to what must hold of it.
pub type Wanted = VecMap<SmolStr, Predicate>;

/// What must hold under one requirement; all given fields together, `returns` and `raises` as
/// alternatives.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Conditions, from `name.fact` to a predicate. If one does not hold, nothing else is expected.
    #[serde(default, skip_serializing_if = "VecMap::is_empty")]
    pub given: Wanted,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Wanted>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raises: Option<Vec<ErrorKind>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Box<Calls>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered: Option<Ordered>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered_by: Option<CoveredBy>,
    /// A name whose facts have a host address and a size: at the end of the step the driver has
    /// locked every byte of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_locked: Option<SmolStr>,
    /// A fact of the step: as many bytes as the memory had that the subject gave back to the driver
    /// in the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freed_bytes: Option<SmolStr>,
}

impl Expectation {
    /// Whether it asks for anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let given = self.given.clone();
        *self == Self { given, ..Self::default() }
    }

    /// The facts of its own step that it looks at.
    pub fn own_facts(&self) -> impl Iterator<Item = &str> {
        let returned = self.returns.iter().flat_map(Wanted::keys);
        returned.chain(&self.freed_bytes).map(SmolStr::as_str)
    }

    /// What it refers to of this and of earlier steps: names, and `name.fact`.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        let calls = self.calls.iter().flat_map(|calls| calls.facts());
        let wanted = self.returns.iter().chain(calls).chain([&self.given]);
        let tests = wanted.flat_map(Wanted::values).flat_map(|predicate| &predicate.0);
        let compared = tests.filter_map(|(test, value)| test.reference_in(value));
        let given = self.given.keys().map(SmolStr::as_str);
        let covered = self.covered_by.iter().flat_map(CoveredBy::references);
        compared.chain(given).chain(covered).chain(self.page_locked.as_deref())
    }
}

/// Demands on the calls of a window: driver calls, and on the side of a host its calls into the
/// plugin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub none_of: Vec<SmolStr>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub count: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at_least: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at_most: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_order: Vec<String>,
    /// Function to the one that undoes it: as many calls of this as of the other that succeeded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub balanced: BTreeMap<String, String>,
    /// Function to the one that undoes it: fewer calls of this than of the other that succeeded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub open: BTreeMap<String, String>,
    /// Function to the largest number of its allocations in the window that may be left at the end.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kept: BTreeMap<String, u64>,
    /// Function of a boundary other than CUDA to what holds of each of its calls, of which there
    /// is at least one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub with: BTreeMap<String, Wanted>,
    /// Function of a boundary other than CUDA to what holds of those of its calls that count here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub only: BTreeMap<String, Wanted>,
    /// The label of the step at whose beginning the window opens, instead of this step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Memory that code of the host took, which the subject called or inherits, does not count. If
    /// all memory that was taken in the window is such memory, nothing is asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
}

impl Calls {
    /// What is asked of the facts of calls.
    pub fn facts(&self) -> impl Iterator<Item = &Wanted> {
        self.with.values().chain(self.only.values())
    }
}

/// All accesses to memory of this step that conflict with one of the labelled step come after it,
/// in every order in which the device may run the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ordered {
    /// The label of the earlier step.
    pub after: String,
}

/// After the step, a program that synchronizes with the stream sees all work on the memory as
/// completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoveredBy {
    /// A name whose facts have an address and a size.
    pub memory: String,
    /// `name.fact`: the handle of a stream; 1 and 2 are the default streams. Without this field,
    /// all work is completed for the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
}

impl CoveredBy {
    /// What it refers to: a name, and `name.fact` if it has a stream.
    fn references(&self) -> impl Iterator<Item = &str> {
        [self.memory.as_str()].into_iter().chain(self.stream.as_deref())
    }
}

/// What the subject may have written to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    Empty,
}
