//! What a person should know about a run beyond the observations.

use std::fmt;

use allocert_suite::plan::PlannedCase;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// A case breaks after others and not by itself.
    OrderDependent {
        case: String,
        /// The fewest cases found that have to run before it in one process.
        after: Vec<String>,
    },
    /// Cases that are late beside others and not by themselves.
    LateInCompany { cases: Vec<String> },
}

impl Remark {
    pub(crate) fn order(case: &PlannedCase, after: &[&PlannedCase]) -> Self {
        Self::OrderDependent {
            case: case.id.clone(),
            after: after.iter().map(|case| case.id.clone()).collect(),
        }
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OrderDependent { case, after } => {
                write!(out, "{case} breaks only when run after {} in one process", after.join(", "))
            }
            Self::LateInCompany { cases } => {
                let (first, rest) = cases
                    .split_first()
                    .map_or(("", 0), |(first, rest)| (first.as_str(), rest.len()));
                let more = if rest == 0 { String::new() } else { format!(" and {rest} more") };
                write!(
                    out,
                    "beside others, and not when run again alone, time ran out for {first}{more}; fewer --jobs spare that"
                )
            }
        }
    }
}
