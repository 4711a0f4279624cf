//! What is sent to a worker: one planned case for each permutation of a fixture's axes, every step
//! spelled out.

use std::collections::BTreeMap;

use allocert_requirements::Side;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::expectation::{Calls, Expectations};
use crate::interface::Operation;
use crate::nouns::{DriverSettings, Name, Need, Teardown, Thread};
use crate::vec_map::VecMap;

/// Stands between the id of a case and the call that the fault sweep makes fail in it:
/// `emm/alloc/exact-size/size:1!cuMemAlloc_v2@1=2`.
pub const SWEPT: char = '!';

/// One case, ready to run and to be judged later: the run file holds all of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedCase<O = Operation> {
    /// `emm/alloc/exact-size/size:255`.
    pub id: String,
    /// `cases/emm/alloc/exact-size.yaml`.
    pub file: String,
    pub about: String,
    /// The side that the case certifies.
    pub side: Side,
    /// The side whose operations the steps use.
    pub operations: Side,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    #[serde(default, skip_serializing_if = "DriverSettings::is_default")]
    pub driver: DriverSettings,
    pub teardown: Teardown,
    pub timeout_s: u32,
    pub steps: Vec<PlannedStep<O>>,
    /// Requirement id to what must hold of the driver calls of the whole case.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub r#finally: BTreeMap<String, Calls>,
}

/// One step with its place in the fixture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedStep<O = Operation> {
    pub index: u32,
    pub r#do: O,
    pub on: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<Thread>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default, skip_serializing_if = "VecMap::is_empty")]
    pub expect: Expectations,
    pub part: Part,
    /// The line of the step in the fixture; for setup and teardown the line where `steps` begins.
    pub line: usize,
}

/// Which part of a case a step belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Setup,
    Step,
    Teardown,
}

/// How the child leaves after the last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildExit {
    /// At once.
    Leave,
    /// As a program ends.
    Exit,
}

/// CASE of the worker protocol: a planned case without what it expects.
#[derive(Debug, Serialize)]
pub struct WireCase<'a> {
    pub id: &'a str,
    pub side: Side,
    pub operations: Side,
    pub driver: &'a DriverSettings,
    pub ending: ChildExit,
    pub steps: Vec<WireStep<'a>>,
}

/// STEP of the worker protocol.
#[derive(Debug, Serialize)]
pub struct WireStep<'a> {
    pub index: u32,
    pub r#do: &'a Operation,
    pub on: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<Thread>,
}

/// Which operations the steps have depends on the side, so they are read when all else is.
impl<'de> Deserialize<'de> for PlannedCase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let case = PlannedCase::<Box<RawValue>>::deserialize(deserializer)?;
        let side = case.operations;
        case.try_map(|json| Operation::read(side, json.get())).map_err(D::Error::custom)
    }
}

impl<O> PlannedCase<O> {
    /// The same case with other operations.
    fn try_map<P, E>(self, map: impl Fn(O) -> Result<P, E>) -> Result<PlannedCase<P>, E> {
        let steps = self.steps.into_iter().map(|step| {
            Ok(PlannedStep {
                r#do: map(step.r#do)?,
                index: step.index,
                on: step.on,
                thread: step.thread,
                label: step.label,
                expect: step.expect,
                part: step.part,
                line: step.line,
            })
        });
        Ok(PlannedCase {
            steps: steps.collect::<Result<_, E>>()?,
            id: self.id,
            file: self.file,
            about: self.about,
            side: self.side,
            operations: self.operations,
            needs: self.needs,
            driver: self.driver,
            teardown: self.teardown,
            timeout_s: self.timeout_s,
            r#finally: self.r#finally,
        })
    }
}

impl PlannedCase {
    /// What the worker is sent.
    #[must_use]
    pub fn wire(&self) -> WireCase<'_> {
        let steps = self.steps.iter().map(|step| WireStep {
            index: step.index,
            r#do: &step.r#do,
            on: &step.on,
            thread: step.thread,
        });
        WireCase {
            id: &self.id,
            side: self.side,
            operations: self.operations,
            driver: &self.driver,
            ending: self.child_exit(),
            steps: steps.collect(),
        }
    }

    #[must_use]
    pub fn child_exit(&self) -> ChildExit {
        match self.teardown {
            Teardown::Exit => ChildExit::Exit,
            Teardown::Clean | Teardown::None => ChildExit::Leave,
        }
    }

    /// `emm/alloc`: the first two segments of the id.
    #[must_use]
    pub fn group(&self) -> &str {
        let end = self.id.match_indices('/').nth(1).map_or(self.id.len(), |(at, _)| at);
        &self.id[..end]
    }

    /// Whether the fault sweep planned it.
    #[must_use]
    pub fn is_swept(&self) -> bool {
        self.id.contains(SWEPT)
    }

    /// The requirement ids that the case's expectations name.
    pub fn requirements(&self) -> impl Iterator<Item = &str> {
        let of_steps = self.steps.iter().flat_map(|step| step.expect.keys());
        of_steps.map(SmolStr::as_str).chain(self.r#finally.keys().map(String::as_str))
    }
}
