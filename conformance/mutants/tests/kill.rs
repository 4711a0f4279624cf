//! The kill matrix: `allocert mutants` on the whole registry, and what must not be found in it.
#![forbid(unsafe_code)]

#[path = "kill/explored.rs"]
mod explored;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::process::Command;

use allocert_requirements::{BuiltSubject, Catalogue, Flavor, Mutant, Side, mutant};
use allocert_suite::run_format;
use allocert_test_support::{interpreter, library, program};

/// Subjects that must be found violating whatever else is known of them.
const HOPELESS: [&str; 3] = ["does-nothing", "always-fails", "always-out-of-memory"];

/// What a run said: requirement to number of findings.
type Found = BTreeMap<String, usize>;

#[test]
fn every_mutant_is_killed_and_every_must_by_one_of_them() {
    let all = mutant::embedded().expect("the registry is read by its own tests").len();
    let mut run = Command::new(program());
    let output = run.args(["mutants", "--python"]).arg(interpreter()).output();
    let output = output.expect("the program was found above");
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), complaints.as_ref()), (Some(0), ""), "{printed}");
    let last = printed.lines().last().expect("a summary");
    assert!(last.starts_with(&format!("{all} of {all} mutants killed, ")), "{last}");
}

#[test]
fn the_reference_under_the_mutants_conforms() {
    assert_nothing_is_found(Side::Emm, "mutant_conforming", &["--faults"]);
}

#[test]
fn what_shows_in_failures_alone_is_not_found_without_the_fault_sweep() {
    let mutants = registry(|mutant| mutant.faults);
    assert!(!mutants.is_empty(), "mutants.yaml: no mutant is `faults: true`");
    for mutant in mutants {
        assert_nothing_is_found(side(&mutant), &mutant.subject, &[]);
    }
}

#[test]
fn hopeless_subjects_violate_much() {
    let mutants = registry(|mutant| HOPELESS.contains(&mutant.name.as_str()));
    assert_eq!(mutants.len(), HOPELESS.len());
    for mutant in mutants {
        let found = examine(side(&mutant), &mutant.subject);
        assert!(found.len() > 5, "{}: only {found:?}", mutant.name);
    }
}

fn registry(wanted: impl Fn(&Mutant) -> bool) -> Vec<Mutant> {
    let all = mutant::embedded().expect("the registry is read by its own tests");
    all.into_iter().filter(|mutant| mutant.flavor == Flavor::Native && wanted(mutant)).collect()
}

fn side(mutant: &Mutant) -> Side {
    let catalogue = Catalogue::embedded().expect("the catalogue is read by its own tests");
    mutant.side(&catalogue).expect("the registry is read by its own tests")
}

/// Runs all cases of a side on a native mutant, which has neither violations nor warnings.
fn assert_nothing_is_found(side: Side, symbol: &str, more: &[&str]) {
    let output = run(side, symbol).args(more).output().expect("the program was found above");
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), complaints.as_ref()), (Some(0), ""), "{symbol}: {printed}");
    let summary = |begin: &str, part: &str| {
        printed.lines().any(|line| line.starts_with(begin) && line.contains(part))
    };
    assert!(summary("no violation; ", "cases ran"), "{symbol}: {printed}");
    assert!(more.is_empty() || summary("fault sweep: ", " 0 findings"), "{symbol}: {printed}");
}

/// The program, told to run all cases of a side on a native mutant.
fn run(side: Side, symbol: &str) -> Command {
    let subject = format!("{}:{symbol}", library("liballocert_mutants.so").display());
    let mut run = Command::new(program());
    run.args(["run", side.name(), &subject, "--timeout", "5", "--jobs", "1"]);
    run
}

/// Runs all cases of a side on a native mutant: what was found against it.
fn examine(side: Side, symbol: &str) -> Found {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("run.jsonl");
    let mut run = run(side, symbol);
    let output = run.arg("--out").arg(&out).output().expect("the program was found above");
    let complain = |error: String| -> ! {
        let printed = String::from_utf8_lossy(&output.stdout);
        let complaints = String::from_utf8_lossy(&output.stderr);
        panic!("{symbol}: {error}; {}:\n{printed}{complaints}", output.status)
    };
    let file = File::open(&out).unwrap_or_else(|error| complain(format!("no run file ({error})")));
    let run = run_format::read("run.jsonl", BufReader::new(file));
    let run = run.unwrap_or_else(|error| complain(error.to_string()));
    let mut found = Found::new();
    for finding in run.cases.iter().flat_map(|judged| &judged.judgement.findings) {
        *found.entry(finding.requirement.clone()).or_default() += 1;
    }
    found
}
