//! The kill matrix: what a mutant violates, what the suite found, and findings that do not count.

use allocert_requirements::{Flavor, Mutant, ReportedAs};
use allocert_suite::Side;
use allocert_suite::observation::Ending;
use allocert_suite::report::first_causes::{self, FirstCause};
use allocert_suite::report::kills::{self, Kill, Matrix};
use allocert_suite::run_format::Judged;

use crate::observation_builder::{Recorder, alloc, catalogue, memalloc, memory};

fn mutant(name: &str, breaks: &[&str]) -> Mutant {
    Mutant {
        name: name.to_owned(),
        flavor: Flavor::Native,
        subject: format!("mutant_{name}"),
        breaks: breaks.iter().map(|id| (*id).to_owned()).collect(),
        faults: false,
        found_in: Vec::new(),
        reported_as: None,
        about: "gives twice what was asked for".to_owned(),
    }
}

/// 128 bytes for 64.
fn wrong_size() -> Judged {
    let recorder = Recorder::new(memalloc("{EMM-T-01: {returns: {size_bytes: {is: 64}}}}"));
    judged(recorder.step(&[alloc(1, 64)], memory(1, 128)).rest())
}

/// The same, in a record that contradicts itself.
fn broken_down() -> Judged {
    let mut judged = wrong_size();
    let seen = judged.observation.as_mut().expect("it was run");
    seen.ending = Ending::Lost { message: "the worker is gone".to_owned() };
    judged.judgement = allocert_suite::judge::judge(&catalogue(), &judged.case, seen);
    judged
}

fn judged(recorder: Recorder) -> Judged {
    Judged { judgement: recorder.judged(), case: recorder.case, observation: Some(recorder.seen) }
}

fn kill<'a>(mutant: &'a Mutant, cases: &[Judged]) -> Kill<'a> {
    let mut kill = Kill::new(mutant);
    kill.add(cases);
    kill
}

#[test]
fn the_matrix_shows_kills_survivors_and_requirements_without_a_mutant() {
    let catalogue = catalogue();
    let (doubles, survives) =
        (mutant("doubles", &["EMM-T-01"]), mutant("survives", &["EMM-T-01", "EMM-T-02"]));
    let kills = [kill(&doubles, &[wrong_size()]), kill(&survives, &[broken_down()])];
    let matrix = Matrix { catalogue: &catalogue, sides: &[Side::Emm], kills: &kills, whole: true };
    assert!(!matrix.holds());
    insta::assert_snapshot!(kills::render(&matrix));
}

#[test]
fn a_part_of_the_mutants_says_nothing_of_other_requirements() {
    let catalogue = catalogue();
    let doubles = mutant("doubles", &["EMM-T-01"]);
    let kills = [kill(&doubles, &[wrong_size()])];
    let part = Matrix { catalogue: &catalogue, sides: &[Side::Emm], kills: &kills, whole: false };
    assert!(part.holds());
    assert!(!Matrix { whole: true, ..part }.holds(), "MUSTs have no kill");
    insta::assert_snapshot!(kills::render(&part));
}

#[test]
fn a_breakdown_of_the_harness_is_no_kill() {
    let doubles = mutant("doubles", &["EMM-T-01"]);
    let kill = kill(&doubles, &[broken_down()]);
    assert!(!kill.killed());
    assert_eq!((kill.found.len(), kill.crashed.contains("EMM-T-01")), (0, true));
}

/// A report names what the mutant breaks, or what its entry says instead, and nothing else.
#[test]
fn the_first_cause_is_compared_with_the_entry_of_the_mutant() {
    let catalogue = catalogue();
    let reported_as = |mutant: Mutant, id: &str| {
        let (requirement, because) = (id.to_owned(), "it says the same".to_owned());
        Mutant { reported_as: Some(ReportedAs { requirement, because }), ..mutant }
    };
    let mutants = [
        mutant("doubles", &["EMM-T-01"]),
        mutant("breaks-another", &["EMM-T-02"]),
        reported_as(mutant("says-so", &["EMM-T-02"]), "EMM-T-01"),
        reported_as(mutant("says-wrong", &["EMM-T-01"]), "EMM-T-02"),
    ];
    let found = [wrong_size()];
    let mut first_causes: Vec<FirstCause<'_>> =
        mutants.iter().map(|mutant| FirstCause::new(&catalogue, mutant, &found)).collect();
    first_causes.push(FirstCause::new(&catalogue, &mutants[0], &[]));
    let right: Vec<bool> = first_causes.iter().map(FirstCause::is_right).collect();
    assert_eq!(right, [true, false, true, false, false]);
    insta::assert_snapshot!(first_causes::render(&first_causes));
}
