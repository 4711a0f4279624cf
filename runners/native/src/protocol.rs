//! The lines of the worker protocol, as this side reads and writes them.

use allocert_suite::Side;
use allocert_suite::interface::Operation;
use allocert_suite::nouns::{DriverSettings, Name, Thread};
use allocert_suite::observation::{Outcome, TableCalls};
use allocert_suite::plan::ChildExit;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// To the worker.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Request<'a> {
    Load(Load),
    #[serde(borrow)]
    Run(Run<&'a RawValue>),
    Quit {},
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Load {
    pub(crate) interface: String,
    pub(crate) subject: String,
}

/// Cases to perform in one process.
#[derive(Debug, Deserialize)]
pub(crate) struct Run<O = Operation> {
    pub(crate) batch: u64,
    pub(crate) cases: Vec<Case<O>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Case<O = Operation> {
    pub(crate) id: String,
    pub(crate) operations: Side,
    #[serde(default)]
    pub(crate) driver: DriverSettings,
    pub(crate) ending: ChildExit,
    pub(crate) steps: Vec<Step<O>>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Step<O = Operation> {
    pub(crate) index: u32,
    pub(crate) r#do: O,
    #[serde(default = "first_manager")]
    pub(crate) on: Name,
    #[serde(default)]
    pub(crate) thread: Option<Thread>,
}

/// Which operations there are depends on the side, so they are read when all else is.
impl Run<&RawValue> {
    pub(crate) fn read(self) -> Result<Run, serde_json::Error> {
        let cases = self.cases.into_iter().map(Case::read).collect::<Result<_, _>>()?;
        Ok(Run { batch: self.batch, cases })
    }
}

impl Case<&RawValue> {
    fn read(self) -> Result<Case, serde_json::Error> {
        let side = self.operations;
        let steps = self.steps.into_iter().map(|Step { index, r#do, on, thread }| {
            Ok(Step { index, r#do: Operation::read(side, r#do.get())?, on, thread })
        });
        Ok(Case {
            steps: steps.collect::<Result<_, serde_json::Error>>()?,
            id: self.id,
            operations: side,
            driver: self.driver,
            ending: self.ending,
        })
    }
}

fn first_manager() -> Name {
    Name::new_static("m")
}

/// From the worker or its child.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line<'a> {
    Loaded(Loaded),
    Refused(Refused),
    Child {
        batch: u64,
        pid: i32,
    },
    Case {
        id: &'a str,
    },
    Step {
        index: u32,
        outcome: &'a Outcome,
        #[serde(skip_serializing_if = "Option::is_none")]
        table_calls: Option<TableCalls>,
    },
    Done {
        id: &'a str,
    },
    Ended(Ended),
}

#[derive(Debug, Serialize)]
pub(crate) struct Loaded {
    pub(crate) flavor: &'static str,
    pub(crate) capabilities: Vec<&'static str>,
    pub(crate) subject: SubjectInfo,
    /// What it did while it was loaded, so that each child must load it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) loaded_again: Option<&'static str>,
}

/// Who the subject is.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SubjectInfo {
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) file: String,
    pub(crate) interface_version: u32,
    pub(crate) host: Map<String, Value>,
}

/// Why a subject cannot be run.
#[derive(Debug, Serialize)]
pub(crate) struct Refused {
    pub(crate) stage: &'static str,
    pub(crate) message: String,
    pub(crate) detail: String,
}

impl Refused {
    pub(crate) fn new(stage: &'static str, message: String, detail: impl Into<String>) -> Self {
        Self { stage, message, detail: detail.into() }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Ended {
    pub(crate) batch: u64,
    pub(crate) exit: Exit,
    pub(crate) stdout: CapturedOutput,
    pub(crate) stderr: CapturedOutput,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
}

/// What came through one of the child's pipes.
#[derive(Debug, Serialize)]
pub(crate) struct CapturedOutput {
    pub(crate) text: String,
    pub(crate) bytes: u64,
}
