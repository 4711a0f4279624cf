//! The registry of variants: subjects that use named freedoms, and that no case may fail.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::built_subject::{self, BuiltSubject, Flavor};
use crate::catalogue::Catalogue;
use crate::side::Side;
use crate::yaml::{Document, Refusal};

/// The registry's path from the repository root.
const FILE: &str = "conformance/variants/variants.yaml";

/// The Python variants as `(path below conformance/variants/python, text)`.
pub const PYTHON: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/variants.rs"));

/// One entry of the registry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    pub name: String,
    pub flavor: Flavor,
    /// A symbol of the library of variants, or `module:attribute` below
    /// `conformance/variants/python`.
    pub subject: String,
    /// The ids of the freedoms that it uses.
    pub uses: BTreeSet<String>,
    /// The profile that it is held to, where that is not the default one.
    #[serde(default)]
    pub profile: Option<String>,
    /// What it does differently from the reference.
    pub about: String,
}

impl BuiltSubject for Variant {
    const NOUN: &'static str = "variant";
    const IDS: &'static str = "uses";

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
        &self.uses
    }
    fn side(&self, catalogue: &Catalogue) -> Option<Side> {
        self.uses.iter().find_map(|id| catalogue.freedom(id)?.side())
    }
    fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }
}

/// The variants that this program was built with.
///
/// # Errors
/// The first place where the registry is not accepted.
pub fn embedded() -> Result<Vec<Variant>, Box<Refusal>> {
    read(&Document {
        noun: "registry",
        file: FILE,
        text: include_str!("../embedded/variants.yaml"),
    })
}

/// Reads a registry.
///
/// # Errors
/// The first place where the text is not accepted.
pub fn read(document: &Document<'_>) -> Result<Vec<Variant>, Box<Refusal>> {
    built_subject::read(document)
}

#[cfg(test)]
mod tests {
    use super::{Document, embedded, read};

    #[test]
    fn the_registry_is_accepted() {
        assert_eq!(embedded().map(|variants| variants.is_empty()), Ok(false));
    }

    #[test]
    fn a_variant_that_uses_no_freedom_is_refused() {
        let text = "- {name: v, flavor: python, subject: \"m:C\", uses: [], about: differs}\n";
        let refusal = read(&Document { noun: "registry", file: "variants.yaml", text })
            .expect_err("it uses nothing");
        assert_eq!(refusal.message, "`v` names nothing of the catalogue in `uses`");
    }
}
