//! Behaviours: what stays the same from run to run, and what is shown of a change.

use allocert_contract::trace::{Call, Event};
use allocert_suite::behaviour::difference_report as report;
use allocert_suite::behaviour::{Behaviour, Weight, differences};
use allocert_suite::report::style::Palette;
use allocert_suite::run_format::Judged;
use rstest::rstest;
use serde_json::json;

use crate::observation_builder::{Recorder, alloc, free, memalloc, memory};

fn behaviour(recorder: Recorder) -> Behaviour {
    let judged = Judged {
        judgement: recorder.judged(),
        case: recorder.case,
        observation: Some(recorder.seen),
    };
    Behaviour::of(&judged)
}

fn start() -> Recorder {
    Recorder::new(memalloc("{EMM-T-01: {returns: {size_bytes: {is: 64}}}}"))
}

/// A pool at this address, with a block in it; `size_bytes` is what the driver is asked for.
fn pool(address: u64, size_bytes: u64) -> Recorder {
    start()
        .step(&[alloc(address, size_bytes)], memory(address + 512, 64))
        .step(&[free(address, 0)], json!({}))
        .rest()
}

const A: u64 = 0x7d00_0000_0000;
const B: u64 = 0x7f00_1234_5600;

#[test]
fn a_snapshot_has_no_address_and_no_number_of_a_call() {
    let there = behaviour(pool(B, 1 << 20));
    assert_eq!(there, behaviour(pool(A, 1 << 20)));
    insta::assert_snapshot!(there.to_text());
}

#[test]
fn a_snapshot_is_read_back() {
    for recorder in [pool(A, 4096), start().step(&[alloc(A, 65)], memory(A, 65)).rest()] {
        let behaviour = behaviour(recorder.prints("step 1 [oops]\nverdict: conforms\n"));
        assert_eq!(Behaviour::from_text(&behaviour.to_text()), Ok(behaviour));
    }
}

#[rstest]
#[case::other_tool("---\nsource: tests/other.rs\nexpression: x\n---\n1\n", 2, true)]
#[case::no_case("---\nsource: allocert snapshot\n---\nverdict: conforms\n", 3, false)]
#[case::empty("", 1, false)]
#[case::no_heading(
    "---\nsource: allocert snapshot\nexpression: \"a/b/c\"\n---\nverdict: conforms\nstepp 1\n",
    6,
    false
)]
#[case::stray(
    "---\nsource: allocert snapshot\nexpression: \"a/b/c\"\n---\n    cuMemAlloc_v2()\n",
    5,
    false
)]
fn what_is_no_snapshot_is_refused(#[case] text: &str, #[case] line: usize, #[case] foreign: bool) {
    let error = Behaviour::from_text(text).expect_err("it is wrong");
    assert_eq!((error.line, error.is_foreign), (line, foreign), "{error}");
}

#[test]
fn memory_that_is_given_out_again_has_a_new_name() {
    let twice = start()
        .step(&[alloc(A, 64), free(A, 0), alloc(A, 64)], memory(A, 64))
        .step(&[free(A, 0)], json!({}))
        .rest();
    let text = behaviour(twice).to_text();
    assert!(text.contains("cuMemFree_v2(dptr=p1)") && text.contains("dptr=p2"), "{text}");
}

#[test]
fn a_result_has_the_name_that_its_memory_had_at_the_end_of_its_step() {
    let twice = start()
        .step(&[alloc(A, 64)], memory(A, 64))
        .step(&[free(A, 0), alloc(A, 64)], memory(A, 64))
        .rest();
    let steps = behaviour(twice).steps;
    assert!(steps[2].results[0].contains("pointer: p1"), "{steps:?}");
    assert!(steps[3].results[0].contains("pointer: p2"), "{steps:?}");
}

