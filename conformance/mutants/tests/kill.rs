//! The kill matrix: `allocert mutants` on the whole registry, and what must not be found in it.
//!
//! Needs the products of a whole build beside this test, and in `ALLOCERT_PYTHON` an interpreter
//! with numba-cuda: `cargo xtask test` makes both.
#![forbid(unsafe_code)]

#[path = "kill/explored.rs"]
mod explored;

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;

use allocert_requirements::{Catalogue, Flavor, Mutant, Side, mutant};
use allocert_suite::run;

/// Subjects that must be found violating whatever else is known of them.
const HOPELESS: [&str; 3] = ["does-nothing", "always-fails", "always-out-of-memory"];

/// What a run said: requirement to number of findings.
type Found = BTreeMap<String, usize>;

#[test]
fn every_mutant_is_killed_and_every_must_by_one_of_them() {
    let catalogue = Catalogue::embedded().expect("the catalogue is read by its own tests");
    let all = mutant::embedded().expect("the registry is read by its own tests");
    product("liballocert_mutants.so");
    for side in [Side::Emm, Side::EmmHost, Side::CaiProducer, Side::CaiConsumer] {
        let mut program = Command::new(product("allocert"));
        program.args(["mutants", side.name(), "--python"]).arg(python());
        let output = program.output().expect("the program was found above");
        let (printed, words) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!((output.status.code(), words.as_ref()), (Some(0), ""), "{printed}");
        let last = printed.lines().last().expect("a summary");
        let all = all.iter().filter(|mutant| mutant.side(&catalogue) == Some(side)).count();
        assert!(all > 0 && last.starts_with(&format!("{all} of {all} mutants killed, ")), "{last}");
    }
}

fn python() -> OsString {
    env::var_os("ALLOCERT_PYTHON")
        .expect("ALLOCERT_PYTHON is not set: it names an interpreter with numba-cuda, and `cargo xtask test` sets it")
}

#[test]
fn the_reference_under_the_mutants_conforms() {
    let found = examine("mutant_conforming", &["--faults"]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn what_shows_in_failures_alone_is_not_found_without_the_fault_sweep() {
    let mutants = registry(|mutant| mutant.faults);
    assert!(!mutants.is_empty(), "mutants.yaml: no mutant is `faults: true`");
    for mutant in mutants {
        let clean = examine(&mutant.subject, &[]);
        assert!(clean.is_empty(), "{} is found without the sweep: {clean:?}", mutant.name);
    }
}

#[test]
fn hopeless_subjects_violate_much() {
    let mutants = registry(|mutant| HOPELESS.contains(&mutant.name.as_str()));
    assert_eq!(mutants.len(), HOPELESS.len());
    for mutant in mutants {
        let found = examine(&mutant.subject, &[]);
        assert!(found.len() > 5, "{}: only {found:?}", mutant.name);
    }
}

fn registry(wanted: impl Fn(&Mutant) -> bool) -> Vec<Mutant> {
    let all = mutant::embedded().expect("the registry is read by its own tests");
    all.into_iter().filter(|mutant| mutant.flavor == Flavor::Native && wanted(mutant)).collect()
}

/// Runs all cases on a native mutant: what was found against it.
fn examine(symbol: &str, more: &[&str]) -> Found {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("run.jsonl");
    let subject = format!("{}:{symbol}", product("liballocert_mutants.so").display());
    let mut program = Command::new(product("allocert"));
    program
        .args(["run", "emm", &subject, "--timeout", "5", "--jobs", "1"])
        .args(more)
        .arg("--out")
        .arg(&out);
    let output = program.output().expect("the program was found above");
    let file = File::open(&out).unwrap_or_else(|error| {
        panic!(
            "{symbol}: no run file ({error}), {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )
    });
    let run = run::read("run.jsonl", BufReader::new(file))
        .unwrap_or_else(|error| panic!("{symbol}: {error}"));
    let mut found = Found::new();
    for finding in run.cases.iter().flat_map(|judged| &judged.judgement.findings) {
        *found.entry(finding.requirement.clone()).or_default() += 1;
    }
    found
}

/// A file of the whole build, beside this test's own.
fn product(name: &str) -> PathBuf {
    let this = env::current_exe().expect("this test has a path");
    let folder =
        this.parent().and_then(Path::parent).expect("tests lie two folders below the products");
    let path = folder.join(name);
    assert!(path.exists(), "{} is missing: `cargo xtask test` builds it first", path.display());
    path
}
