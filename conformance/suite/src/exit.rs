//! The exit code of a run, computed in one place.

use crate::reason::Meaning;
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
    /// A case ran without showing what it asks about, and nobody said that this is known.
    NotObserved = 5,
}

impl Exit {
    /// A violation decides before a harness error, because it is certain. A harness error decides
    /// before a subject that cannot be used, because it may be the cause. What was not observed
    /// counts only beside cases with a result.
    #[must_use]
    pub fn of<'a>(judgements: impl IntoIterator<Item = &'a Judgement>) -> Self {
        let (mut ran, mut unusable, mut broken, mut unseen) = (false, false, false, false);
        for judgement in judgements {
            match judgement.verdict {
                Verdict::Violates | Verdict::UnexpectedConformance { .. } => {
                    return Self::Violations;
                }
                Verdict::HarnessError { .. } => broken = true,
                Verdict::Unusable { .. } => unusable = true,
                Verdict::Conforms | Verdict::ExpectedViolation => ran = true,
                Verdict::NotApplicable { .. } => {}
                Verdict::NotObserved { ref reason } => match reason.meaning() {
                    Meaning::Unfinished => broken = true,
                    Meaning::Unseen => unseen |= judgement.fails_the_run(),
                    Meaning::NothingAsked => {}
                },
            }
        }
        match (broken, unusable, ran, unseen) {
            (true, ..) => Self::Harness,
            (false, true, ..) => Self::Usage,
            (false, false, false, _) => Self::NothingRan,
            (false, false, true, true) => Self::NotObserved,
            (false, false, true, false) => Self::Conforms,
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
            Self::NotObserved => "what a case asks about was not observed",
        }
    }

    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }
}
