//! Every link and path in a Markdown file leads to a file that exists.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::workspace::root;

/// The folders of the repository. A path in code that begins with one must exist.
const FOLDERS: [&str; 6] =
    ["conformance/", "docs/", "fixtures/", "reference/", "runners/", "xtask/"];

/// Paths that are examples.
const EXAMPLES: [&str; 1] = ["arena"];

#[test]
fn every_link_and_path_in_markdown_leads_to_a_file() {
    let mut broken = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(root().join(&page)).expect("a tracked page can be read");
        let folder = Path::new(&page).parent().expect("a page lies in a folder");
        let links = links(&text).map(|link| folder.join(link));
        let paths = code(&text).filter(|word| is_path(word)).map(|word| Path::new(word).into());
        for path in links.chain(paths) {
            if !root().join(&path).exists() {
                broken.push(format!("{page}: {}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "these lead nowhere: {broken:#?}");
}

fn pages() -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "*.md"])
        .current_dir(root())
        .output()
        .expect("git runs in a checkout");
    let files = String::from_utf8(output.stdout).expect("paths are text");
    files.lines().map(str::to_owned).collect()
}

/// The targets of links to files, without the part after `#`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let inline = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let named = text
        .lines()
        .filter(|line| line.starts_with('['))
        .filter_map(|line| line.split_once("]: ").map(|(_, target)| target));
    inline
        .chain(named)
        .filter(|target| !target.contains("://"))
        .filter_map(|target| target.split('#').next())
        .filter(|target| !target.is_empty())
}

/// What stands between single backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn is_path(word: &str) -> bool {
    let ours = FOLDERS.iter().any(|folder| word.starts_with(folder));
    let whole = !word.contains(['<', '*', ' ', '{', '\n']);
    ours && whole && !EXAMPLES.iter().any(|example| word.split('/').any(|part| part == *example))
}
