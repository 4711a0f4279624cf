//! What mutants and variants have in common: subjects of this project, listed in a registry.

use std::collections::{BTreeSet, HashSet};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::catalogue::Catalogue;
use crate::refusal_code::RefusalCode;
use crate::side::Side;
use crate::yaml::{Document, Refusal, Spanned};

/// What a subject of a registry is written in. Registries list native subjects first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flavor {
    Native,
    Python,
}

/// One entry of a registry.
pub trait BuiltSubject {
    /// What an entry is, for messages: `mutant`.
    const NOUN: &'static str;
    /// The field that [`BuiltSubject::ids`] reads.
    const IDS: &'static str;

    fn name(&self) -> &str;
    fn flavor(&self) -> Flavor;
    /// A symbol of the library of such subjects, or `module:attribute` of a Python file.
    fn subject(&self) -> &str;
    /// The entries of the catalogue that it exists for.
    fn ids(&self) -> &BTreeSet<String>;
    /// The side of the entries that it exists for. Tests check that all of them are of one side.
    fn side(&self, catalogue: &Catalogue) -> Option<Side>;

    /// The profile that it is judged by; nothing if no profile or the default one is.
    fn profile(&self) -> Option<&str> {
        None
    }

    /// The Python module that it is in. One worker can load all subjects of a module in turn.
    fn module(&self) -> &str {
        match self.flavor() {
            Flavor::Native => "",
            Flavor::Python => self.subject().split(':').next().unwrap_or_default(),
        }
    }
}

/// Reads a registry. Names are unique, each entry names an entry of the catalogue, native subjects
/// come first.
pub(crate) fn read<E>(document: &Document<'_>) -> Result<Vec<E>, Box<Refusal>>
where
    E: BuiltSubject + DeserializeOwned,
{
    let mut subjects: Vec<E> = Vec::new();
    let mut names = HashSet::new();
    let (noun, field) = (E::NOUN, E::IDS);
    for entry in document.read::<Vec<Spanned<E>>>()? {
        let line = entry.line();
        let subject = entry.value;
        let name = subject.name().to_owned();
        let refuse = |message: String| {
            Err(document.refuse_word(RefusalCode::InconsistentRegistry, line, &name, message))
        };
        if subject.ids().is_empty() {
            return refuse(format!("`{name}` names nothing of the catalogue in `{field}`"));
        }
        if subjects.last().is_some_and(|earlier| earlier.flavor() > subject.flavor()) {
            return refuse(format!("`{name}` is native: move it before the first Python {noun}"));
        }
        if !names.insert(name.clone()) {
            return refuse(format!("another {noun} above has the name `{name}`"));
        }
        subjects.push(subject);
    }
    Ok(subjects)
}
