//! What the judge says: findings as data, and the verdict on a case.

use std::collections::BTreeSet;
use std::fmt;

use allocert_requirements::Level;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray, VariantNames};

use crate::reason::{Meaning, Reason};

/// Everything the judge says about one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// The case's id.
    pub case: String,
    pub verdict: Verdict,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The requirements that were judged.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub checked: BTreeSet<String>,
    /// Why the run may end without a result of this case: the reason from the expectation file that
    /// lists it as not observed, or the option that allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_because: Option<String>,
}

impl Judgement {
    /// Without findings, and judged by no requirement.
    #[must_use]
    pub fn without_findings(case: &str, verdict: Verdict) -> Self {
        Self {
            case: case.to_owned(),
            verdict,
            findings: Vec::new(),
            checked: BTreeSet::new(),
            expected_because: None,
        }
    }

    /// Whether the case ran and its record does not show what it asks about.
    #[must_use]
    pub fn is_unseen(&self) -> bool {
        self.verdict.meaning() == Some(Meaning::Unseen)
    }

    /// Whether it ends the run with another exit code than 0.
    #[must_use]
    pub fn fails_the_run(&self) -> bool {
        match &self.verdict {
            Verdict::Conforms | Verdict::ExpectedViolation | Verdict::NotApplicable { .. } => false,
            Verdict::Violates
            | Verdict::Unusable { .. }
            | Verdict::HarnessError { .. }
            | Verdict::UnexpectedConformance { .. } => true,
            Verdict::NotObserved { reason } => match reason.meaning() {
                Meaning::NothingAsked => false,
                Meaning::Unseen => self.expected_because.is_none(),
                Meaning::Unfinished => true,
            },
        }
    }
}

/// The verdict on one case. A case whose findings are all below MUST conforms; the findings stay as
/// warnings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "kebab-case")]
pub enum Verdict {
    Conforms,
    Violates,
    /// The subject declared, before or during the case, that it does not do this.
    NotApplicable {
        reason: Reason,
    },
    /// This driver or worker cannot show it.
    NotObserved {
        reason: Reason,
    },
    /// The subject or its adapter failed before the step that the case tests.
    Unusable {
        message: String,
    },
    /// The suite could not do its work; nothing is said about the subject.
    HarnessError {
        message: String,
    },
    /// Every violation is listed in the expectation file.
    ExpectedViolation,
    /// The expectation file lists a violation that did not happen, or as not observed what was.
    UnexpectedConformance {
        message: String,
    },
}

impl Verdict {
    /// The names in the order of a summary.
    pub const NAMES: &'static [&'static str] = <Self as VariantNames>::VARIANTS;

    /// Whether the case was run and judged to its end.
    #[must_use]
    pub fn ran(&self) -> bool {
        !matches!(self, Self::NotApplicable { .. } | Self::NotObserved { .. })
            && !self.is_worthless()
    }

    /// Whether the record of the case proves nothing, whatever is found in it.
    #[must_use]
    pub fn is_worthless(&self) -> bool {
        matches!(self, Self::Unusable { .. } | Self::HarnessError { .. })
    }

    /// What it says about the run, if the case is `not-observed`.
    #[must_use]
    pub fn meaning(&self) -> Option<Meaning> {
        match self {
            Self::NotObserved { reason } => Some(reason.meaning()),
            _ => None,
        }
    }

    #[must_use]
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

/// One violation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// The requirement's id.
    pub requirement: String,
    /// From the catalogue alone.
    pub level: Level,
    /// The case's id.
    pub case: String,
    /// The step it shows in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Where the fixture says so.
    pub place: Place,
    /// The always-on check that found it, if no expectation did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// The defect of an export, or of a call of the C table, that it is about, if the judge read it
    /// there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defect: Option<String>,
    pub expected: String,
    pub observed: String,
    /// The events that show it, earlier ones first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Witness>,
    /// The reason from the expectation file that lists it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_because: Option<String>,
}

impl Finding {
    /// Whether it shows two accesses of the same bytes that nothing orders.
    #[must_use]
    pub fn shows_missing_order(&self) -> bool {
        self.events.iter().any(|witness| witness.role.ends_with(NOT_ORDERED))
    }
}

/// The end of a witness's role: it is the later of two accesses, and nothing orders the two.
pub(crate) const NOT_ORDERED: &str = ", not ordered after it";

/// A position in a fixture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Relative to `fixtures/`.
    pub file: String,
    /// From 1.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// An event and the part it plays: "allocated here".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// [`allocert_contract::trace::Event::seq`].
    pub seq: u64,
    pub role: String,
}

/// A check that runs in every case without being asked; the catalogue gives each its requirement.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Check {
    Leak,
    DoubleFree,
    ForeignFree,
    /// The subject gave memory back that the worker took.
    MemoryOfOthers,
    UseAfterFree,
    Overlap,
    DriverMisuse,
    /// The subject destroyed a stream that the worker made.
    StreamOfOthers,
    ContextBalance,
    /// As `ContextBalance`, for each call of the C table.
    ContextKept,
    Crash,
    Hang,
    Exit,
    Chatter,
    FinalizerError,
    /// The function that a step calls is null, so the worker raised `NullFunction` instead.
    NullFunction,
    /// The structure of a handler lost what a host uses, so the worker raised `TableChanged`.
    TableChanged,
    /// The subject used Python without the GIL, so the worker raised `GilNotHeld`.
    GilNotHeld,
    /// The subject's `free` left an exception of Python, so the worker raised `ExceptionLeft`.
    ExceptionLeft,
    /// A function of the subject that returns memory set an exception of Python, so the worker
    /// raised `ExceptionSet`.
    ExceptionSet,
    /// A function of the interface is missing: the worker raised `NullMember`, or Python makes no
    /// object of the class.
    MissingMember,
    /// The base class raised an error because its constructor did not run.
    BaseNotMade,
    /// A request fails because the subject calls the driver without a context.
    NoContext,
    /// A request is answered with NO_PLACE at a device that the driver has.
    DeviceNotServed,
    /// A request fails that was served before another one found no memory.
    EndedByShortage,
    /// A request fails after a call of the driver failed that works again.
    EndedByFault,
    /// A request fails that was served before release().
    EndedByRelease,
    /// The process ended inside a `free` of null.
    FreeNull,
    /// A host called the driver for memory although it has a plugin.
    OwnAllocation,
    /// Accesses to memory that conflict and can happen in either order.
    Race,
    /// As `Race`, of an operation on an imported view with what the producer does afterwards.
    ViewRace,
    /// As `Race`, with work on the bytes beside an imported array.
    RaceBeside,
}

impl Check {
    /// The name that the catalogue's `check:` uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}
