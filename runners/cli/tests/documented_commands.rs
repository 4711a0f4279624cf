//! The command lines of the documentation are accepted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pages that show command lines: README.md, CONTRIBUTING.md and those of docs.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/topics"] {
        let entries = fs::read_dir(root.join(folder)).expect("a folder of pages");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        pages.extend(paths.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    pages
}

/// The arguments of `$ allocert run emm ./lib.so   # a comment`, without those behind `--`, which
/// are another program's.
fn arguments(line: &str) -> Option<Vec<&str>> {
    let line = line.strip_prefix("$ allocert ")?;
    let words = line.split_whitespace();
    Some(words.take_while(|word| !["#", "--", "|", ">", "&&"].contains(word)).collect())
}

/// With `--help` at its end, a command line is read and nothing is done.
#[test]
fn each_documented_command_line_is_accepted() {
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for (number, arguments) in
            text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, arguments(line)?)))
        {
            let program = env!("CARGO_BIN_EXE_allocert");
            let output = Command::new(program).args(&arguments).arg("--help").output();
            let output = output.expect("the program was built");
            assert!(
                output.status.success(),
                "{}:{number}: {arguments:?}: {}",
                page.display(),
                String::from_utf8_lossy(&output.stderr)
            );
            count += 1;
        }
    }
    assert!(count > 30, "{count} command lines");
}
