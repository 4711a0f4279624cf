//! The table of contents of the book, docs/SUMMARY.md, has each page of `docs` once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::workspace::root;

#[test]
fn the_book_has_each_page_once() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("it is there");
    let mut times: BTreeMap<String, usize> = pages().into_iter().map(|page| (page, 0)).collect();
    let entries = summary.lines().filter_map(|line| line.trim_start().strip_prefix("- ["));
    for entry in entries {
        let (_, page) = entry.split_once("](").expect("an entry is a link");
        let page = page.strip_suffix(')').expect("an entry is only a link");
        *times.entry(page.to_owned()).or_default() += 1;
    }
    let wrong: Vec<_> = times.into_iter().filter(|(_, times)| *times != 1).collect();
    assert!(wrong.is_empty(), "docs/SUMMARY.md has these pages so many times: {wrong:?}");
}

/// The pages that git tracks, relative to `docs`.
fn pages() -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "*.md"])
        .current_dir(root().join("docs"))
        .output()
        .expect("git runs in a checkout");
    let files = String::from_utf8(output.stdout).expect("paths are text");
    let pages: Vec<String> = files.lines().map(str::to_owned).collect();
    assert!(pages.iter().any(|page| Path::new(page) == Path::new("tutorial.md")), "{pages:?}");
    pages.into_iter().filter(|page| page != "SUMMARY.md").collect()
}
