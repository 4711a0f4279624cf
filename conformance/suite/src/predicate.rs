//! The predicates of a fixture: what a fact must satisfy.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::vec_map::VecMap;

/// A fact satisfies a predicate if all of its tests hold: `{at_least: 1, at_most: 8}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Predicate(pub VecMap<Test, Value>);

/// One kind of test. The predicate has the value that it compares with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    Is,
    Not,
    AtLeast,
    AtMost,
    MultipleOf,
    OneOf,
    Contains,
    /// The value is `name.path`: the fact equals that fact of the step that bound the name.
    SameAs,
    /// The value is `name.path`: the fact differs from that fact.
    DiffersFrom,
    /// The value is `name`: the address range does not overlap that of the name.
    DisjointFrom,
    /// The value is `true`: there is no such fact.
    Absent,
}

impl Test {
    /// What the value of this test refers to: `name.path`, or a name.
    #[must_use]
    pub fn reference_in(self, value: &Value) -> Option<&str> {
        match self {
            Self::SameAs | Self::DiffersFrom | Self::DisjointFrom => value.as_str(),
            _ => None,
        }
    }

    /// What the value of this test must be, if it is something else.
    #[must_use]
    pub fn complaint(self, value: &Value) -> Option<&'static str> {
        let (right, complaint) = match self {
            Self::Is | Self::Not | Self::Contains => (true, ""),
            Self::AtLeast | Self::AtMost => (value.is_number(), "a number"),
            Self::MultipleOf => (value.as_u64().is_some_and(|n| n > 0), "a whole number above 0"),
            Self::OneOf => {
                (value.as_array().is_some_and(|list| !list.is_empty()), "a list of values")
            }
            Self::SameAs | Self::DiffersFrom => {
                (value.as_str().is_some_and(|text| text.contains('.')), "`name.fact`")
            }
            Self::DisjointFrom => (value.is_string(), "a name"),
            Self::Absent => (value == &Value::Bool(true), "`true`"),
        };
        (!right).then_some(complaint)
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (test, value)) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(" and ")?;
            }
            match test {
                Test::Is => write!(f, "{value}")?,
                Test::Not => write!(f, "not {value}")?,
                Test::AtLeast => write!(f, "at least {value}")?,
                Test::AtMost => write!(f, "at most {value}")?,
                Test::MultipleOf => write!(f, "a multiple of {value}")?,
                Test::OneOf => write!(f, "one of {value}")?,
                Test::Contains => write!(f, "something that contains {value}")?,
                Test::SameAs => write!(f, "the same as {}", bare(value))?,
                Test::DiffersFrom => write!(f, "something else than {}", bare(value))?,
                Test::DisjointFrom => write!(f, "a range apart from that of {}", bare(value))?,
                Test::Absent => f.write_str("nothing")?,
            }
        }
        Ok(())
    }
}

fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
