//! `test` and `doctest` of a manifest say whether the sources hold tests. Cargo builds a test
//! program of a crate, and searches its documentation, even if there is nothing to find. That takes
//! time in each run of all tests.

use std::fs;
use std::path::Path;

use crate::sources::rust_files;
use crate::workspace::{Target, members};

/// What stands after the fence of a block that cargo does not take for a test.
const OTHER_LANGUAGES: [&str; 4] = ["c", "console", "text", "toml"];

#[test]
fn the_switches_of_a_manifest_agree_with_the_sources() {
    let mut wrong = Vec::new();
    for (name, member) in members() {
        let folder = member.folder.join("src");
        let text = text_of(&folder);
        // A library with no other crate type than `cdylib` has no doctests.
        let roots = [folder.join("lib.rs"), folder.join("main.rs")];
        for target in member.targets.iter().filter(|one| roots.contains(&one.root_file)) {
            wrong.extend(disagreements(target, &text).map(|what| format!("{name}: {what}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn text_of(folder: &Path) -> String {
    let files = rust_files(folder).into_iter();
    files.map(|file| fs::read_to_string(file).expect("found above")).collect()
}

fn disagreements(target: &Target, text: &str) -> impl Iterator<Item = &'static str> {
    let tests = (target.is_tested, has_unit_tests(text));
    let examples = (target.is_doctested, has_examples(text));
    let wrong = [
        (tests == (false, true)).then_some("remove `test = false`: the sources hold tests"),
        (tests == (true, false)).then_some("write `test = false`: the sources hold no tests"),
        (examples == (false, true)).then_some("remove `doctest = false`: there are examples"),
        (examples == (true, false)).then_some("write `doctest = false`: there are no examples"),
    ];
    wrong.into_iter().flatten()
}

fn has_unit_tests(text: &str) -> bool {
    text.lines().any(|line| ["#[test]", "#[rstest]"].contains(&line.trim()))
}

/// Whether a documentation comment holds a block that cargo runs or compiles.
fn has_examples(text: &str) -> bool {
    let documentation = |line: &str| {
        let line = line.trim_start();
        let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
        text.trim_start().strip_prefix("```").map(|word| word.trim().to_owned())
    };
    let fences: Vec<String> = text.lines().filter_map(documentation).collect();
    // Every second fence ends a block.
    fences.iter().step_by(2).any(|word| !OTHER_LANGUAGES.contains(&word.as_str()))
}

#[test]
fn what_cargo_would_run_is_found() {
    assert!(has_examples("//! ```toml\n//! a = 1\n//! ```\n\n/// ```no_run\n/// f();\n/// ```\n"));
    assert!(!has_examples("//! ```c\n//! f();\n//! ```\n// ```\n"));
    assert!(has_unit_tests("mod tests {\n    #[test]\n    fn one() {}\n}\n"));
    assert!(!has_unit_tests("/// Marked with `#[test]`.\nfn one() {}\n"));
}
