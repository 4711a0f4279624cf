//! The lines of the worker protocol, as this side reads and writes them.

use allocert_suite::Side;
use allocert_suite::nouns::{DriverSettings, Name, Thread};
use allocert_suite::observation::{Outcome, TableCalls};
use allocert_suite::operation::Operation;
use allocert_suite::plan::End;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// To the worker.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Order {
    Load(Load),
    Run(Run),
    Quit {},
}

#[derive(Debug, Deserialize)]
pub(crate) struct Load {
    pub(crate) interface: String,
    pub(crate) subject: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Run {
    pub(crate) batch: u64,
    pub(crate) cases: Vec<Case>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) operations: Side,
    #[serde(default)]
    pub(crate) driver: DriverSettings,
    pub(crate) ending: End,
    pub(crate) steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Step {
    pub(crate) index: u32,
    pub(crate) r#do: Operation,
    #[serde(default = "first_manager")]
    pub(crate) on: Name,
    #[serde(default)]
    pub(crate) thread: Option<Thread>,
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
    pub(crate) subject: Portrait,
}

/// Who the subject is.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Portrait {
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

#[derive(Debug, Serialize)]
pub(crate) struct Ended {
    pub(crate) batch: u64,
    pub(crate) exit: Exit,
    pub(crate) stdout: Printed,
    pub(crate) stderr: Printed,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
}

/// What came through one of the child's pipes.
#[derive(Debug, Serialize)]
pub(crate) struct Printed {
    pub(crate) text: String,
    pub(crate) bytes: u64,
}
