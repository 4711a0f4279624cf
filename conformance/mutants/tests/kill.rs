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
use std::sync;
use std::thread;

use allocert_requirements::{Catalogue, Flavor, Interface, Mutant, mutant};
use allocert_suite::plan::PlannedCase;
use allocert_suite::{fixture, run};

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

/// What a run said: requirement to number of findings.
type Found = BTreeMap<String, usize>;

#[test]
fn every_native_mutant_is_found_out() {
    let plan = plan();
    let mutants: Vec<Mutant> =
        registry().into_iter().filter(|mutant| mutant.flavor == Flavor::Native && !mutant.faults).collect();
    let matrix =
        all(&mutants, |mutant| examine(&mutant.subject, &filter(&plan, mutant), &["--profile", &profile(mutant)]));
    let mut wrong = Vec::new();
    for (mutant, found) in mutants.iter().zip(&matrix) {
        println!("{:24} {}", mutant.name, row(mutant, found));
        for requirement in &mutant.breaks {
            let unseen = UNSEEN.contains(&(mutant.name.as_str(), requirement.as_str()));
            match (found.contains_key(requirement), unseen) {
                (false, false) => wrong.push(format!("{} breaks {requirement}, and nobody noticed", mutant.name)),
                (true, true) => {
                    wrong.push(format!("{} is found to break {requirement}: remove it from UNSEEN", mutant.name))
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reference_under_the_mutants_conforms() {
    let found = examine("mutant_faithful", "emm", &["--faults"]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn what_shows_in_failures_alone_is_found_by_the_fault_sweep_alone() {
    let mutants: Vec<Mutant> = registry().into_iter().filter(|mutant| mutant.faults).collect();
    assert!(!mutants.is_empty(), "mutants.yaml: no mutant is `faults: true`");
    for mutant in &mutants {
        let clean = examine(&mutant.subject, "emm", &[]);
        assert!(clean.is_empty(), "{} is found without the sweep: {clean:?}", mutant.name);
        let swept = examine(&mutant.subject, "{emm/alloc,emm/host,emm/finalizer}", &["--faults"]);
        println!("{:24} {}", mutant.name, row(mutant, &swept));
        let unseen: Vec<&String> = mutant.breaks.iter().filter(|id| !swept.contains_key(*id)).collect();
        assert!(unseen.is_empty(), "{} breaks {unseen:?}, and the sweep did not notice: {swept:?}", mutant.name);
    }
}

#[test]
fn hopeless_subjects_violate_much() {
    let mutants: Vec<Mutant> =
        registry().into_iter().filter(|mutant| HOPELESS.contains(&mutant.name.as_str())).collect();
    assert_eq!(mutants.len(), HOPELESS.len());
    for (mutant, found) in mutants.iter().zip(all(&mutants, |mutant| examine(&mutant.subject, "emm", &[]))) {
        assert!(found.len() > 5, "{}: only {found:?}", mutant.name);
    }
}

fn registry() -> Vec<Mutant> {
    mutant::embedded().expect("the registry is read by its own tests")
}

fn plan() -> Vec<PlannedCase> {
    let catalogue = Catalogue::embedded().expect("the catalogue is read by its own tests");
    let files = allocert_fixtures::files().iter().map(|file| (file.path, file.text));
    fixture::plan(files, &catalogue).expect("the fixtures are read by their own tests")
}

/// The cases that state what this mutant breaks; for what no case states, cases that make every call.
fn filter(plan: &[PlannedCase], mutant: &Mutant) -> String {
    if mutant.breaks.contains("EMM-EXIT-02") {
        return HANGS.to_owned();
    }
    let mut names = BTreeSet::new();
    for requirement in &mutant.breaks {
        let stating = plan.iter().filter(|case| case.requirements().any(|id| id == requirement));
        let files: BTreeSet<&str> = stating.map(|case| case.file.trim_start_matches("cases/")).collect();
        match files.is_empty() {
            true => return EVERYWHERE.to_owned(),
            false => names.extend(files.into_iter().map(|file| file.trim_end_matches(".yaml"))),
        }
    }
    format!("{{{}}}", names.into_iter().collect::<Vec<_>>().join(","))
}

/// The profile that contains all of what this mutant breaks.
fn profile(mutant: &Mutant) -> String {
    let catalogue = Catalogue::embedded().expect("the catalogue is read by its own tests");
    let broken: Vec<_> = mutant.breaks.iter().filter_map(|id| catalogue.get(id)).collect();
    let mut profiles: Vec<_> = catalogue.profiles(Interface::Emm).collect();
    profiles.sort_by_key(|profile| !profile.default);
    let fits = profiles.into_iter().find(|profile| broken.iter().all(|requirement| profile.contains(requirement)));
    fits.unwrap_or_else(|| panic!("no profile contains all of what {} breaks", mutant.name)).name.clone()
}

/// Runs the cases on a mutant: what was found against it.
fn examine(symbol: &str, filter: &str, more: &[&str]) -> Found {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("run.jsonl");
    let subject = format!("{}:{symbol}", product("liballocert_mutants.so").display());
    let mut program = Command::new(product("allocert"));
    program
        .args(["run", "emm", &subject, "--filter", filter, "--timeout", "1", "--jobs", "1"])
        .args(more)
        .arg("--out")
        .arg(&out);
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

fn row(mutant: &Mutant, found: &Found) -> String {
    let mark = |id: &String| if mutant.breaks.contains(id) { "*" } else { "" };
    let cells = found.iter().map(|(id, count)| format!("{}{}:{count}", mark(id), id.trim_start_matches("EMM-")));
    cells.collect::<Vec<_>>().join(" ")
}

/// Does `work` for all mutants, [`JOBS`] at a time; the results in the order of the mutants.
fn all<T: Send>(mutants: &[Mutant], work: impl Fn(&Mutant) -> T + Sync) -> Vec<T> {
    let next = sync::Mutex::new(0..mutants.len());
    let take = || next.lock().ok()?.next();
    let mut done: Vec<(usize, T)> = thread::scope(|scope| {
        let worker = || std::iter::from_fn(take).map(|at| (at, work(&mutants[at]))).collect::<Vec<_>>();
        let workers: Vec<_> = (0..JOBS).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("the message is above")).collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
