//! Shrinking against a judge that is known.

use allocert_explore::{LENGTH, shrink, write_fixture};
use allocert_suite::Level;
use allocert_suite::interface::emm::Operation;
use allocert_suite::interface::{self, shared::Read};
use allocert_suite::plan::{Part, PlannedCase};
use allocert_suite::verdict::Judgement;

use crate::{exploration, judgement};

/// A subject that loses what was written when another one is initialised while it holds more than
/// 1000 bytes.
fn forgetful(case: &PlannedCase) -> Judgement {
    let mut large = None;
    let mut lost = false;
    for step in &case.steps {
        let interface::Operation::Emm(operation) = &step.r#do else { continue };
        match operation {
            Operation::Memalloc { size, r#as } if *size > 1000 && *size < 1 << 40 => {
                large = Some(r#as.clone())
            }
            Operation::Initialize {} => lost |= large.is_some(),
            Operation::Read(Read { memory, .. }) if lost && large.as_ref() == Some(memory) => {
                return judgement(&case.id, &[("EMM-ALLOC-13", Level::Must, Some(step.index))]);
            }
            _ => {}
        }
    }
    judgement(&case.id, &[])
}

#[test]
fn a_long_sequence_becomes_the_few_steps_that_matter() {
    let exploration = exploration(5, 20 * LENGTH);
    let mut shrunk = Vec::new();
    for number in 0..exploration.sequences() {
        let sequence = exploration.sequence(number);
        if forgetful(&sequence.planned("emm/explored/x", "x")).findings.is_empty() {
            continue;
        }
        let mut run = |cases: &[PlannedCase]| Ok::<_, ()>(cases.iter().map(forgetful).collect());
        let small = shrink(&sequence, "EMM-ALLOC-13", &mut run)
            .expect("it never fails")
            .expect("it is found alone");
        shrunk.push(write_fixture::lines(&small.sequence).join("\n"));
    }
    assert!(shrunk.len() > 5, "only {} sequences show it", shrunk.len());
    shrunk.sort();
    shrunk.dedup();
    insta::assert_snapshot!(shrunk.join("\n\n"));
}

#[test]
fn what_is_not_found_alone_is_not_shrunk() {
    let sequence = exploration(5, LENGTH).sequence(0);
    let mut run = |cases: &[PlannedCase]| {
        Ok::<_, ()>(cases.iter().map(|case| judgement(&case.id, &[])).collect())
    };
    assert!(shrink(&sequence, "EMM-ALLOC-13", &mut run).expect("it never fails").is_none());
}

#[test]
fn another_requirement_is_another_finding() {
    let sequence = exploration(5, 30).sequence(0);
    // The whole breaks one requirement, each part of it another.
    let judge = |case: &PlannedCase| {
        let steps = case.steps.iter().filter(|step| step.part == Part::Step).count();
        let id = if steps >= sequence.len() { "EMM-ALLOC-13" } else { "EMM-ALLOC-12" };
        judgement(&case.id, &[(id, Level::Must, None)])
    };
    let mut run = |cases: &[PlannedCase]| Ok::<_, ()>(cases.iter().map(judge).collect());
    let shrunk = shrink(&sequence, "EMM-ALLOC-13", &mut run)
        .expect("it never fails")
        .expect("it is found alone");
    assert_eq!(
        (shrunk.sequence.len(), shrunk.finding.requirement.as_str()),
        (sequence.len(), "EMM-ALLOC-13")
    );
}

#[test]
fn a_run_that_fails_ends_the_search() {
    let sequence = exploration(5, LENGTH).sequence(0);
    let mut run = |_: &[PlannedCase]| Err("the worker is gone");
    assert_eq!(shrink(&sequence, "EMM-ALLOC-13", &mut run).err(), Some("the worker is gone"));
}

/// The finding that names the circumstances which shrinking left.
#[test]
fn the_finding_that_tells_most_is_shown() {
    let sequence = exploration(5, LENGTH).sequence(0);
    let judge = |case: &PlannedCase| {
        let step = case
            .steps
            .iter()
            .find(|step| step.expect.contains_key("EMM-RESET-01"))
            .map(|step| step.index);
        let both = [("EMM-RESET-01", Level::Must, step), ("EMM-RESET-03", Level::Must, step)];
        judgement(&case.id, if step.is_some() { &both } else { &[] })
    };
    let mut run = |cases: &[PlannedCase]| Ok::<_, ()>(cases.iter().map(judge).collect());
    let shrunk = shrink(&sequence, "EMM-RESET-01", &mut run)
        .expect("it never fails")
        .expect("sequence 0 resets");
    assert_eq!(shrunk.finding.requirement, "EMM-RESET-03");
    assert_eq!(write_fixture::lines(&shrunk.sequence), ["reset"]);
}
