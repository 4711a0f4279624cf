//! The subjects that an expectation file is about: `subject: mine`, or a list of them.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use crate::run_format::ABI;

/// As a user names subjects on the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subjects(Vec<String>);

impl Subjects {
    /// Whether the subject of a run is one of them, or there are none. A library is the same in
    /// each folder, and a name without an ABI means each.
    #[must_use]
    pub fn include(&self, argument: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|one| is_same(one, argument))
    }

    /// As a message names them.
    #[must_use]
    pub fn words(&self) -> String {
        self.0.join(" or ")
    }
}

fn is_same(meant: &str, argument: &str) -> bool {
    let (own, own_abi) = parts(meant);
    let (name, abi) = parts(argument);
    own == name && own_abi.is_none_or(|own| abi == Some(own))
}

/// The file name of a library, or all of another name, and the ABI.
fn parts(subject: &str) -> (&str, Option<&str>) {
    let (name, abi) = match subject.split_once(ABI) {
        Some((name, abi)) => (name, Some(abi.trim())),
        None => (subject, None),
    };
    (name.rsplit('/').next().unwrap_or(name).trim(), abi)
}

impl<'de> Deserialize<'de> for Subjects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrSeveral)
    }
}

struct OneOrSeveral;

impl<'de> Visitor<'de> for OneOrSeveral {
    type Value = Subjects;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a subject, or a list of subjects")
    }

    fn visit_str<E: Error>(self, one: &str) -> Result<Subjects, E> {
        Ok(Subjects(vec![one.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Subjects, A::Error> {
        let several = Vec::deserialize(SeqAccessDeserializer::new(items))?;
        if several.is_empty() {
            return Err(A::Error::custom("name a subject, or leave `subject` out"));
        }
        Ok(Subjects(several))
    }
}
