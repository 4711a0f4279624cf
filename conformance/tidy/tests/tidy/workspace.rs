//! The crates of this repository, from `cargo metadata`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// One crate of ours: where it lies and which of ours it depends on, dev- and build-dependencies
/// included.
pub(crate) struct Member {
    pub(crate) folder: PathBuf,
    pub(crate) knows: Vec<String>,
    /// Those of [`Self::knows`] that its code knows, not its tests alone.
    pub(crate) builds_on: Vec<String>,
    pub(crate) targets: Vec<Target>,
}

/// What cargo makes of a crate: a library, a program, a test or a benchmark.
pub(crate) struct Target {
    pub(crate) root_file: PathBuf,
    /// Whether `cargo test` builds the unit tests of its sources.
    pub(crate) is_tested: bool,
    /// Whether `cargo test` looks for examples in its documentation.
    pub(crate) is_doctested: bool,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("conformance/tidy lies two below the repository root")
        .to_path_buf()
}

/// Every crate of the workspace by name.
pub(crate) fn members() -> BTreeMap<String, Member> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs: it runs this test");
    let metadata: Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    list(&metadata, "packages").iter().map(member).collect()
}

fn member(package: &Value) -> (String, Member) {
    let manifest = Path::new(text(package, "manifest_path"));
    let ours = || {
        let all = list(package, "dependencies").iter();
        all.filter(|dependency| !dependency["path"].is_null()) // ours have a path
    };
    let name = |dependency: &Value| text(dependency, "name").to_owned();
    let knows = ours().map(name).collect();
    let builds_on = ours().filter(|dependency| dependency["kind"] != "dev").map(name).collect();
    let folder = manifest.parent().expect("a manifest lies in a folder").to_path_buf();
    let targets = list(package, "targets").iter().map(target).collect();
    (text(package, "name").to_owned(), Member { folder, knows, builds_on, targets })
}

fn target(target: &Value) -> Target {
    Target {
        root_file: text(target, "src_path").into(),
        is_tested: target["test"] == true,
        is_doctested: target["doctest"] == true,
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}
