//! The interfaces, and the sides of each that are certified.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A contract that subjects are certified against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interface {
    Emm,
    Cai,
    Nep49,
    Place,
}

impl Interface {
    pub const ALL: [Self; 4] = [Self::Emm, Self::Cai, Self::Nep49, Self::Place];

    /// `emm`, as in ids.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Emm => "emm",
            Self::Cai => "cai",
            Self::Nep49 => "nep49",
            Self::Place => "place",
        }
    }

    /// The interface of a requirement id (`EMM-ALLOC-03`).
    #[must_use]
    pub fn of_id(id: &str) -> Option<Self> {
        let prefix = id.split('-').next()?;
        Self::ALL.into_iter().find(|interface| interface.name().eq_ignore_ascii_case(prefix))
    }

    /// The sides that it has.
    pub fn sides(self) -> impl Iterator<Item = Side> {
        Side::ALL.into_iter().filter(move |side| side.interface() == self)
    }
}

/// Who has the duty that a requirement states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Plugin,
    Host,
    Producer,
    Consumer,
    Handler,
    Allocator,
}

impl Role {
    /// `producer`, as in the catalogue.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plugin => "plugin",
            Self::Host => "host",
            Self::Producer => "producer",
            Self::Consumer => "consumer",
            Self::Handler => "handler",
            Self::Allocator => "allocator",
        }
    }
}

/// One role of one interface: what a run certifies. Its name is the word of the command line and
/// the first folder of its cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    Emm,
    EmmHost,
    CaiProducer,
    CaiConsumer,
    Nep49,
    Nep49Host,
    Place,
}

impl Side {
    pub const ALL: [Self; 7] = [
        Self::Emm,
        Self::EmmHost,
        Self::CaiProducer,
        Self::CaiConsumer,
        Self::Nep49,
        Self::Nep49Host,
        Self::Place,
    ];

    /// `cai-producer`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Emm => "emm",
            Self::EmmHost => "emm-host",
            Self::CaiProducer => "cai-producer",
            Self::CaiConsumer => "cai-consumer",
            Self::Nep49 => "nep49",
            Self::Nep49Host => "nep49-host",
            Self::Place => "place",
        }
    }

    #[must_use]
    pub fn interface(self) -> Interface {
        match self {
            Self::Emm | Self::EmmHost => Interface::Emm,
            Self::CaiProducer | Self::CaiConsumer => Interface::Cai,
            Self::Nep49 | Self::Nep49Host => Interface::Nep49,
            Self::Place => Interface::Place,
        }
    }

    #[must_use]
    pub fn role(self) -> Role {
        match self {
            Self::Emm => Role::Plugin,
            Self::EmmHost | Self::Nep49Host => Role::Host,
            Self::CaiProducer => Role::Producer,
            Self::CaiConsumer => Role::Consumer,
            Self::Nep49 => Role::Handler,
            Self::Place => Role::Allocator,
        }
    }

    /// The side of an interface that has this role.
    #[must_use]
    pub fn of(interface: Interface, role: Role) -> Option<Self> {
        interface.sides().find(|side| side.role() == role)
    }

    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|side| side.name() == name)
    }

    /// The side of a case or fixture path (`cai-producer/shape/tuple`).
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        Self::by_name(path.split('/').next()?)
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::{Interface, Side};

    #[test]
    fn a_side_is_found_by_its_name_and_by_its_interface_and_role() {
        for side in Side::ALL {
            assert_eq!(Side::by_name(side.name()), Some(side));
            assert_eq!(Side::of(side.interface(), side.role()), Some(side));
        }
        assert_eq!(Side::of_path("cai-consumer/order/forward"), Some(Side::CaiConsumer));
        assert_eq!(Side::of_path("cai/order"), None);
        assert_eq!(Interface::of_id("CAI-SHAPE-01"), Some(Interface::Cai));
    }
}
