//! docs/commands.md names the version of each document that programs read, as the source has it.

use std::fs;

use allocert_suite::behaviour::difference_report;
use allocert_suite::report::{json, summary};
use allocert_suite::{certificate, run_format};

use crate::workspace::root;

#[test]
fn the_page_of_commands_has_the_version_of_each_format() {
    let page = fs::read_to_string(root().join("docs/commands.md")).expect("it is there");
    let (_, section) = page.split_once("## Versions of formats").expect("the section");
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let formats = [
        ("run file, in its first line", run_format::FORMAT),
        ("`certificate.json` of a certificate", certificate::FORMAT),
        ("`allocert report --format json`", json::FORMAT),
        ("`allocert report --format summary`", summary::FORMAT),
        ("`allocert diff --format json`", difference_report::FORMAT),
    ];
    let expected: Vec<String> =
        formats.iter().map(|(document, format)| format!("| {document} | {format} |")).collect();
    assert_eq!(rows, expected);
}
