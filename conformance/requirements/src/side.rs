//! The interfaces, and the sides of each that are certified.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumIter, EnumString, IntoEnumIterator, IntoStaticStr};

/// A contract that subjects are certified against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Interface {
    Emm,
    Cai,
    Nep49,
    Place,
}

impl Interface {
    /// Every interface, in the order of reports.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        Self::iter()
    }

    /// `emm`, as in ids.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The interface of a requirement id (`EMM-ALLOC-03`).
    #[must_use]
    pub fn of_id(id: &str) -> Option<Self> {
        let prefix = id.split('-').next()?;
        Self::all().find(|interface| interface.name().eq_ignore_ascii_case(prefix))
    }

    /// The sides that it has.
    pub fn sides(self) -> impl Iterator<Item = Side> {
        Side::all().filter(move |side| side.interface() == self)
    }
}

/// Who has the duty that a requirement states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
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
        self.into()
    }
}

/// One role of one interface: what a run certifies. Its name is the word of the command line and
/// the first folder of its cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(Display, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
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
    /// Every side, in the order of reports.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        Self::iter()
    }

    /// `cai-producer`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
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
        name.parse().ok()
    }

    /// The side of a case or fixture path (`cai-producer/shape/tuple`).
    #[must_use]
    pub fn of_path(path: &str) -> Option<Self> {
        Self::by_name(path.split('/').next()?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Interface, Side};

    #[test]
    fn a_side_is_found_by_its_name_and_by_its_interface_and_role() {
        for side in Side::all() {
            assert_eq!(Side::by_name(side.name()), Some(side));
            assert_eq!(Side::of(side.interface(), side.role()), Some(side));
        }
        assert_eq!(Side::of_path("cai-consumer/order/forward"), Some(Side::CaiConsumer));
        assert_eq!(Side::of_path("cai/order"), None);
        assert_eq!(Interface::of_id("CAI-SHAPE-01"), Some(Interface::Cai));
    }
}
