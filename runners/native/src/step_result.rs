//! What a step comes to.

use allocert_cuda::DriverError;
use allocert_suite::interface::Operation;
use allocert_suite::observation::{Facts, Outcome, Raised};
use serde_json::Value;

/// Why a step has no facts: each is an outcome.
#[derive(Debug)]
pub(crate) enum NoResult {
    Skipped {
        because: String,
    },
    Raised(Raised),
    /// The subject has no way to do it, and says so.
    Declined {
        because: String,
    },
    /// The worker cannot perform it.
    Unsupported {
        operation: &'static str,
    },
}

impl NoResult {
    pub(crate) fn unsupported(operation: &'static str) -> Self {
        Self::Unsupported { operation }
    }
}

impl From<Raised> for NoResult {
    fn from(raised: Raised) -> Self {
        Self::Raised(raised)
    }
}

impl From<NoResult> for Outcome {
    fn from(result: NoResult) -> Self {
        match result {
            NoResult::Skipped { because } => Self::Skipped { because },
            NoResult::Raised(raised) => Self::Raised(raised),
            NoResult::Declined { because } => Self::Declined { because },
            NoResult::Unsupported { operation } => {
                Self::Unsupported { operation: operation.to_owned() }
            }
        }
    }
}

/// The outcome of a step that was performed.
pub(crate) fn outcome(result: Result<Facts, NoResult>) -> Outcome {
    result.map_or_else(Into::into, Outcome::Returned)
}

/// The outcome of a step that the worker cannot perform.
pub(crate) fn unsupported(operation: &Operation) -> Outcome {
    Outcome::Unsupported { operation: operation.name().to_owned() }
}

/// A fact list from pairs.
pub(crate) fn facts<const N: usize>(pairs: [(&str, Value); N]) -> Facts {
    pairs.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

/// An error that the worker met on the subject's account: what failed and why, without a status of
/// the subject's own.
pub(crate) fn error_of_worker(kind: &str, message: impl Into<String>, code: Option<i32>) -> Raised {
    Raised {
        r#type: kind.to_owned(),
        bases: Box::default(),
        message: message.into(),
        code,
        status: None,
        ignored_in: None,
        traceback: Box::default(),
    }
}

pub(crate) fn driver_error(error: DriverError) -> Raised {
    error_of_worker("DriverError", error.to_string(), error.code().map(u32::cast_signed))
}
