//! The fields of an operation: the names that it uses, and whether the fields agree.

use crate::interface::properties::BoundType;
use crate::invalid_word::InvalidWord;

/// The names that an operation uses, and what the types of its fields do not check.
#[derive(Debug)]
pub struct Arguments<'a> {
    pub(crate) uses: Vec<NameUse<'a>>,
    pub(crate) valid: Result<(), InvalidWord>,
}

impl<'a> Arguments<'a> {
    /// No names, and nothing to check.
    pub(crate) fn none() -> Self {
        Self::all([])
    }

    /// One name, which stands for one of these.
    pub(crate) fn one(name: &'a str, types: &'static [BoundType]) -> Self {
        Self::all([NameUse::of(name, types)])
    }

    pub(crate) fn all(uses: impl IntoIterator<Item = NameUse<'a>>) -> Self {
        Self { uses: uses.into_iter().collect(), valid: Ok(()) }
    }

    /// The fields are wrong, unless this is nothing.
    pub(crate) fn invalid_if(self, invalid: Option<InvalidWord>) -> Self {
        Self { valid: invalid.map_or(Ok(()), Err), ..self }
    }
}

/// A name that an operation uses.
#[derive(Debug, Clone, Copy)]
pub struct NameUse<'a> {
    pub(crate) name: &'a str,
    pub(crate) accepts: Accepts,
    /// Whether an earlier step may have let the name go.
    pub(crate) may_be_gone: bool,
}

impl<'a> NameUse<'a> {
    pub(crate) fn of(name: &'a str, types: &'static [BoundType]) -> Self {
        Self { name, accepts: Accepts::OneOf(types), may_be_gone: false }
    }

    /// A name of any type that can be dropped.
    pub(crate) fn droppable(name: &'a str) -> Self {
        Self { name, accepts: Accepts::Droppable, may_be_gone: false }
    }

    /// The same use, and the name may stand for nothing any more.
    pub(crate) fn or_gone(self) -> Self {
        Self { may_be_gone: true, ..self }
    }
}

/// What a used name may stand for.
#[derive(Debug, Clone, Copy)]
pub enum Accepts {
    /// Whatever can be dropped.
    Droppable,
    /// Whatever there is.
    Any,
    Only(BoundType),
    OneOf(&'static [BoundType]),
}

impl Accepts {
    pub(crate) fn takes(self, bound: BoundType) -> bool {
        match self {
            Self::Droppable => bound.is_droppable(),
            Self::Any => true,
            Self::Only(only) => bound == only,
            Self::OneOf(types) => types.contains(&bound),
        }
    }
}
