//! All requirements, read strictly and found by id, by operation or by always-on check.

use std::collections::BTreeMap;

use crate::requirement::Requirement;
use crate::side::{Interface, Side};
use crate::yaml::{Document, Refusal, Spanned, suggestion};

/// `(path below catalogue/, text)` of every catalogue file, in the order of their paths.
const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

/// Every requirement of every interface.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    requirements: BTreeMap<String, Requirement>,
    operations: BTreeMap<(Side, String), String>,
    checks: BTreeMap<(Side, String), String>,
}

impl Catalogue {
    /// The catalogue that this program was built with.
    ///
    /// # Errors
    /// One refusal for each file that is not accepted.
    pub fn embedded() -> Result<Self, Vec<Refusal>> {
        Self::from_files(EMBEDDED.iter().copied())
    }

    /// Reads catalogue files given as `(path, text)`.
    ///
    /// # Errors
    /// One refusal for each file that is not accepted.
    pub fn from_files<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Vec<Refusal>> {
        let mut catalogue = Self::default();
        let mut refusals = Vec::new();
        for (file, text) in files {
            let document = Document { noun: "catalogue", file, text };
            if let Err(refusal) = catalogue.add(&document) {
                refusals.push(*refusal);
            }
        }
        if refusals.is_empty() { Ok(catalogue) } else { Err(refusals) }
    }

    /// The requirement with this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Requirement> {
        self.requirements.get(id)
    }

    /// The requirement that an operation stands for in the cases of a side.
    #[must_use]
    pub fn by_operation(&self, side: Side, operation: &str) -> Option<&Requirement> {
        self.get(self.operations.get(&(side, operation.to_owned()))?)
    }

    /// The requirement whose id the findings of an always-on check carry. Without one, the check is not performed on that side.
    #[must_use]
    pub fn by_check(&self, side: Side, check: &str) -> Option<&Requirement> {
        self.get(self.checks.get(&(side, check.to_owned()))?)
    }

    /// All of them, ordered by id.
    pub fn iter(&self) -> impl Iterator<Item = &Requirement> {
        self.requirements.values()
    }

    /// "did you mean" for an id that is not here.
    #[must_use]
    pub fn suggestion(&self, id: &str) -> Option<String> {
        let known = self.requirements.keys().map(String::as_str);
        let close = crate::nearest::nearest(id, known)?;
        suggestion(id, [close])
    }

    fn add(&mut self, document: &Document<'_>) -> Result<(), Box<Refusal>> {
        for entry in document.read::<Vec<Spanned<Requirement>>>()? {
            let line = usize::try_from(entry.referenced.line()).unwrap_or(1);
            let mut requirement = entry.value;
            requirement.file = document.file.to_owned();
            requirement.line = line;
            self.insert(requirement).map_err(|(word, message)| document.refuse_word(line, &word, message))?;
        }
        Ok(())
    }

    /// The word at fault and why, when the entry contradicts itself or another.
    fn insert(&mut self, requirement: Requirement) -> Result<(), (String, String)> {
        let id = requirement.id.clone();
        let Some(interface) = Interface::of_id(&id) else {
            return Err((id.clone(), format!("`{id}` does not begin with the name of an interface")));
        };
        let Some(side) = requirement.side() else {
            let (name, role) = (interface.name(), requirement.role.name());
            return Err((id.clone(), format!("the interface {name} has no role `{role}`")));
        };
        if requirement.statement.trim().is_empty() {
            return Err((id.clone(), format!("{id} states nothing")));
        }
        if requirement.observed_by.is_empty() && requirement.excluded.is_none() {
            return Err((id.clone(), format!("{id} is observed by nothing and not excluded")));
        }
        claim(&mut self.operations, side, requirement.operation.as_deref(), &id)?;
        claim(&mut self.checks, side, requirement.check.as_deref(), &id)?;
        match self.requirements.insert(id.clone(), requirement) {
            None => Ok(()),
            Some(earlier) => {
                let message = format!("{id} is already defined in {}:{}", earlier.file, earlier.line);
                Err((id, message))
            }
        }
    }
}

/// Gives an operation or a check to one requirement, and to no second one.
fn claim(
    claims: &mut BTreeMap<(Side, String), String>,
    side: Side,
    name: Option<&str>,
    id: &str,
) -> Result<(), (String, String)> {
    let Some(name) = name else { return Ok(()) };
    match claims.insert((side, name.to_owned()), id.to_owned()) {
        None => Ok(()),
        Some(owner) => Err((name.to_owned(), format!("`{name}` already belongs to {owner}"))),
    }
}
