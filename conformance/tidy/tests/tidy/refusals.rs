//! The page of refusal codes, and the codes that refused fixtures show.

use std::collections::BTreeSet;
use std::fs;

use allocert_requirements::RefusalCode;

use crate::{generated, workspace};

const HEAD: &str = "\
# Refusals

allocert ends with exit code 2 if something that you gave it is wrong: the command line, a file, the
subject or the interpreter. The message then has a code, such as `error[unknown-case]`, or
`fixture broken[unknown-word]` where a line of a file is shown. A code stays the same in later
versions. `allocert explain CODE` prints one row of this table.

| code | meaning | what to do |
|---|---|---|
";

/// With `ALLOCERT_BLESS=1` the page is written instead of compared.
#[test]
fn the_page_lists_every_code() {
    let rows = RefusalCode::ALL
        .iter()
        .map(|code| format!("| `{code}` | {} | {} |\n", code.meaning(), code.remedy()));
    let page = HEAD.to_owned() + &rows.collect::<String>();
    let path = workspace::root().join("docs/refusals.md");
    assert!(
        generated::stale([(path, page)]).is_empty(),
        "docs/refusals.md is not what the codes say; write it with \
         `ALLOCERT_BLESS=1 cargo test -p allocert-tidy refusals`"
    );
}

#[test]
fn no_two_codes_are_the_same_word() {
    let words: BTreeSet<&str> = RefusalCode::ALL.iter().map(|code| code.code()).collect();
    assert_eq!(words.len(), RefusalCode::ALL.len());
    let kebab = |word: &&&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    assert_eq!(words.iter().filter(kebab).count(), words.len(), "{words:?}");
    for code in RefusalCode::ALL {
        assert_eq!(RefusalCode::by_name(code.code()), Some(*code));
    }
}

#[test]
fn every_refused_fixture_shows_its_code() {
    let messages = allocert_fixtures::refused().iter().filter(|file| file.path.ends_with(".txt"));
    assert!(messages.clone().count() >= 10, "the refused fixtures are gone");
    let code = |text: &str| {
        let rest = text.strip_prefix("fixture broken[")?;
        RefusalCode::by_name(rest.split_once("]: ")?.0)
    };
    let without: Vec<&str> =
        messages.filter(|file| code(file.text).is_none()).map(|file| file.path).collect();
    assert!(without.is_empty(), "no code of the table: {without:?}");
}

/// A code that nothing gives is a promise that nobody keeps.
#[test]
fn every_code_is_given_somewhere() {
    let sources: String = ["conformance/requirements/src", "conformance/suite/src", "runners"]
        .iter()
        .flat_map(|folder| crate::sources::rust_files(&workspace::root().join(folder)))
        .filter(|path| {
            !path.ends_with("refusal_code.rs") && path.iter().all(|part| part != "tests")
        })
        .map(|path| fs::read_to_string(path).expect("a source"))
        .collect();
    let given = |code: &&RefusalCode| !sources.contains(&format!("RefusalCode::{code:?}"));
    let unused: Vec<&RefusalCode> = RefusalCode::ALL.iter().filter(given).collect();
    assert!(unused.is_empty(), "no refusal has these codes: {unused:?}");
}
