//! The lines of the worker protocol (`runners/PROTOCOL.md`).

use std::fmt;

use allocert_suite::observation::{Captured, Facts, Outcome, TableCalls};
use allocert_suite::offer::{Flavor, Offer};
use allocert_suite::plan::WireCase;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::machine::Machine;

/// The version spoken here; a worker is told it in `ALLOCERT_PROTOCOL` and may answer with its own.
pub(crate) const PROTOCOL: u32 = 1;

/// What the harness asks for.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToWorker<'a> {
    Load { interface: &'a str, subject: &'a str },
    Run { batch: u64, cases: &'a [WireCase<'a>] },
    Quit {},
}

/// What a worker says. Members that this build does not know are passed over.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromWorker {
    Loaded(Loaded),
    Refused(Refused),
    Child {
        batch: u64,
        pid: u32,
    },
    Case {
        id: String,
    },
    Step {
        index: u32,
        outcome: Outcome,
        #[serde(default)]
        plugin_calls: Vec<Facts>,
        #[serde(default)]
        table_calls: Option<TableCalls>,
    },
    Done {
        id: String,
    },
    Ended(Ended),
}

/// The subject as a worker found it; not used yet.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Loaded {
    pub flavor: Flavor,
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// `name`, `version`, `file`, `interface_version`, `host`.
    #[serde(default)]
    pub subject: Map<String, Value>,
    /// Why each process of a batch loads the subject anew; nothing if it does not.
    #[serde(default)]
    pub loaded_again: Option<LoadedAgain>,
    #[serde(default)]
    pub(crate) protocol: Option<u32>,
}

/// What a subject did while it was loaded. A forked process has no such thread, and cannot use a
/// driver that its parent initialized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadedAgain {
    Threads,
    Driver,
}

impl fmt::Display for LoadedAgain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (did, advice) = match self {
            Self::Threads => ("started a thread", "start it at the first use"),
            Self::Driver => ("called the CUDA driver", "call it at the first use"),
        };
        write!(
            out,
            "the subject {did} while it was loaded, so each case loads it anew, which makes the \
             run slower; to avoid that, {advice}"
        )
    }
}

impl Loaded {
    /// What a run of this subject on that machine has to offer.
    pub fn offer(&self, machine: &Machine) -> Offer {
        let host = self.subject.get("host");
        Offer::of(self.flavor, &self.capabilities, host, machine.driver, machine.devices)
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Refused {
    pub(crate) stage: String,
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) detail: String,
}

/// A batch's process is gone.
#[derive(Debug, Deserialize)]
pub(crate) struct Ended {
    pub(crate) batch: u64,
    pub(crate) exit: Exit,
    #[serde(default)]
    pub(crate) stdout: Captured,
    #[serde(default)]
    pub(crate) stderr: Captured,
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
}

impl fmt::Display for Exit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(out, "ended with exit code {code}"),
            Self::Signal(signal) => write!(out, "was ended by signal {signal}"),
        }
    }
}
