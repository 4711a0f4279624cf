//! The operations on a library that takes the arrays of others. The worker is the producer.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use super::bound_type::{IMPORTED, PRODUCED};
use super::operation_arguments::{Access, Import, Launch, Pend, Produce};
use crate::interface::arguments::{Arguments, NameUse};
use crate::interface::definition::OperationSet;
use crate::interface::properties::Properties;
use crate::interface::shared::bound_type::{EXPORT, STREAM, SUBJECT_STREAM};
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
    /// The worker makes an object with the interface. What the interface says may be false. The
    /// byte 0xEE fills the memory in front of the elements, between them (if `counting`) and behind
    /// them.
    ///
    /// Facts: `pointer`, `base`, `size_bytes`, `keys`.
    Produce(Box<Produce>),
    /// The worker enqueues a write of the byte to all of the memory, and does not wait.
    Pend(Pend),
    /// The worker enqueues a write of the byte to the 64 bytes behind the memory, and does not
    /// wait. They belong to another array, of which the interface says nothing.
    PendBehind(Pend),
    /// The worker enqueues a write of the byte to the bytes of the allocation in front of the
    /// memory, and does not wait. They belong to another array.
    PendInFront(Pend),
    /// The user makes a stream of the worker wait for all work that is in another one now, by an
    /// event.
    Order {
        stream: Name,
        /// The stream with the earlier work.
        after: Name,
    },
    /// The subject makes one of its streams the current one of its library, for later operations
    /// that are given none.
    UseStream { stream: Name },
    /// The subject takes an object.
    ///
    /// Facts: adapter facts, `type`, `keeps_owner`, `attribute_reads`, `unchanged` (whether every
    /// dictionary that was handed out is as before).
    Import(Import),
    /// The subject reads an imported array, or writes a byte to all of it.
    ///
    /// Facts: data facts for a read.
    Access(Access),
    /// The subject passes the worker's objects themselves to one operation on the device.
    ///
    /// Facts: for each name the adapter facts, `attribute_reads` and `unchanged`.
    Launch(Launch),
    /// The worker reads its own data on a stream of its own; without `stream` it reads after all
    /// other work.
    ///
    /// Facts: data facts without `fields`, and `beside` (the value of all bytes in front of the
    /// elements, between and behind them, or null if they differ).
    Inspect {
        on: Name,
        #[serde(default)]
        stream: Option<Name>,
    },
    /// As `pend`: the producer goes on with its work.
    Reuse(Pend),
    /// The worker frees the memory of its object. Otherwise the memory lives as long as the object.
    Release {
        on: Name,
        /// The worker's stream in whose order the memory is freed.
        #[serde(default)]
        stream: Option<Name>,
    },
    /// Reads the attribute of an imported array.
    ///
    /// Facts: export facts.
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
            Self::ClearFaults {} => none().clears_driver_faults(),
            Self::Collect {}
            | Self::Environment(_)
            | Self::Synchronize(_)
            | Self::Pend(_)
            | Self::Order { .. }
            | Self::Inspect { .. }
            | Self::Reuse(_)
            | Self::Release { .. } => none(),
            Self::Consume(consume) => none().reads_exports().reads_masks_if(consume.mask),
            Self::PendBehind(_) | Self::PendInFront(_) => none().works_beside_array(),
            Self::Alive(alive) => alive.properties(),
            Self::Drop(drop) => drop.properties(),
            Self::Attach(attach) => attach.properties(),
            Self::Detach {} => none().attachment(DETACH),
            Self::Instantiate(instantiate) => instantiate.properties(),
            Self::Stream(stream) => stream.properties(),
            Self::SubjectStream(stream) => stream.properties(),
            Self::Produce(produce) => none().binds(&produce.r#as, PRODUCED),
            Self::Import(Import { r#as, .. }) => {
                none().binds(r#as, IMPORTED).may_decline().takes_foreign()
            }
            Self::UseStream { .. } => none().may_decline(),
            Self::Access(access) => {
                none().may_decline().uses_foreign().writes_foreign_if(access.write.is_some())
            }
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
            Self::Pend(pend)
            | Self::PendBehind(pend)
            | Self::PendInFront(pend)
            | Self::Reuse(pend) => pend.arguments(),
            Self::Order { stream, after } => {
                Arguments::all([stream, after].map(|name| NameUse::of(name, &[STREAM])))
            }
            Self::Import(import) => Arguments::one(&import.of, &[PRODUCED]),
            Self::UseStream { stream } => Arguments::one(stream, &[SUBJECT_STREAM]),
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
