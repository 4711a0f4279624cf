//! Every mutant breaks requirements that exist, and what a subject can break has a mutant, whatever
//! its level.

use std::collections::{BTreeMap, BTreeSet};

use allocert_requirements::{BuiltSubject, Mutant, Requirement, Side, mutant};

use crate::embedded::{cases, catalogue};

/// What no mutant breaks, and why. An entry whose requirement has a mutant must go.
const UNBROKEN: &[(&str, &str)] = &[];

fn registry() -> Vec<Mutant> {
    mutant::embedded().unwrap_or_else(|refusal| panic!("{refusal}"))
}

#[test]
fn every_mutant_breaks_what_the_catalogue_knows() {
    let catalogue = catalogue();
    let registry = registry();
    let unknown: Vec<_> = registry
        .iter()
        .flat_map(|mutant| mutant.breaks.iter().map(move |id| (&mutant.name, id)))
        .filter(|(_, id)| catalogue.get(id).is_none())
        .collect();
    assert!(unknown.is_empty(), "mutants.yaml: no such requirement: {unknown:?}");
}

/// What a report may name first instead is another requirement of the side, with a reason.
#[test]
fn a_mutant_is_reported_as_what_its_side_knows() {
    let catalogue = catalogue();
    for mutant in registry() {
        let Some(reported_as) = &mutant.reported_as else { continue };
        let side = catalogue.get(&reported_as.requirement).and_then(Requirement::side);
        let wrong = mutant.breaks.contains(&reported_as.requirement)
            || side != mutant.side(&catalogue)
            || reported_as.because.trim().is_empty();
        assert!(!wrong, "mutants.yaml: {} has a wrong `reported_as`", mutant.name);
    }
}

#[test]
fn a_mutant_is_found_in_cases_of_its_side() {
    let catalogue = catalogue();
    let cases: BTreeSet<(String, Side)> =
        cases(&catalogue).into_iter().map(|case| (case.id, case.side)).collect();
    for mutant in registry() {
        let side = mutant.side(&catalogue).expect("another test asks for one side");
        for case in &mutant.found_in {
            let known = cases.contains(&(case.clone(), side));
            assert!(known, "mutants.yaml: {}: {} has no case {case}", mutant.name, side.name());
        }
    }
}

#[test]
fn a_mutant_breaks_one_side() {
    let catalogue = catalogue();
    for mutant in registry() {
        let sides: BTreeSet<_> =
            mutant.breaks.iter().filter_map(|id| catalogue.get(id)?.side()).collect();
        assert_eq!(
            sides.len(),
            1,
            "{} breaks requirements of {sides:?}: a run is of one side",
            mutant.name
        );
        assert_eq!(mutant.side(&catalogue).as_ref(), sides.first());
    }
}

#[test]
fn what_can_be_broken_is_broken_by_a_mutant_or_listed_with_a_reason() {
    let catalogue = catalogue();
    let registry = registry();
    let broken: BTreeSet<&str> =
        registry.iter().flat_map(|mutant| &mutant.breaks).map(String::as_str).collect();
    let listed: BTreeMap<&str, &str> = UNBROKEN.iter().copied().collect();
    let unbroken: BTreeSet<&str> = catalogue
        .iter()
        .filter(|requirement| demanded(requirement) && !broken.contains(requirement.id.as_str()))
        .map(|requirement| requirement.id.as_str())
        .collect();
    let unlisted: Vec<&&str> = unbroken.iter().filter(|id| !listed.contains_key(**id)).collect();
    assert!(
        unlisted.is_empty(),
        "no mutant breaks {unlisted:?}: build one, or list it in UNBROKEN with the reason"
    );
    let stale: Vec<&&str> = listed.keys().filter(|id| !unbroken.contains(**id)).collect();
    assert!(
        stale.is_empty(),
        "take {stale:?} out of UNBROKEN: a mutant breaks it, or nobody asks for one"
    );
}

/// Whether a case on the software driver looks for it, and a subject can be blamed.
fn demanded(requirement: &Requirement) -> bool {
    requirement.excluded.is_none() && !requirement.gpu
}
