//! The pages of `docs/topics` name requirements, freedoms and cases that exist.

use std::collections::BTreeSet;
use std::fs;

use allocert_suite::{Catalogue, Interface, Side};

use crate::{embedded, workspace};

const FOLDER: &str = "docs/topics";

#[test]
fn every_name_in_a_topic_exists() {
    let catalogue = embedded::catalogue();
    let known = known(&catalogue);
    let mut unknown = Vec::new();
    for (page, text) in pages() {
        let names = names(&text);
        let cases = names.iter().filter(|name| name.contains('/')).count();
        assert!(cases > 0 && cases < names.len(), "{page} names no case or no requirement");
        let exists = |name: &str| match name.strip_suffix('*') {
            Some(beginning) => known.iter().any(|one| one.starts_with(beginning)),
            None => known.contains(name),
        };
        let strange = names.into_iter().filter(|name| !exists(name));
        unknown.extend(strange.map(|name| format!("{page}: {name}")));
    }
    assert!(unknown.is_empty(), "the catalogue and the fixtures have no {unknown:#?}");
}

/// The ids of requirements and freedoms, and the names of cases with and without axes.
fn known(catalogue: &Catalogue) -> BTreeSet<String> {
    let cases = embedded::cases(catalogue);
    let names = allocert_fixtures::files().iter().filter_map(|file| {
        Some(file.path.strip_prefix("cases/")?.strip_suffix(".yaml")?.to_owned())
    });
    let requirements = catalogue.iter().map(|requirement| requirement.id.clone());
    let freedoms =
        Side::all().flat_map(|side| catalogue.freedoms(side)).map(|freedom| freedom.id.clone());
    names.chain(cases.into_iter().map(|case| case.id)).chain(requirements).chain(freedoms).collect()
}

/// Each page with its path in the repository.
pub(crate) fn pages() -> Vec<(String, String)> {
    let entries = fs::read_dir(workspace::root().join(FOLDER)).expect("docs/topics is a folder");
    let pages: Vec<(String, String)> = entries
        .map(|entry| entry.expect("readable").path())
        .map(|path| {
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            (format!("{FOLDER}/{name}"), fs::read_to_string(&path).expect("a page is text"))
        })
        .collect();
    assert!(!pages.is_empty(), "{FOLDER} has no page");
    pages
}

/// What looks like an id or like the name of a case.
fn names(text: &str) -> BTreeSet<&str> {
    let part_of_name = |sign: char| sign.is_ascii_alphanumeric() || "/-_:.*".contains(sign);
    text.split(|sign| !part_of_name(sign))
        .map(|word| word.trim_end_matches(['.', ':']))
        .filter(|word| is_id(word) || is_case(word))
        .collect()
}

fn is_id(word: &str) -> bool {
    Interface::of_id(word).is_some() && word.ends_with(|sign: char| sign.is_ascii_digit())
}

fn is_case(word: &str) -> bool {
    word.contains('/') && Side::of_path(word).is_some()
}

#[test]
fn names_are_found_in_sentences_links_and_tables() {
    let text = "EMM-RESET-03: see `emm/reset/twice`.\n| CAI-X-99 | `cai-consumer/no/such` |\n\
                CAI-FREEDOM-11, `fixtures/cases`, [gpu](../gpu/rmm.txt), EMM-only";
    let found: Vec<&str> = names(text).into_iter().collect();
    let wanted =
        ["CAI-FREEDOM-11", "CAI-X-99", "EMM-RESET-03", "cai-consumer/no/such", "emm/reset/twice"];
    assert_eq!(found, wanted);
}
