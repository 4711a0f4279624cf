//! The operations on a library that makes arrays.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use super::bound_type::OBJECT;
use super::fields::{Array, Derive, ObjectKind};
use crate::interface::arguments::{Arguments, NameUse};
use crate::interface::definition::OperationSet;
use crate::interface::properties::Properties;
use crate::interface::shared::bound_type::{ARRAY, EXPORT, SUBJECT_STREAM};
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
    /// The subject makes an array.
    Array(Array),
    /// The subject makes an array of another one.
    Derive(Derive),
    /// The subject enqueues a write of the whole array, and does not wait for it.
    Work {
        on: Name,
        #[serde(default)]
        stream: Option<Name>,
        byte: u8,
    },
    /// The subject enqueues a read of the whole array, and does not wait for it.
    ReadWork {
        on: Name,
        #[serde(default)]
        stream: Option<Name>,
    },
    /// The subject makes an object whose data lie on no device.
    PlainObject { kind: ObjectKind, r#as: Name },
    /// Asks whether an object has the attribute.
    HasInterface { of: Name },
    /// Reads the attribute of an array.
    Export { of: Name, r#as: Name },
    /// Changes the dictionary that an export is.
    EditExport { export: Name },
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
            | Self::HasInterface { .. }
            | Self::EditExport { .. } => none(),
            Self::Drop(drop) => drop.properties(),
            Self::Attach(attach) => attach.properties(),
            Self::Detach {} => none().attachment(DETACH),
            Self::Instantiate(instantiate) => instantiate.properties(),
            Self::Stream(stream) => stream.properties(),
            Self::SubjectStream(stream) => stream.properties(),
            Self::Array(Array { r#as, .. }) | Self::Derive(Derive { r#as, .. }) => {
                none().binds(r#as, ARRAY).may_decline()
            }
            Self::Work { .. } | Self::ReadWork { .. } => none().may_decline(),
            Self::PlainObject { r#as, .. } => none().binds(r#as, OBJECT).may_decline(),
            Self::Export { r#as, .. } => none().binds(r#as, EXPORT),
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
            Self::Array(array) => array.arguments(),
            Self::Derive(derive) => derive.arguments(),
            Self::Work { on, stream, .. } | Self::ReadWork { on, stream } => {
                let stream = stream.iter().map(|name| NameUse::of(name, &[SUBJECT_STREAM]));
                Arguments::all([NameUse::of(on, &[ARRAY])].into_iter().chain(stream))
            }
            Self::HasInterface { of } => Arguments::one(of, &[ARRAY, OBJECT]),
            Self::Export { of, .. } => Arguments::one(of, &[ARRAY]),
            Self::EditExport { export } => Arguments::one(export, &[EXPORT]),
            Self::ClearFaults {}
            | Self::Collect {}
            | Self::Environment(_)
            | Self::Attach(_)
            | Self::Detach {}
            | Self::Instantiate(_)
            | Self::PlainObject { .. } => Arguments::none(),
        }
    }
}
