//! Why an injection is not made.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::applicability::{Applicability, Reason};
use crate::sweep::site::FIRST;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unswept {
    /// The driver's documentation does not list this error for the function.
    NeverAnswers { function: String, error: String },
    /// The call gives back or restores a context; where it fails nobody can.
    Restores { function: String },
    /// The case makes calls fail itself.
    OwnFaults,
    /// The case did not conform without a fault.
    NotClean,
    /// The sweep knows what a manager must do when a call fails, and of no other subject.
    OtherSubject,
    /// Several threads make calls, and which of them is the nth is another in each run.
    Threads,
    /// numba-cuda makes calls too, and they cannot be told from the subject's.
    HostCalls,
    /// The same call at the same place of another case is swept.
    Sampled,
    /// One of many calls of one step, neither among the first nor the last.
    Repeated,
}

impl Unswept {
    pub(crate) fn applicability(self) -> Applicability {
        let decision = match &self {
            Self::NeverAnswers { .. }
            | Self::Restores { .. }
            | Self::OwnFaults
            | Self::OtherSubject => Applicability::NotApplicable,
            Self::NotClean | Self::Threads | Self::HostCalls | Self::Sampled | Self::Repeated => {
                Applicability::NotObserved
            }
        };
        decision(Reason::Unswept { because: self })
    }
}

impl fmt::Display for Unswept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not swept: ")?;
        match self {
            Self::NeverAnswers { function, error } => write!(f, "{function} never answers {error}"),
            Self::Restores { function } => {
                write!(f, "{function} gives a context back, and where that fails nobody can make up for it")
            }
            Self::OwnFaults => f.write_str("the case makes driver calls fail itself"),
            Self::NotClean => f.write_str("the case does not conform without a fault"),
            Self::OtherSubject => f.write_str("the fault sweep is for managers"),
            Self::Threads => f.write_str("several threads make driver calls in this case, in another order each time"),
            Self::HostCalls => {
                f.write_str("numba-cuda makes driver calls in this case that cannot be told from the subject's")
            }
            Self::Repeated => {
                write!(
                    f,
                    "of the calls of one function in one step the first {FIRST} and the last are swept (--faults=every sweeps all)"
                )
            }
            Self::Sampled => {
                f.write_str("the same call at the same place of another case is swept (--faults=every sweeps all)")
            }
        }
    }
}
