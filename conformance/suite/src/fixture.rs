//! Reads fixture files and plans their cases. If a file has anything that the format does not
//! allow, nothing runs.

use std::collections::BTreeSet;

use allocert_requirements::yaml::Document;
use allocert_requirements::{Catalogue, Refusal, RefusalCode};

use crate::axes::permutations;
use crate::bindings;
use crate::fixture_format::Case;
use crate::plan::PlannedCase;
use crate::setup_and_teardown::expand;
use crate::validate;

/// Reads fixture files given as `(path, text)` and plans all their cases, in the order of the
/// files.
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

/// Stands in the comment of a fixture that a program wrote, before the version that wrote it.
const WRITTEN_BY: &str = "# Written by allocert ";
/// Stands between that version and the arguments that make the fixture again.
const MADE_AGAIN: &str = "; made again by: ";

/// The line of comment that says which version wrote a fixture, and by which command it is made
/// again.
#[must_use]
pub fn origin(version: &str, command: &str) -> String {
    format!("{WRITTEN_BY}{version}{MADE_AGAIN}{command}\n")
}

/// Reads one fixture; `path` is relative to `fixtures/` and decides the case's name.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn plan_file(
    path: &str,
    text: &str,
    catalogue: &Catalogue,
) -> Result<Vec<PlannedCase>, Box<Refusal>> {
    read(path, text, catalogue).map_err(|refusal| make_again(refusal, text))
}

/// Adds to the refusal of a generated fixture the command that makes it again: the file may have
/// the format of another version, and editing it by hand is the wrong repair.
fn make_again(mut refusal: Box<Refusal>, text: &str) -> Box<Refusal> {
    let comment = text.lines().take_while(|line| line.starts_with('#'));
    let found = comment
        .filter_map(|line| line.strip_prefix(WRITTEN_BY))
        .find_map(|line| line.split_once(MADE_AGAIN));
    if let Some((version, command)) = found {
        let hint = format!("written by allocert {version}, and made again by `{command}`");
        refusal.help = Some(refusal.help.map_or(hint.clone(), |help| format!("{help} ({hint})")));
    }
    refusal
}

fn read(path: &str, text: &str, catalogue: &Catalogue) -> Result<Vec<PlannedCase>, Box<Refusal>> {
    let document = Document { noun: "fixture", file: path, text };
    if !text.starts_with('#') {
        let message = "the first line must be a comment that says why this case exists";
        return Err(document.refuse(RefusalCode::MissingComment, 1, 1, message));
    }
    let mut ids = BTreeSet::new();
    let mut cases = Vec::new();
    for permutation in permutations(&document)? {
        let document = Document { text: &permutation.text, ..document };
        let case = Case::read(&document)?;
        validate::check(&case, &document, catalogue)?;
        bindings::check(&case, &document)?;
        let planned = expand(case, &document, &permutation.suffix);
        if !ids.insert(planned.id.clone()) {
            let message = format!("two permutations are both called `{}`", planned.id);
            return Err(document.refuse_word(RefusalCode::DuplicateName, 1, "axes", message));
        }
        cases.push(planned);
    }
    Ok(cases)
}
