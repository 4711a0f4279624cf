//! The operations on a library that takes the arrays of others. The worker is the producer.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use super::bound_type::{IMPORTED, PRODUCED};
use super::fields::{Access, Import, Launch, Pend, Produce};
use crate::interface::arguments::{Arguments, NameUse};
use crate::interface::definition::OperationSet;
use crate::interface::properties::Properties;
use crate::interface::shared::bound_type::{EXPORT, STREAM};
use crate::interface::shared::{
    Alive, Attach, Consume, DETACH, Drop, Environment, Fault, Instantiate, Stream, SubjectStream,
    Synchronize,
};
use crate::nouns::Name;

/// What one step does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[strum(serialize_all = "snake_case")]
pub enum Operation {
    /// Makes the n-th call of a driver function fail.
    Fault(Fault),
    /// Calls of the driver fail no more.
    ClearFaults {},
    /// Collects garbage.
    Collect {},
    /// Sets a variable of the process environment.
    Environment(Environment),
    /// Lets a name go.
    Drop(Drop),
    /// Makes the primary context of a device current on the step's thread.
    Attach(Attach),
    /// Leaves the step's thread without a current context.
    Detach {},
    /// Makes the subject's adapter.
    Instantiate(Instantiate),
    /// A stream of the worker.
    Stream(Stream),
    /// A stream of the subject.
    SubjectStream(SubjectStream),
    /// The host waits for a stream of the worker.
    Synchronize(Synchronize),
    /// Says whether an object is still alive.
    Alive(Alive),
    /// The worker reads the data that an export describes.
    Consume(Consume),
    /// The worker makes an object that has the interface.
    Produce(Produce),
    /// The worker enqueues a write of the whole memory, and does not wait for it.
    Pend(Pend),
    /// The subject makes an array of an object.
    Import(Import),
    /// The subject reads or writes an imported array.
    Access(Access),
    /// The subject takes objects as the arguments of one operation on the device.
    Launch(Launch),
    /// The worker reads the memory of its object.
    Inspect {
        on: Name,
        #[serde(default)]
        stream: Option<Name>,
    },
    /// The worker writes the memory of its object again, for another use of it.
    Reuse(Pend),
    /// The worker frees the memory of its object.
    Release {
        on: Name,
        /// The worker's stream in whose order the memory is freed.
        #[serde(default)]
        stream: Option<Name>,
    },
    /// Reads the attribute of an imported array.
    Reexport { of: Name, r#as: Name },
}

impl OperationSet for Operation {
    fn name(&self) -> &'static str {
        self.into()
    }

    fn properties(&self) -> Properties<'_> {
        let none = Properties::none;
        match self {
            Self::Fault(fault) => fault.properties(),
            Self::ClearFaults {}
            | Self::Collect {}
            | Self::Environment(_)
            | Self::Synchronize(_)
            | Self::Alive(_)
            | Self::Consume(_)
            | Self::Pend(_)
            | Self::Inspect { .. }
            | Self::Reuse(_)
            | Self::Release { .. } => none(),
            Self::Drop(drop) => drop.properties(),
            Self::Attach(attach) => attach.properties(),
            Self::Detach {} => none().attachment(DETACH),
            Self::Instantiate(instantiate) => instantiate.properties(),
            Self::Stream(stream) => stream.properties(),
            Self::SubjectStream(stream) => stream.properties(),
            Self::Produce(Produce { r#as, .. }) => none().binds(r#as, PRODUCED),
            Self::Import(Import { r#as, .. }) => {
                none().binds(r#as, IMPORTED).may_decline().takes_foreign()
            }
            Self::Access(_) => none().may_decline(),
            Self::Launch(_) => none().may_decline().takes_foreign(),
            Self::Reexport { r#as, .. } => none().binds(r#as, EXPORT).may_decline(),
        }
    }

    fn arguments(&self) -> Arguments<'_> {
        match self {
            Self::Fault(fault) => fault.arguments(),
            Self::Drop(drop) => drop.arguments(),
            Self::Stream(stream) => stream.arguments(),
            Self::SubjectStream(stream) => stream.arguments(),
            Self::Synchronize(synchronize) => synchronize.arguments(),
            Self::Alive(alive) => alive.arguments(),
            Self::Consume(consume) => consume.arguments(),
            Self::Produce(produce) => produce.arguments(),
            Self::Pend(pend) | Self::Reuse(pend) => pend.arguments(),
            Self::Import(import) => Arguments::one(&import.of, &[PRODUCED]),
            Self::Access(access) => Arguments::one(&access.on, &[IMPORTED]),
            Self::Launch(launch) => launch.arguments(),
            Self::Inspect { on, stream } | Self::Release { on, stream } => {
                let stream = stream.iter().map(|name| NameUse::of(name, &[STREAM]));
                Arguments::all([NameUse::of(on, &[PRODUCED])].into_iter().chain(stream))
            }
            Self::Reexport { of, .. } => Arguments::one(of, &[IMPORTED]),
            Self::ClearFaults {}
            | Self::Collect {}
            | Self::Environment(_)
            | Self::Attach(_)
            | Self::Detach {}
            | Self::Instantiate(_) => Arguments::none(),
        }
    }
}