/// What two threads do at once has another order in each run, and so has all that follows from it.
#[test]
fn of_several_threads_only_the_kinds_of_calls_are_kept() {
    let run = |swap: bool| {
        let mut recorder = start()
            .step(&[alloc(A, 64), alloc(B, 128)], memory(A, 64))
            .step(&[free(A, 0), free(B, 0)], json!({}))
            .rest();
        let calls: Vec<usize> = calls(&recorder.seen.events);
        let (first, second) = (calls[0], calls[1]);
        recorder.seen.events[second].thread += 1;
        if swap {
            let one = recorder.seen.events[first].what.clone();
            recorder.seen.events[first].what = recorder.seen.events[second].what.clone();
            recorder.seen.events[second].what = one;
        }
        behaviour(recorder)
    };
    assert_eq!(run(false).steps, run(true).steps);
    let text = run(false).to_text();
    assert_eq!(text.matches("(any order) cuMemAlloc_v2 = 0").count(), 1, "{text}");
}

fn calls(events: &[Event]) -> Vec<usize> {
    let is_alloc = |event: &Event| {
        event.call().is_some_and(|call: &Call| call.function.name() == "cuMemAlloc_v2")
    };
    (0..events.len()).filter(|index| is_alloc(&events[*index])).collect()
}

#[rstest]
#[case::verdict(pool(A, 1 << 20), large(), Weight::Verdict)]
#[case::result(pool(A, 1 << 20), other_result(), Weight::Results)]
#[case::call(pool(A, 1 << 20), pool(A, 1 << 21), Weight::Calls)]
fn a_change_has_the_weight_of_what_it_touches(
    #[case] before: Recorder,
    #[case] after: Recorder,
    #[case] weight: Weight,
) {
    let found = differences(&[behaviour(before)], &[behaviour(after)]);
    assert_eq!(found.iter().map(|one| one.weight).collect::<Vec<_>>(), [weight]);
}

/// The subject gives 65 bytes where 64 are demanded.
fn large() -> Recorder {
    start().step(&[alloc(A, 1 << 20)], memory(A + 512, 65)).step(&[free(A, 0)], json!({})).rest()
}

/// The subject says something that nothing demands.
fn other_result() -> Recorder {
    start()
        .step(&[alloc(A, 1 << 20)], memory(A + 512, 64))
        .step(&[free(A, 0)], json!({"freed": true}))
        .rest()
}

/// How many blocks lie well by luck differs from run to run; that none lies badly does not.
#[test]
fn of_blocks_that_lie_badly_only_whether_there_are_any_is_kept() {
    let counted = |count: u32| {
        let facts = json!({"misaligned": count});
        behaviour(start().step(&[alloc(A, 1 << 20)], facts).rest())
    };
    assert_eq!(counted(142), counted(128));
    assert_ne!(counted(1), counted(0));
}

#[test]
fn changes_are_shown_with_the_requirement_of_the_step() {
    let named = |recorder: Recorder, case: &str| {
        let mut behaviour = behaviour(recorder);
        case.clone_into(&mut behaviour.case);
        behaviour
    };
    let before = [named(pool(A, 1 << 20), "emm/a/calls"), named(pool(A, 64), "emm/a/gone")];
    let mut after =
        vec![named(pool(A, 1 << 21), "emm/a/calls"), named(large(), "emm/a/new ``` <b>")];
    let mut broken = named(large(), "emm/a/verdict");
    after.push(broken.clone());
    broken.verdict = "conforms".to_owned();
    broken.findings.clear();
    let before: Vec<Behaviour> = before.into_iter().chain([broken]).collect();
    let found = differences(&before, &after);
    insta::assert_snapshot!("text", report::text(&found, Palette { colour: false }));
    insta::assert_snapshot!("markdown", report::markdown(&found));
    insta::assert_snapshot!("json", report::json(&found));
    let same = differences(&after, &after);
    assert_eq!(report::text(&same, Palette { colour: false }), "no case changed\n");
}

/// Thousands of calls are counted, so that no comparison takes long.
#[test]
fn long_lists_of_calls_are_counted() {
    let rounds = |count: u64| {
        let calls: Vec<Call> = (0..count).flat_map(|_| [alloc(A, 64), free(A, 0)]).collect();
        behaviour(start().step(&calls, memory(A, 64)).rest())
    };
    let found = differences(&[rounds(2000)], &[rounds(2001)]);
    let text = report::text(&found, Palette { colour: false });
    assert!(text.contains("- 2000 calls of cuMemFree_v2\n    + 2001 calls"), "{text}");
}
