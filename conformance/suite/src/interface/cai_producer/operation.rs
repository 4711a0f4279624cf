//! The operations on a library that makes arrays.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use super::bound_type::OBJECT;
use super::operation_arguments::{Array, Derive, ObjectKind};
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
    /// Makes calls of a driver function fail: `count` calls, from the `nth` call on.
    Fault(Fault),
    /// Ends all faults.
    ClearFaults {},
    /// Runs a full garbage collection.
    Collect {},
    /// Sets an environment variable for the later steps.
    Environment(Environment),
    /// Drops the worker's reference to a name.
    ///
    /// Facts: `finalized` (whether that ended the object; null if nobody can know).
    Drop(Drop),
    /// Makes the primary context of a device current on the step's thread.
    Attach(Attach),
    /// Leaves the step's thread without a current context.
    Detach {},
    /// Makes the subject's adapter. Only the setup does this.
    Instantiate(Instantiate),
    /// Makes a stream of the worker, or names an existing one.
    ///
    /// Facts: `handle`.
    Stream(Stream),
    /// Gets a stream from the subject's library.
    SubjectStream(SubjectStream),
    /// The worker waits for one of its streams.
    Synchronize(Synchronize),
    /// Checks whether the object that has or had this name is still alive.
    ///
    /// Facts: `alive`.
    Alive(Alive),
    /// Does what every conforming consumer does: waits for the exported stream, if there is one,
    /// and copies the elements on a stream of its own.
    ///
    /// Facts: data facts without `fields`.
    Consume(Consume),
    /// The subject makes an array. Without `pending` the worker waits for all work of the context
    /// afterwards, so none is pending on the array.
    ///
    /// Facts: `read_only` (what the step asks, or true if all arrays of the library are read-only).
    Array(Array),
    /// The subject makes a view of an array, as NumPy would. A step gives exactly one of the fields
    /// between `of` and `as`.
    Derive(Derive),
    /// The subject enqueues a write of the byte to the whole array, and does not wait. Without
    /// `stream` the library chooses.
    Work {
        on: Name,
        #[serde(default)]
        stream: Option<Name>,
        byte: u8,
    },
    /// The subject enqueues a read of the whole array, and does not wait. Without `stream` the
    /// library chooses.
    ReadWork {
        on: Name,
        #[serde(default)]
        stream: Option<Name>,
    },
    /// The subject makes an object whose data lie on no device.
    PlainObject { kind: ObjectKind, r#as: Name },
    /// Checks with `hasattr` whether an object has the attribute.
    ///
    /// Facts: `has`.
    HasInterface { of: Name },
    /// Reads the attribute of an array once.
    ///
    /// Facts: export facts.
    Export { of: Name, r#as: Name },
    /// Writes into the dictionary that an export returned.
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
            Self::ClearFaults {} => none().clears_driver_faults(),
            Self::Collect {}
            | Self::Environment(_)
            | Self::Synchronize(_)
            | Self::HasInterface { .. }
            | Self::EditExport { .. } => none(),
            Self::Consume(consume) => none().reads_exports().reads_masks_if(consume.mask),
            Self::Alive(alive) => alive.properties(),
            Self::Drop(drop) => drop.properties(),
            Self::Attach(attach) => attach.properties(),
            Self::Detach {} => none().attachment(DETACH),
            Self::Instantiate(instantiate) => instantiate.properties(),
            Self::Stream(stream) => stream.properties(),
            Self::SubjectStream(stream) => stream.properties(),
            Self::Array(Array { r#as, .. }) | Self::Derive(Derive { r#as, .. }) => {
                none().binds(r#as, ARRAY).may_decline()
            }
            Self::Work { .. } => none().may_decline(),
            Self::ReadWork { .. } => none().may_decline().only_reads(),
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
