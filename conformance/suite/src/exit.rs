//! The exit code of a run, computed in one place.

use crate::reason::Reason;
use crate::verdict::{Judgement, Verdict};

/// What a run comes to. Usage errors and broken fixtures end a program with 2 before there is a
/// run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All conform, or violate as expected.
    Conforms = 0,
    Violations = 1,
    /// A fixture, an expectation file or the command line is wrong, or the subject cannot be used.
    Usage = 2,
    /// The harness could not do its work.
    Harness = 3,
    NothingRan = 4,
}

impl Exit {
    /// A violation decides before a harness error, because it is certain. A harness error decides
    /// before a subject that cannot be used, because it may be the cause.
    #[must_use]
    pub fn of<'a>(judgements: impl IntoIterator<Item = &'a Judgement>) -> Self {
        let (mut ran, mut unusable, mut broken) = (false, false, false);
        for judgement in judgements {
            match judgement.verdict {
                Verdict::Violates | Verdict::UnexpectedConformance { .. } => {
                    return Self::Violations;
                }
                Verdict::HarnessError { .. } => broken = true,
                Verdict::Unusable { .. } => unusable = true,
                // What is lost or was not run may hide anything. The subject can cause it.
                Verdict::NotObserved {
                    reason:
                        Reason::EventsLost { .. } | Reason::OutOfTime { .. } | Reason::Interrupted,
                } => broken = true,
                Verdict::Conforms | Verdict::ExpectedViolation => ran = true,
                Verdict::NotApplicable { .. } | Verdict::NotObserved { .. } => {}
            }
        }
        match (broken, unusable, ran) {
            (true, ..) => Self::Harness,
            (false, true, _) => Self::Usage,
            (false, false, true) => Self::Conforms,
            (false, false, false) => Self::NothingRan,
        }
    }

    /// As a report calls it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Conforms => "no violation",
            Self::Violations => "violations",
            Self::Usage => "the subject cannot be used",
            Self::Harness => "no result: allocert could not do its work",
            Self::NothingRan => "nothing ran",
        }
    }

    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }
}
