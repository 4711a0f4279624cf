//! No line is longer than 100 columns.
//!
//! Looked at are all files that git tracks and that end in one of [`ENDINGS`]. A line may be longer
//! where breaking it would change what it is:
//!
//! - a row of a Markdown table, and what stands in a fenced block of Markdown;
//! - a line with a URL that fits without the URL.

use std::fs;
use std::process::Command;

use crate::workspace;

const COLUMNS: usize = 100;
const ENDINGS: [&str; 10] = ["rs", "py", "md", "yaml", "yml", "toml", "sh", "h", "c", "cpp"];

#[test]
fn no_line_is_longer_than_100_columns() {
    let mut long = Vec::new();
    for file in tracked() {
        let Ok(text) = fs::read_to_string(workspace::root().join(&file)) else {
            continue; // removed, and not committed yet
        };
        let numbers = long_lines(&file, &text);
        long.extend(numbers.iter().map(|number| format!("{file}:{number}")));
    }
    assert!(long.is_empty(), "longer than {COLUMNS} columns: {long:#?}");
}

fn tracked() -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(workspace::root())
        .output()
        .expect("git runs: this test reads the list of tracked files");
    assert!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout).expect("our file names are text");
    names.split_terminator('\0').filter(|name| ends_well(name)).map(str::to_owned).collect()
}

fn ends_well(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// The numbers of the lines that are too long, from 1.
fn long_lines(file: &str, text: &str) -> Vec<usize> {
    let markdown = file.ends_with(".md");
    let mut fenced = false;
    let mut numbers = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let fence = markdown && line.trim_start().starts_with("```");
        fenced ^= fence;
        let kept = markdown && (fenced || fence || line.trim_start().starts_with('|'));
        if !kept && width(line) > COLUMNS && width(line) - url_width(line) > COLUMNS {
            numbers.push(number);
        }
    }
    numbers
}

fn url_width(line: &str) -> usize {
    line.split_whitespace().filter(|word| word.contains("://")).map(width).max().unwrap_or(0)
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[test]
fn tables_blocks_and_urls_may_be_long() {
    let long = "x".repeat(101);
    let url = format!("see https://example.org/{long} for more");
    let text = format!("{long}\n| {long} |\n```\n{long}\n```\n{url}\n{long}\n");
    assert_eq!(long_lines("a.md", &text), [1, 7]);
    assert_eq!(long_lines("a.rs", &text), [1, 2, 4, 7]);
}
