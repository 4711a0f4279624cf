//! The registry of mutants: subjects that are built to break named requirements.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::built_subject::{self, BuiltSubject, Flavor};
use crate::catalogue::Catalogue;
use crate::side::Side;
use crate::yaml::{Document, Refusal};

/// The registry's path from the repository root.
const FILE: &str = "conformance/mutants/mutants.yaml";

/// The Python mutants as `(path below conformance/mutants/python, text)`, so that any interpreter
/// can be handed them.
pub const PYTHON: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/mutants.rs"));

/// One entry of the registry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    pub name: String,
    pub flavor: Flavor,
    /// A symbol of the library of mutants, or `module:attribute` below
    /// `conformance/mutants/python`.
    pub subject: String,
    /// The ids of the requirements that it breaks. The suite must find a violation of each.
    pub breaks: BTreeSet<String>,
    /// Whether only the fault sweep finds it.
    #[serde(default)]
    pub faults: bool,
    /// The cases that find it, where a run of mutants would come to them late. They are run first.
    #[serde(default)]
    pub found_in: Vec<String>,
    /// What a report on it names first, if that is none of `breaks`.
    #[serde(default)]
    pub reported_as: Option<ReportedAs>,
    /// What it does wrong.
    pub about: String,
}

/// A requirement that states the defect of a mutant better than those that the mutant exists for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportedAs {
    pub requirement: String,
    /// Why this is right: the end of a sentence that begins with "because".
    pub because: String,
}

impl Mutant {
    /// Whether a report on this mutant may name the requirement as the likeliest cause.
    #[must_use]
    pub fn may_be_reported_as(&self, id: &str) -> bool {
        match &self.reported_as {
            Some(reported_as) => reported_as.requirement == id,
            None => self.breaks.contains(id),
        }
    }
}

impl BuiltSubject for Mutant {
    const NOUN: &'static str = "mutant";
    const IDS: &'static str = "breaks";

    fn name(&self) -> &str {
        &self.name
    }
    fn flavor(&self) -> Flavor {
        self.flavor
    }
    fn subject(&self) -> &str {
        &self.subject
    }
    fn ids(&self) -> &BTreeSet<String> {
        &self.breaks
    }
    fn side(&self, catalogue: &Catalogue) -> Option<Side> {
        self.breaks.iter().find_map(|id| catalogue.get(id)?.side())
    }
}

/// The mutants that this program was built with.
///
/// # Errors
/// The first place where the registry is not accepted.
pub fn embedded() -> Result<Vec<Mutant>, Box<Refusal>> {
    read(&Document { noun: "registry", file: FILE, text: include_str!("../embedded/mutants.yaml") })
}

/// Reads a registry.
///
/// # Errors
/// The first place where the text is not accepted.
pub fn read(document: &Document<'_>) -> Result<Vec<Mutant>, Box<Refusal>> {
    built_subject::read(document)
}

#[cfg(test)]
mod tests {
    use super::{Document, embedded, read};

    const LEAKY: &str = "- {name: leaky, flavor: python, subject: \"m:C\", \
        breaks: [EMM-LEDGER-01], about: leaks}\n";

    #[test]
    fn the_registry_is_accepted() {
        assert_eq!(embedded().map(|mutants| mutants.is_empty()), Ok(false));
    }

    #[test]
    fn a_registry_that_contradicts_itself_is_refused_with_its_line() {
        let native = LEAKY.replace("leaky", "stale").replace("python", "native");
        let broken = [
            (LEAKY.repeat(2), 2, "another mutant above has the name `leaky`"),
            (
                LEAKY.replace("EMM-LEDGER-01", ""),
                1,
                "`leaky` names nothing of the catalogue in `breaks`",
            ),
            (
                format!("{LEAKY}{native}"),
                2,
                "`stale` is native: move it before the first Python mutant",
            ),
            (LEAKY.replace("about", "abuot"), 1, "unknown field `abuot`"),
        ];
        for (text, line, message) in broken {
            let refusal = read(&Document { noun: "registry", file: "mutants.yaml", text: &text })
                .expect_err("each text is broken in one place");
            assert_eq!((refusal.line, refusal.message.as_str()), (line, message));
        }
    }
}
