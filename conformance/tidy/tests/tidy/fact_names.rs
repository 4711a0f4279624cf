//! The names of facts that fixtures may use are those that docs/fixtures lists.

use std::collections::BTreeSet;
use std::fs;

use allocert_suite::fact_names::FACT_NAMES;

use crate::workspace::root;

/// All pages, one after the other.
fn pages() -> String {
    let entries = fs::read_dir(root().join("docs/fixtures")).expect("a folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let pages = paths.iter().map(|path| fs::read_to_string(path).expect("a page") + "\n\n");
    pages.collect()
}

/// The words between backquotes.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_name_of_a_fact_is_documented_and_sorted() {
    let text = pages();
    let words = quoted(&text);
    let missing: Vec<_> = FACT_NAMES.iter().filter(|name| !words.contains(**name)).collect();
    assert!(missing.is_empty(), "not in docs/fixtures: {missing:?}");
    assert!(FACT_NAMES.is_sorted(), "sort the names");
}

/// The facts that an operation lists begin with `Facts:`; words in parentheses explain them.
#[test]
fn every_documented_fact_has_a_name() {
    let text = pages();
    let lists = text.split("\nFacts: ").skip(1).filter_map(|rest| rest.split("\n\n").next());
    let lists = lists.filter(|list| !list.starts_with("those of "));
    let lists: Vec<String> = lists.map(without_parentheses).collect();
    assert!(lists.len() > 40, "{} lists of facts", lists.len());
    // What follows the list itself tells when there are more, or what `with` looks at.
    let ends = [". ", "; ", ", as for"];
    let list = |text: &'_ str| ends.iter().fold(text.to_owned(), |text, end| first(&text, end));
    let lists: Vec<String> = lists.iter().map(|text| list(text)).collect();
    let names = lists.iter().flat_map(|list| quoted(list));
    let unknown: BTreeSet<&str> = names.filter(|name| !FACT_NAMES.contains(name)).collect();
    assert!(unknown.is_empty(), "not in FACT_NAMES: {unknown:?}");
}

fn first(text: &str, end: &str) -> String {
    text.split(end).next().unwrap_or_default().to_owned()
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_usize;
    let outside = |letter: &char| {
        depth = match letter {
            '(' => depth + 1,
            ')' => depth.saturating_sub(1),
            _ => depth,
        };
        depth == 0
    };
    text.chars().filter(outside).collect()
}
