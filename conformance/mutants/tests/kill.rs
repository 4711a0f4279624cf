//! The kill matrix: each native mutant of `mutants.yaml` against the requirements that it breaks. Python
//! mutants stand in the same registry and are run by the tests of the Python package.
//!
//! Needs the products of a whole build beside this test: `cargo xtask test` makes them first.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use allocert_requirements::Catalogue;
use allocert_requirements::yaml::Document;
use allocert_suite::plan::PlannedCase;
use allocert_suite::{fixture, run};
use serde::Deserialize;

/// Runs side by side: the whole suite has two cores to count on.
const JOBS: usize = 2;
/// Subjects that must be found violating whatever else is known of them.
const HOPELESS: [&str; 3] = ["does-nothing", "always-fails", "always-out-of-memory"];
/// What breaks in a call that every case makes is looked for here; the rest of the suite would say the same.
const EVERYWHERE: &str = "{emm/alloc,emm/close,emm/exit,emm/finalizer,emm/reset}";
/// A mutant that hangs costs a timeout for each case.
const HANGS: &str = "{emm/finalizer/runs-on-drop,emm/finalizer/once}";

/// What the suite does not say yet, by mutant and requirement. A line that is found must go.
const UNSEEN: &[(&str, &str)] = &[];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    flavor: Flavor,
    subject: String,
    breaks: BTreeSet<String>,
    #[serde(rename = "about")]
    _about: String,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Flavor {
    Native,
    Python,
}

/// What a run said: requirement to number of findings.
type Found = BTreeMap<String, usize>;

#[test]
fn every_native_mutant_is_found_out() {
    let plan = plan();
    let entries: Vec<Entry> = registry().into_iter().filter(|entry| entry.flavor == Flavor::Native).collect();
    let matrix = all(&entries, |entry| examine(&entry.subject, &filter(&plan, entry)));
    let mut wrong = Vec::new();
    for (entry, found) in entries.iter().zip(&matrix) {
        println!("{:24} {}", entry.name, row(entry, found));
        for requirement in &entry.breaks {
            let unseen = UNSEEN.contains(&(entry.name.as_str(), requirement.as_str()));
            match (found.contains_key(requirement), unseen) {
                (false, false) => wrong.push(format!("{} breaks {requirement}, and nobody noticed", entry.name)),
                (true, true) => {
                    wrong.push(format!("{} is found to break {requirement}: remove it from UNSEEN", entry.name))
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reference_under_the_mutants_conforms() {
    let found = examine("mutant_faithful", "emm");
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn hopeless_subjects_violate_much() {
    let entries: Vec<Entry> = registry().into_iter().filter(|entry| HOPELESS.contains(&entry.name.as_str())).collect();
    assert_eq!(entries.len(), HOPELESS.len());
    for (entry, found) in entries.iter().zip(all(&entries, |entry| examine(&entry.subject, "emm"))) {
        assert!(found.len() > 5, "{}: only {found:?}", entry.name);
    }
}

#[test]
fn the_registry_names_requirements_of_the_catalogue_and_is_sorted() {
    let catalogue = Catalogue::embedded().expect("the catalogue is read by its own tests");
    let entries = registry();
    for id in entries.iter().flat_map(|entry| &entry.breaks) {
        assert!(catalogue.get(id).is_some(), "mutants.yaml: no requirement {id}");
    }
    let names: BTreeSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names.len(), entries.len(), "mutants.yaml: a name is given twice");
    assert!(entries.is_sorted_by_key(|entry| entry.flavor == Flavor::Python), "native mutants come first");
}

fn registry() -> Vec<Entry> {
    let file = "conformance/mutants/mutants.yaml";
    let document = Document { noun: "registry", file, text: include_str!("../mutants.yaml") };
    document.read().unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn plan() -> Vec<PlannedCase> {
    let catalogue = Catalogue::embedded().expect("the catalogue is read by its own tests");
    let files = allocert_fixtures::files().iter().map(|file| (file.path, file.text));
    fixture::plan(files, &catalogue).expect("the fixtures are read by their own tests")
}

/// The cases that state what this mutant breaks; for what no case states, cases that make every call.
fn filter(plan: &[PlannedCase], entry: &Entry) -> String {
    if entry.breaks.contains("EMM-EXIT-02") {
        return HANGS.to_owned();
    }
    let mut names = BTreeSet::new();
    for requirement in &entry.breaks {
        let stating = plan.iter().filter(|case| case.requirements().any(|id| id == requirement));
        let files: BTreeSet<&str> = stating.map(|case| case.file.trim_start_matches("cases/")).collect();
        match files.is_empty() {
            true => return EVERYWHERE.to_owned(),
            false => names.extend(files.into_iter().map(|file| file.trim_end_matches(".yaml"))),
        }
    }
    format!("{{{}}}", names.into_iter().collect::<Vec<_>>().join(","))
}

/// Runs the cases on a mutant: what was found against it.
fn examine(symbol: &str, filter: &str) -> Found {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("run.jsonl");
    let subject = format!("{}:{symbol}", product("liballocert_mutants.so").display());
    let mut program = Command::new(product("allocert"));
    program.args(["run", "emm", &subject, "--filter", filter, "--timeout", "1", "--jobs", "1", "--out"]).arg(&out);
    let output = program.output().expect("the program was found above");
    let file = File::open(&out).unwrap_or_else(|error| {
        panic!("{symbol}: no run file ({error}), {}: {}", output.status, String::from_utf8_lossy(&output.stderr))
    });
    let run = run::read("run.jsonl", BufReader::new(file)).unwrap_or_else(|error| panic!("{symbol}: {error}"));
    let mut found = Found::new();
    for finding in run.cases.iter().flat_map(|judged| &judged.judgement.findings) {
        *found.entry(finding.requirement.clone()).or_default() += 1;
    }
    found
}

/// A file of the whole build, beside this test's own.
fn product(name: &str) -> PathBuf {
    let this = std::env::current_exe().expect("this test has a path");
    let folder = this.parent().and_then(Path::parent).expect("tests lie two folders below the products");
    let path = folder.join(name);
    assert!(path.exists(), "{} is missing: `cargo xtask test` builds it first", path.display());
    path
}

fn row(entry: &Entry, found: &Found) -> String {
    let mark = |id: &String| if entry.breaks.contains(id) { "*" } else { "" };
    let cells = found.iter().map(|(id, count)| format!("{}{}:{count}", mark(id), id.trim_start_matches("EMM-")));
    cells.collect::<Vec<_>>().join(" ")
}

/// Does `work` for all entries, [`JOBS`] at a time; the results in the order of the entries.
fn all<T: Send>(entries: &[Entry], work: impl Fn(&Entry) -> T + Sync) -> Vec<T> {
    let next = Mutex::new(0..entries.len());
    let take = || next.lock().ok()?.next();
    let mut done: Vec<(usize, T)> = thread::scope(|scope| {
        let worker = || std::iter::from_fn(take).map(|at| (at, work(&entries[at]))).collect::<Vec<_>>();
        let workers: Vec<_> = (0..JOBS).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("the message is above")).collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
