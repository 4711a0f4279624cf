//! Freedoms: what a text leaves to the subject. No case may demand one choice of it.

use serde::Deserialize;

use crate::requirement::Source;
use crate::side::{Interface, Role, Side};
use crate::yaml::Document;

/// The name of the file, in the folder of each interface, that lists its freedoms.
const FILE: &str = "freedoms.yaml";

/// One choice that the texts leave open.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Freedom {
    /// `EMM-FREEDOM-03`: interface, group, number.
    pub id: String,
    /// Whose choice it is.
    pub role: Role,
    /// What the subject may do, in our own words.
    pub statement: String,
    /// The place that leaves the choice open.
    pub source: Source,
    /// The catalogue file, relative to `catalogue/`.
    #[serde(skip)]
    pub file: String,
    /// The line of the entry in that file, from 1.
    #[serde(skip)]
    pub line: usize,
}

impl Freedom {
    /// The side that has the choice; the loader has refused an entry without one.
    #[must_use]
    pub fn side(&self) -> Option<Side> {
        Side::of(Interface::of_id(&self.id)?, self.role)
    }

    /// The word at fault and why, when the entry contradicts itself.
    pub(crate) fn fault(&self) -> Option<(String, String)> {
        let Self { id, role, statement, .. } = self;
        let Some(interface) = Interface::of_id(id) else {
            return Some((
                id.clone(),
                format!("`{id}` does not begin with the name of an interface"),
            ));
        };
        if !id.contains("-FREEDOM-") {
            return Some((id.clone(), format!("`{id}` is no id of a freedom: EMM-FREEDOM-01")));
        }
        if self.side().is_none() {
            let message = format!("the interface {interface} has no role `{role}`");
            return Some((id.clone(), message));
        }
        statement.trim().is_empty().then(|| (id.clone(), format!("{id} states nothing")))
    }
}

/// Whether a catalogue file lists freedoms.
pub(crate) fn is_file_of(document: &Document<'_>) -> bool {
    document.file.rsplit('/').next() == Some(FILE)
}
