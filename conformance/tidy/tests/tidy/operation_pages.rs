//! The pages `docs/fixtures/<side>.md`, and the table of facts that the suite reads fixtures with.
//! They are generated from the operations of each side, so that no operation, no field and no fact
//! is missing there.

mod declarations;
mod fact_lists;
mod fact_table;
mod markdown;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::generated;
use crate::workspace::root;
use declarations::Declarations;
use fact_lists::FactsPage;

/// Pages of the same folder that are written by hand.
const WRITTEN_BY_HAND: [&str; 1] = ["facts.md"];

/// With `ALLOCERT_BLESS=1` the pages are written instead of compared.
#[test]
fn the_page_of_each_side_lists_its_operations() {
    let folder = root().join("docs/fixtures");
    let page = |side: PathBuf| {
        let page = markdown::page(&side_name(&side), &Declarations::read(&sources(&side)));
        (folder.join(page_name(&side)), page)
    };
    let stale = generated::stale(sides().into_iter().map(page));
    assert!(
        stale.is_empty(),
        "{stale:#?} differ from the operations; write them with \
         `ALLOCERT_BLESS=1 cargo test -p allocert-tidy operation_pages`"
    );
}

/// The same for the table of facts.
#[test]
fn the_suite_knows_the_facts_of_each_operation() {
    let page = facts_page();
    let sides: Vec<(String, Declarations)> =
        sides().iter().map(|side| (side_name(side), Declarations::read(&sources(side)))).collect();
    let table = root().join("conformance/suite/src/fact_names/table.rs");
    let stale = generated::stale([(table, fact_table::source(&sides, &page))]);
    assert!(
        stale.is_empty(),
        "{stale:#?} differs from the doc comments of the operations; write it with \
         `ALLOCERT_BLESS=1 cargo test -p allocert-tidy operation_pages`"
    );
}

#[test]
fn the_page_of_facts_says_what_calls_have() {
    fact_table::compare_with_record(&facts_page());
}

#[test]
fn every_page_belongs_to_a_side() {
    let pages = sides().iter().map(|side| page_name(side)).collect::<BTreeSet<String>>();
    for entry in fs::read_dir(root().join("docs/fixtures")).expect("the pages are there") {
        let name = entry.expect("the folder can be read").file_name();
        let name = name.to_string_lossy().into_owned();
        assert!(
            pages.contains(&name) || WRITTEN_BY_HAND.contains(&name.as_str()),
            "docs/fixtures/{name} is the page of no side"
        );
    }
}

/// The pages do not explain these fields: the format page does, once for all operations.
#[test]
fn the_format_page_explains_the_common_fields() {
    let page = fs::read_to_string(root().join("fixtures/README.md")).expect("the page is there");
    let table = page.split("## Operations").nth(1).expect("the page has a section on operations");
    for field in markdown::COMMON {
        assert!(table.contains(&format!("`{field}`")), "fixtures/README.md explains no {field}");
    }
}

/// The folders that have operations.
fn sides() -> Vec<PathBuf> {
    let entries = fs::read_dir(interfaces()).expect("the suite has interfaces");
    let mut sides: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|folder| folder.join("operation.rs").exists())
        .collect();
    sides.sort();
    assert!(sides.len() >= 4, "the folders of the sides are gone");
    sides
}

fn interfaces() -> PathBuf {
    root().join("conformance/suite/src/interface")
}

/// The files that declare the operations of a side and the types of their fields.
fn sources(side: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in [interfaces(), interfaces().join("shared"), side.to_path_buf()] {
        let entries = fs::read_dir(folder).expect("a side has files");
        files.extend(entries.map(|entry| entry.expect("the folder can be read").path()));
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    files
}

fn facts_page() -> FactsPage {
    let page = fs::read_to_string(root().join("docs/fixtures/facts.md"));
    FactsPage::read(&page.expect("the page is there"))
}

fn side_name(side: &Path) -> String {
    let name = side.file_name().expect("a folder has a name");
    name.to_string_lossy().replace('_', "-")
}

fn page_name(side: &Path) -> String {
    format!("{}.md", side_name(side))
}
