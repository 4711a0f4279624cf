//! What happened in one case, as the worker, the trace and the process report it. All of it is
//! untrusted.

use allocert_contract::trace::Event;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use smol_str::SmolStr;

use crate::vec_map::VecMap;

/// One case's record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The case's id.
    pub case: String,
    /// In the order in which the lines arrived.
    pub steps: Vec<StepOutcome>,
    /// In the order of the driver.
    pub events: Vec<Event>,
    /// How many events the harness recorded of the case; nothing in files of versions that did not
    /// count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events_recorded: Option<u64>,
    /// Events that the ring had overwritten before they were read.
    pub events_lost: u64,
    /// Whether the worker said that all steps were performed.
    pub done: bool,
    /// How the process ended, or `Done` if it went on to other cases or left in order.
    pub ending: Ending,
    /// The step that had begun and not ended when the process ended, from the trace's marks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_in_flight: Option<u32>,
    /// From the worker's line that begins the case to the one that ends it, or to the end of the
    /// process. No verdict depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    #[serde(default)]
    pub stdout: Captured,
    #[serde(default)]
    pub stderr: Captured,
}

impl Observation {
    /// Where the exception passed that a step ended with.
    #[must_use]
    pub fn traceback(&self, step: u32) -> &[Box<str>] {
        match self.steps.iter().find(|outcome| outcome.index == step).map(|one| &one.outcome) {
            Some(Outcome::Raised(raised)) => &raised.traceback,
            _ => &[],
        }
    }
}

/// The line of one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepOutcome {
    pub index: u32,
    pub outcome: Outcome,
    /// What a host handed to the plugin since the step before: facts with the `number` of the call
    /// in the trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plugin_calls: Vec<Facts>,
    /// The side effects of calls of the C table, if the step made such calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_calls: Option<TableCalls>,
}

/// The side effects of calls of the C table. Only the worker sees them, so the worker reports them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableCalls {
    /// How often a member was called.
    pub calls: u64,
    /// Each kind of each member once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defects: Vec<TableDefect>,
}

/// Something that the contract forbids, whatever the call returned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableDefect {
    /// The member that was called.
    pub call: String,
    /// The name that the catalogue's `defects:` uses.
    pub defect: String,
    pub observed: String,
}

/// OUTCOME of the worker protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    Returned(Facts),
    Raised(Raised),
    /// A name that an earlier step failed to make.
    Skipped {
        because: String,
    },
    /// The subject has no way to do it, and says so.
    Declined {
        because: String,
    },
    /// This worker has no such operation.
    Unsupported {
        operation: String,
    },
}

/// Facts by name; the fixture format lists them for each operation.
pub type Facts = VecMap<SmolStr, Value>;

/// The `type` of an error of the worker's: nobody could call this subject.
pub const UNUSABLE_SUBJECT: &str = "UnusableSubject";

/// The `type` of an error of the worker's: its second process, which calls no subject, gave no
/// answer.
pub const PEER_FAILED: &str = "PeerFailed";

/// An error that a step ended with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raised {
    /// The exception's class, or what the native worker calls it.
    #[serde(default)]
    pub r#type: String,
    /// The class and its bases, without `object`.
    #[serde(default)]
    pub bases: Box<[String]>,
    #[serde(default)]
    pub message: String,
    /// A `CUresult`, where one is known.
    #[serde(default)]
    pub code: Option<i32>,
    /// The name of the native contract's status.
    #[serde(default)]
    pub status: Option<Box<str>>,
    /// The function that raised it, and its place, if Python ignores the error: it deletes an
    /// object then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored_in: Option<Box<str>>,
    /// Where an exception of Python passed outside of the worker, the place that raised it last:
    /// `plugin.py:12 in Pool.memalloc`.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub traceback: Box<[Box<str>]>,
}

/// How the process of a case ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// In order: all steps performed, and code 0 where the process ended with the case.
    Done,
    /// With this exit code: not 0, or before the case was done.
    Code(i32),
    Signal(i32),
    TimedOut {
        after_s: u32,
    },
    /// Ended at the limit of the case, while calls of the subject still returned.
    Slow {
        after_s: u32,
    },
    /// The case was not run, because so many cases before it had timed out.
    Stopped {
        timeouts: u32,
    },
    /// The case was not run, because the time of the whole run was over.
    OutOfTime {
        limit_s: u32,
    },
    /// The harness lost track of it; nothing can be said about the subject.
    Lost {
        message: String,
    },
}

impl Ending {
    /// Whether the case ran out of its time.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        matches!(self, Self::TimedOut { .. } | Self::Slow { .. })
    }
}

/// What was written to standard output or error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Captured {
    /// The first and the last 8 KiB.
    pub text: String,
    /// All of it.
    pub bytes: u64,
}

impl Observation {
    /// An empty record of a case about which no report arrived.
    #[must_use]
    pub fn silent(case: &str, ending: Ending) -> Self {
        Self {
            case: case.to_owned(),
            steps: Vec::new(),
            events: Vec::new(),
            events_recorded: None,
            events_lost: 0,
            done: false,
            ending,
            step_in_flight: None,
            duration_ms: None,
            stdout: Captured::default(),
            stderr: Captured::default(),
        }
    }
}
