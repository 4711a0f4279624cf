//! Fixture files to planned cases. Strict: what is not understood is refused, and then nothing runs.

use std::collections::BTreeSet;

use allocert_requirements::yaml::Document;
use allocert_requirements::{Catalogue, Refusal};

use crate::axes::permutations;
use crate::case::Case;
use crate::expand::expand;
use crate::names;
use crate::plan::PlannedCase;
use crate::sense;

/// Reads fixture files given as `(path, text)` and plans all their cases, in the order of the files.
///
/// # Errors
/// One refusal for each file that is not accepted.
pub fn plan<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
    catalogue: &Catalogue,
) -> Result<Vec<PlannedCase>, Vec<Refusal>> {
    let mut cases = Vec::new();
    let mut refusals = Vec::new();
    for (path, text) in files {
        match plan_file(path, text, catalogue) {
            Ok(planned) => cases.extend(planned),
            Err(refusal) => refusals.push(*refusal),
        }
    }
    if refusals.is_empty() { Ok(cases) } else { Err(refusals) }
}

/// Reads one fixture; `path` is relative to `fixtures/` and decides the case's name.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn plan_file(path: &str, text: &str, catalogue: &Catalogue) -> Result<Vec<PlannedCase>, Box<Refusal>> {
    let document = Document { noun: "fixture", file: path, text };
    if !text.starts_with('#') {
        let message = "the first line must be a comment that says why this case exists";
        return Err(document.refuse(1, 1, message));
    }
    let mut ids = BTreeSet::new();
    let mut cases = Vec::new();
    for permutation in permutations(&document)? {
        let document = Document { text: &permutation.text, ..document };
        let case: Case = document.read()?;
        sense::check(&case, &document, catalogue)?;
        names::check(&case, &document)?;
        let planned = expand(&case, &document, &permutation.suffix);
        if !ids.insert(planned.id.clone()) {
            let message = format!("two permutations are both called `{}`", planned.id);
            return Err(document.refuse_word(1, "axes", message));
        }
        cases.push(planned);
    }
    Ok(cases)
}
