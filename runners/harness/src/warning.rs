//! What a person should know about a run besides the observations.

use std::fmt;

use allocert_suite::plan::PlannedCase;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// A case breaks after others and not by itself.
    OrderDependent {
        case: String,
        /// The fewest cases found that have to run before it in one process.
        after: Vec<String>,
    },
    /// Cases that time out beside others and not alone.
    TimedOutInParallel { cases: Vec<String> },
}

impl Warning {
    pub(crate) fn is_of_parallel_timeouts(&self) -> bool {
        matches!(self, Self::TimedOutInParallel { .. })
    }

    pub(crate) fn order(case: &PlannedCase, after: &[&PlannedCase]) -> Self {
        Self::OrderDependent {
            case: case.id.clone(),
            after: after.iter().map(|case| case.id.clone()).collect(),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OrderDependent { case, after } => {
                write!(out, "{case} breaks only when run after {} in one process", after.join(", "))
            }
            Self::TimedOutInParallel { cases } => {
                let (first, rest) = cases
                    .split_first()
                    .map_or(("", 0), |(first, rest)| (first.as_str(), rest.len()));
                let more = if rest == 0 { String::new() } else { format!(" and {rest} more") };
                write!(
                    out,
                    "{first}{more} timed out beside other cases and not when run again alone: the \
                     machine is slow, for which fewer --jobs help, or threads of the subject \
                     wait for each other now and then, which --repeat shows"
                )
            }
        }
    }
}
