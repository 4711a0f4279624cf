//! The lines of the worker protocol (`runners/PROTOCOL.md`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version spoken here; a worker is told it in `ALLOCERT_PROTOCOL`.
pub const PROTOCOL: u32 = 1;

/// What the harness asks for.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToWorker {
    Quit {},
}
#[derive(Debug, Deserialize)]
pub(crate) enum FromWorker { Case(Value) }
