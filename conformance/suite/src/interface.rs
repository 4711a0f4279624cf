//! The interfaces under test: one folder for each side that can be certified.
//!
//! The rest of the suite knows a side by its [`SideInterface`] and a step's operation as
//! [`Operation`]. A new side needs its folder, a `mod` line, and a line in `sides!`.

pub mod arguments;
pub mod cai_consumer;
pub mod cai_producer;
mod definition;
pub mod emm;
pub mod emm_host;
pub mod exchange;
pub mod fault_sweep;
pub mod nep49;
pub mod nep49_host;
pub mod place;
pub mod properties;
pub mod shared;

use allocert_requirements::yaml::Tree;
use allocert_requirements::{Refusal, Side};
use serde::de::Error;
use serde::{Deserialize, Serialize, Serializer};
use strum::VariantNames;

use crate::nouns::Name;
use arguments::Arguments;
use definition::SideDefinition;
pub use definition::{Defective, OperationSet, Reference, SideFacts};
pub(crate) use definition::{Left, LeftName};
use properties::Properties;

/// The operations of one side among those of all.
pub trait SideOperation: Into<Operation> {
    /// The operation, if it is one of this side.
    fn of(operation: &Operation) -> Option<&Self>;

    /// The same, to change it.
    fn of_mut(operation: &mut Operation) -> Option<&mut Self>;
}

/// Makes the enum of all operations, and finds the interface of a side.
macro_rules! sides {
    ($($side:ident => $module:ident),+; without operations: $($none:ident),*) => {
        /// What one step does. A fixture writes `{memalloc: {size: 64, as: a}}`: the side that the
        /// operation belongs to is the case's.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Operation {
            $($side($module::Operation),)+
        }

        impl Operation {
            fn inner(&self) -> &dyn OperationSet {
                match self {
                    $(Self::$side(operation) => operation,)+
                }
            }
        }

        impl Serialize for Operation {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$side(operation) => operation.serialize(serializer),)+
                }
            }
        }

        $(
            impl From<$module::Operation> for Operation {
                fn from(operation: $module::Operation) -> Self {
                    Self::$side(operation)
                }
            }

            impl SideOperation for $module::Operation {
                fn of(operation: &Operation) -> Option<&Self> {
                    match operation {
                        Operation::$side(operation) => Some(operation),
                        _ => None,
                    }
                }

                fn of_mut(operation: &mut Operation) -> Option<&mut Self> {
                    match operation {
                        Operation::$side(operation) => Some(operation),
                        _ => None,
                    }
                }
            }
        )+

        /// The interface of a side; nothing for a side that has no operations yet.
        #[must_use]
        pub fn interface(side: Side) -> Option<&'static SideInterface> {
            match side {
                $(Side::$side => Some(const { &SideInterface::of::<$module::Definition>() }),)+
                $(Side::$none => None,)*
            }
        }
    };
}

sides! {
    Emm => emm,
    EmmHost => emm_host,
    CaiProducer => cai_producer,
    CaiConsumer => cai_consumer,
    Nep49 => nep49,
    Nep49Host => nep49_host,
    Place => place;
    without operations:
}

impl Operation {
    /// Reads an operation of a side from its JSON.
    ///
    /// # Errors
    /// What is wrong with it, or that the side has no operations.
    pub fn read(side: Side, json: &str) -> Result<Self, serde_json::Error> {
        let Some(interface) = interface(side) else {
            return Err(serde_json::Error::custom(format!("there are no operations of {side}")));
        };
        (interface.read)(json)
    }

    /// The operation's name in a fixture.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.inner().name()
    }

    #[must_use]
    pub fn properties(&self) -> Properties<'_> {
        self.inner().properties()
    }

    #[must_use]
    pub fn arguments(&self) -> Arguments<'_> {
        self.inner().arguments()
    }

    /// What it fills memory with, if it does so.
    pub(crate) fn fill(&self) -> Option<&shared::Fill> {
        match self {
            Self::Emm(emm::Operation::Fill(fill))
            | Self::Nep49(nep49::Operation::Fill(fill))
            | Self::Place(place::Operation::Fill(fill)) => Some(fill),
            _ => None,
        }
    }

    /// The name that it binds.
    #[must_use]
    pub fn bound_name(&self) -> Option<&str> {
        self.properties().binds.map(|(name, _)| name)
    }
}

/// One side, as code sees it that works for every side.
#[derive(Debug)]
pub struct SideInterface {
    pub facts: SideFacts,
    /// The names of all operations.
    pub operation_names: &'static [&'static str],
    pub(crate) setup: fn() -> Vec<Operation>,
    pub(crate) drop_name: fn(Name) -> Operation,
    pub(crate) teardown: fn(&Left) -> Vec<(Operation, Name)>,
    /// Reads one operation from its JSON.
    read: fn(&str) -> Result<Operation, serde_json::Error>,
    /// Reads the operations of all steps of a fixture.
    pub(crate) read_steps: fn(&Tree<'_>) -> Result<Vec<Operation>, Box<Refusal>>,
}

impl SideInterface {
    const fn of<D: SideDefinition>() -> Self
    where
        Operation: From<D::Operation>,
    {
        Self {
            facts: D::FACTS,
            operation_names: <D::Operation as VariantNames>::VARIANTS,
            setup: || D::setup().into_iter().map(Operation::from).collect(),
            drop_name: |name| D::drop_name(name).into(),
            teardown: |left| {
                let steps = D::teardown(left).into_iter();
                steps.map(|(operation, on)| (operation.into(), on)).collect()
            },
            read: |json| Ok(serde_json::from_str::<D::Operation>(json)?.into()),
            read_steps: |tree| {
                let fixture: OnlySteps<D::Operation> = tree.read()?;
                Ok(fixture.steps.into_iter().map(|step| step.r#do.into()).collect())
            },
        }
    }
}

/// The part of a fixture that depends on the side.
#[derive(Deserialize)]
struct OnlySteps<O> {
    steps: Vec<OnlyOperation<O>>,
}

#[derive(Deserialize)]
struct OnlyOperation<O> {
    r#do: O,
}
