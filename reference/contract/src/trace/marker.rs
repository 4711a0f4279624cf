//! What a worker writes around what it does.

use serde::{Deserialize, Serialize};
use strum::FromRepr;

/// Tells which calls belong to which step, and which are the worker's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Marker {
    /// A case begins.
    CaseBegin,
    /// A step of the case begins.
    StepBegin {
        /// Its index within the case.
        step: u64,
    },
    /// The step ended.
    StepEnd {
        /// Its index within the case.
        step: u64,
    },
    /// What the thread calls from here on, the worker calls and not the subject.
    HarnessBegin,
    /// The end of what the latest [`Marker::HarnessBegin`] of the thread began.
    HarnessEnd,
    /// What the thread calls from here on, code of the host calls that the subject called or
    /// inherits, such as a method of a base class.
    HostCodeBegin,
    /// The end of what the latest [`Marker::HostCodeBegin`] of the thread began.
    HostCodeEnd,
}

/// A [`Marker`] without its step. The numbers are those of the recorder's C functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, FromRepr, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
pub enum MarkerKind {
    /// [`Marker::StepBegin`].
    StepBegin = 1,
    /// [`Marker::StepEnd`].
    StepEnd = 2,
    /// [`Marker::HarnessBegin`].
    HarnessBegin = 3,
    /// [`Marker::HarnessEnd`].
    HarnessEnd = 4,
    /// [`Marker::CaseBegin`].
    CaseBegin = 5,
    /// [`Marker::HostCodeBegin`].
    HostCodeBegin = 6,
    /// [`Marker::HostCodeEnd`].
    HostCodeEnd = 7,
}

impl Marker {
    /// The marker of this kind. Kinds that mark no step ignore `step`.
    #[must_use]
    pub fn new(kind: MarkerKind, step: u64) -> Self {
        match kind {
            MarkerKind::CaseBegin => Self::CaseBegin,
            MarkerKind::StepBegin => Self::StepBegin { step },
            MarkerKind::StepEnd => Self::StepEnd { step },
            MarkerKind::HarnessBegin => Self::HarnessBegin,
            MarkerKind::HarnessEnd => Self::HarnessEnd,
            MarkerKind::HostCodeBegin => Self::HostCodeBegin,
            MarkerKind::HostCodeEnd => Self::HostCodeEnd,
        }
    }

    /// What kind of marker it is.
    #[must_use]
    pub fn kind(self) -> MarkerKind {
        match self {
            Self::CaseBegin => MarkerKind::CaseBegin,
            Self::StepBegin { .. } => MarkerKind::StepBegin,
            Self::StepEnd { .. } => MarkerKind::StepEnd,
            Self::HarnessBegin => MarkerKind::HarnessBegin,
            Self::HarnessEnd => MarkerKind::HarnessEnd,
            Self::HostCodeBegin => MarkerKind::HostCodeBegin,
            Self::HostCodeEnd => MarkerKind::HostCodeEnd,
        }
    }

    /// The step that begins or ends.
    #[must_use]
    pub fn step(self) -> Option<u64> {
        match self {
            Self::StepBegin { step } | Self::StepEnd { step } => Some(step),
            Self::CaseBegin
            | Self::HarnessBegin
            | Self::HarnessEnd
            | Self::HostCodeBegin
            | Self::HostCodeEnd => None,
        }
    }
}
