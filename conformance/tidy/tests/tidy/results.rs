//! The page `docs/results.md`. It is made of the summaries in `docs/results`, which
//! `cargo xtask results` writes, one for each library and side.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use allocert_requirements::Level;
use allocert_suite::Side;
use allocert_suite::report::requirement_state::State;
use allocert_suite::report::summary::{self, Summary};

use crate::generated;
use crate::workspace::root;

const HEAD: &str = "\
# What released libraries violate

`cargo xtask results` certifies these libraries on the software driver, each with its expectation
file in `fixtures/expectations` if it has one, and writes this page from the run files. The version
is the one that Python or Debian names. [gpu/README.md](gpu/README.md) has the results on a GPU,
and [matrix.md](matrix.md) says which libraries exchange arrays.

`numpy_allocator:default_handler` is NumPy's own handler. `rmm_standin` is RMM's own plugin with a
buffer class that needs no CUDA runtime, which `runners/python/tests/standin/README.md` describes.

The tables of requirements have a row for each requirement that a library violates, and the number
of cases that show it:
";

/// A run, and what its library is called: `numba-cuda 0.30.4`.
pub(crate) struct Known {
    pub(crate) library: String,
    pub(crate) summary: Summary,
}

/// With `ALLOCERT_BLESS=1` the page is written instead of compared.
#[test]
fn the_page_shows_the_results() {
    let path = root().join("docs/results.md");
    let page = page(&known());
    assert!(
        generated::stale([(path, page)]).is_empty(),
        "docs/results.md is not what docs/results say; write it with \
         `ALLOCERT_BLESS=1 cargo test -p allocert-tidy results`"
    );
}

/// A result that nobody wants on the page: a run that came to no end, or to a surprise.
#[test]
fn every_result_is_as_expected() {
    let known = known();
    assert!(known.len() >= 20, "the results are gone");
    for Known { library, summary } in &known {
        let side = &summary.side;
        assert_eq!(summary.format, summary::FORMAT, "{side} of {library}");
        assert_eq!((summary.exit, &summary.selection), (0, &None), "{side} of {library}");
        assert!(summary.day.is_some(), "{side} of {library}");
    }
    let sides: BTreeSet<&str> = known.iter().map(|one| one.summary.side.as_str()).collect();
    assert_eq!(sides.len(), Side::all().count(), "{sides:?}");
}

/// In the order of their files.
pub(crate) fn known() -> Vec<Known> {
    let folder = root().join("docs/results");
    let entries = fs::read_dir(folder).expect("the results are there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> Known {
    let text = fs::read_to_string(&path).expect("a result is text");
    let summary: Summary = serde_json::from_str(&text).expect("a summary");
    let name = path.file_stem().expect("a name").to_string_lossy();
    let name = name.strip_prefix(&format!("{}-", summary.side)).expect("begins with its side");
    Known { library: library(name), summary }
}

/// `cuda-core-1.2.2-device` as `cuda-core 1.2.2 (device)`.
fn library(name: &str) -> String {
    let version = name
        .match_indices('-')
        .map(|(at, _)| at)
        .find(|at| name[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    let at = version.expect("a version");
    let (name, version) = (&name[..at], &name[at + 1..]);
    match version.split_once("_") {
        Some((version, part)) => format!("{name} {version} ({part})"),
        None => format!("{name} {version}"),
    }
}

fn page(known: &[Known]) -> String {
    let mut lines: Vec<String> = vec![HEAD.to_owned()];
    for state in [State::Violated, State::Known, State::Warned, State::Fulfilled, State::NoResult] {
        lines.push(format!("- {} {}: {}", state.letter(), state.words(), state.meaning()));
    }
    for side in Side::all() {
        let here: Vec<&Known> =
            known.iter().filter(|one| one.summary.side == side.name()).collect();
        lines.extend([String::new(), format!("## {}", side.name()), String::new()]);
        lines.extend(runs(&here));
        lines.extend(requirements(&here));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn runs(known: &[&Known]) -> Vec<String> {
    let mut lines = vec![
        "| library | subject | beside | cases that ran | requirements violated (MUST) | known | \
         warnings | cases not observed | day | suite |"
            .to_owned(),
        "|---|---|---|---:|---:|---:|---:|---:|---|---|".to_owned(),
    ];
    lines.extend(known.iter().map(|known| run(known)));
    lines
}

fn run(Known { library, summary }: &Known) -> String {
    let all: u64 = summary.cases.values().sum();
    let count = |name: &str| summary.cases.get(name).copied().unwrap_or_default();
    let ran = all - count("not-applicable") - count("not-observed");
    let swept: u64 = summary.swept.values().sum();
    let sweep = if swept == 0 { String::new() } else { format!(", and {swept} with a fault") };
    let of = |state: State| summary.findings.values().filter(|one| one.state == state).count();
    let known = |level: fn(&Level) -> bool| {
        let listed = summary.findings.values().filter(|one| one.state == State::Known);
        listed.filter(|one| level(&one.level)).count()
    };
    let (must, other) =
        (known(|level| *level == Level::Must), known(|level| *level != Level::Must));
    format!(
        "| {library} | `{}`{} | {} | {ran} of {all}{sweep} | {} | {must} of MUST, {other} others | \
         {} | {} | {} | `{}` |",
        summary.subject,
        summary.profile.as_deref().map(|name| format!(", profile `{name}`")).unwrap_or_default(),
        beside(summary),
        of(State::Violated),
        of(State::Warned),
        count("not-observed"),
        summary.day.as_deref().unwrap_or("?"),
        summary.suite,
    )
}

fn beside(summary: &Summary) -> String {
    let versions = summary.versions.iter().map(|(name, version)| format!("{name} {version}"));
    versions.collect::<Vec<_>>().join(", ")
}

/// The requirements that a library of this side violates.
fn requirements(known: &[&Known]) -> Vec<String> {
    let violated: BTreeMap<&str, Level> = known
        .iter()
        .flat_map(|one| &one.summary.findings)
        .map(|(id, one)| (id.as_str(), one.level))
        .collect();
    if violated.is_empty() {
        return vec![String::new(), "None of them violates a requirement.".to_owned()];
    }
    let clear = known.iter().filter(|one| one.summary.findings.is_empty());
    let clear: Vec<&str> = clear.map(|one| one.library.as_str()).collect();
    let shown: Vec<&&Known> = known.iter().filter(|one| !one.summary.findings.is_empty()).collect();
    let mut lines = vec![String::new()];
    if !clear.is_empty() {
        lines.extend([format!("Without a finding: {}.", clear.join(", ")), String::new()]);
    }
    let heads: Vec<&str> = shown.iter().map(|one| one.library.as_str()).collect();
    lines.push(format!("| requirement | level | {} |", heads.join(" | ")));
    lines.push(format!("|---|---|{}", "---|".repeat(shown.len())));
    for (id, level) in violated {
        let cells: Vec<String> = shown.iter().map(|known| cell(&known.summary, id)).collect();
        lines.push(format!("| {id} | {level} | {} |", cells.join(" | ")));
    }
    lines
}

fn cell(summary: &Summary, id: &str) -> String {
    if let Some(findings) = summary.findings.get(id) {
        return format!("{} {}", findings.state.letter(), findings.cases);
    }
    let mut others = summary.others.iter();
    let state = others.find(|(_, ids)| ids.iter().any(|one| one == id)).map(|(state, _)| *state);
    state.unwrap_or(State::Untested).letter().to_owned()
}
