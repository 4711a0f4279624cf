//! What producers and consumers of the CUDA Array Interface have in common.

use allocert_requirements::RefusalCode;
use serde::{Deserialize, Serialize};

use super::bound_type::{ADAPTER, ANSWER, EXPORT, STREAM, SUBJECT_STREAM};
use crate::interface::arguments::{Accepts, Arguments, NameUse};
use crate::interface::properties::Properties;
use crate::invalid_word::InvalidWord;
use crate::nouns::Name;

/// The name of the adapter that the setup makes.
pub(crate) const ADAPTER_NAME: Name = Name::new_static("adapter");

/// Makes the subject's adapter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instantiate {
    pub r#as: Name,
}

impl Instantiate {
    pub(crate) fn properties(&self) -> Properties<'_> {
        Properties::none().binds(&self.r#as, ADAPTER)
    }
}

/// A stream, the worker's or the subject's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamKind {
    /// CUDA's legacy default stream.
    Legacy,
    /// CUDA's default stream of the thread.
    PerThread,
    /// A new stream of the worker. It and the legacy stream wait for each other.
    Blocking,
    /// A new stream of the worker. It and the legacy stream do not wait for each other.
    NonBlocking,
    /// A new stream of the subject.
    New,
    /// What the subject calls its default stream.
    Default,
}

/// A stream of the worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// All but `new` and `default`:
    pub kind: StreamKind,
    /// Make it in a second context of the current device, beside the primary one.
    #[serde(default)]
    pub second_context: bool,
    pub r#as: Name,
}

impl Stream {
    pub(crate) fn properties(&self) -> Properties<'_> {
        Properties::none().binds(&self.r#as, STREAM)
    }

    pub(crate) fn arguments(&self) -> Arguments<'_> {
        let wrong = match self.kind {
            StreamKind::New | StreamKind::Default => {
                Some("only the subject has such a stream: use `subject_stream`")
            }
            StreamKind::Legacy
            | StreamKind::PerThread
            | StreamKind::Blocking
            | StreamKind::NonBlocking => None,
        };
        Arguments::none().invalid_if(
            wrong.map(|message| InvalidWord::new(RefusalCode::InvalidArgument, "stream", message)),
        )
    }
}

/// A stream of the subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubjectStream {
    /// All but `blocking` and `non_blocking`:
    pub kind: StreamKind,
    pub r#as: Name,
}

impl SubjectStream {
    pub(crate) fn properties(&self) -> Properties<'_> {
        Properties::none().binds(&self.r#as, SUBJECT_STREAM).may_decline()
    }

    pub(crate) fn arguments(&self) -> Arguments<'_> {
        let wrong = match self.kind {
            StreamKind::Blocking | StreamKind::NonBlocking => {
                Some("only the worker makes such a stream: use `stream`")
            }
            StreamKind::Legacy | StreamKind::PerThread | StreamKind::New | StreamKind::Default => {
                None
            }
        };
        let wrong = wrong.map(|message| {
            InvalidWord::new(RefusalCode::InvalidArgument, "subject_stream", message)
        });
        Arguments::none().invalid_if(wrong)
    }
}

/// The host waits for a stream of the worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synchronize {
    pub stream: Name,
}

impl Synchronize {
    pub(crate) fn arguments(&self) -> Arguments<'_> {
        Arguments::one(&self.stream, &[STREAM])
    }
}

/// Says whether an object is still alive, by a weak reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alive {
    pub of: Name,
    /// A name for the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#as: Option<Name>,
}

impl Alive {
    pub(crate) fn properties(&self) -> Properties<'_> {
        match &self.r#as {
            Some(name) => Properties::none().binds(name, ANSWER),
            None => Properties::none(),
        }
    }

    pub(crate) fn arguments(&self) -> Arguments<'_> {
        let of = NameUse { name: &self.of, accepts: Accepts::Any, may_be_gone: true };
        Arguments::all([of])
    }
}

/// The worker reads the data that an export describes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consume {
    pub export: Name,
    /// Read the mask of the export instead, which is a producer too.
    #[serde(default)]
    pub mask: bool,
}

impl Consume {
    pub(crate) fn arguments(&self) -> Arguments<'_> {
        Arguments::one(&self.export, &[EXPORT])
    }
}
