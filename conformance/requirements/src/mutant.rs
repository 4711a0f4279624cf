//! The registry of mutants: subjects that are built to break named requirements.

use std::collections::{BTreeSet, HashSet};

use serde::Deserialize;

use crate::catalogue::Catalogue;
use crate::refusal_code::RefusalCode;
use crate::side::Side;
use crate::yaml::{Document, Refusal, Spanned};

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
    /// What it does wrong.
    pub about: String,
}

impl Mutant {
    /// The side whose requirements it breaks. Tests check that all of them are of one side.
    #[must_use]
    pub fn side(&self, catalogue: &Catalogue) -> Option<Side> {
        self.breaks.iter().find_map(|id| catalogue.get(id)?.side())
    }

    /// The Python module that it is in. One worker can load all mutants of a module in turn.
    #[must_use]
    pub fn module(&self) -> &str {
        match self.flavor {
            Flavor::Native => "",
            Flavor::Python => self.subject.split(':').next().unwrap_or_default(),
        }
    }
}

/// What a mutant is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flavor {
    Native,
    Python,
}

/// The mutants that this program was built with.
///
/// # Errors
/// The first place where the registry is not accepted.
pub fn embedded() -> Result<Vec<Mutant>, Box<Refusal>> {
    read(&Document {
        noun: "registry",
        file: FILE,
        text: include_str!("../../mutants/mutants.yaml"),
    })
}

/// Reads a registry. Names are unique, each mutant breaks a requirement, native mutants come first.
///
/// # Errors
/// The first place where the text is not accepted.
pub fn read(document: &Document<'_>) -> Result<Vec<Mutant>, Box<Refusal>> {
    let mut mutants: Vec<Mutant> = Vec::new();
    let mut names = HashSet::new();
    for entry in document.read::<Vec<Spanned<Mutant>>>()? {
        let line = entry.line();
        let mutant = entry.value;
        let refuse = |message: String| {
            Err(document.refuse_word(RefusalCode::InconsistentMutants, line, &mutant.name, message))
        };
        if mutant.breaks.is_empty() {
            return refuse(format!(
                "`{}` breaks no requirement: name one in `breaks`",
                mutant.name
            ));
        }
        if mutants.last().is_some_and(|earlier| earlier.flavor > mutant.flavor) {
            return refuse(format!(
                "`{}` is native: move it before the first Python mutant",
                mutant.name
            ));
        }
        if !names.insert(mutant.name.clone()) {
            return refuse(format!("another mutant above has the name `{}`", mutant.name));
        }
        mutants.push(mutant);
    }
    Ok(mutants)
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
                "`leaky` breaks no requirement: name one in `breaks`",
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
