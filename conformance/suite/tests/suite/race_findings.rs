//! Races: the text of a finding, traces without a race, and traces that leave a doubt.

use allocert_contract::trace::cuda::Function as F;
use allocert_suite::reason::{Doubt, Reason};
use allocert_suite::verdict::Verdict;
use rstest::rstest;

use crate::observation_builder::{Recorder, memory};
use crate::trace_builder::{
    A, B, C, Do, E, OTHER_THREAD, X, Y, after, alloc, copy, destroy, did, fill, gave, judged,
    launch, non_blocking, one_step, passed_on, races, record, sync, two, unsupported, wait,
};

#[rstest]
#[case::passed_on_by_name(
    passed_on("cuGraphLaunch"), Doubt::PassedOn { call: "cuGraphLaunch".to_owned(), seq: 11 },
)]
#[case::function_of_the_host(
    did(F::cuLaunchHostFunc, &[A, 0x4000, 0]), Doubt::HostFunction { seq: 11 },
)]
#[case::event_of_elsewhere(wait(C, 0xbad), Doubt::UnknownEvent { seq: 11 })]
fn what_may_have_ordered_is_a_doubt(#[case] between: Do, #[case] because: Doubt) {
    let calls = |between: Do| {
        after(
            two(non_blocking),
            vec![
                non_blocking(C).when(matches!(because, Doubt::UnknownEvent { .. })),
                fill(X, A),
                between,
                fill(X, B),
            ],
        )
    };
    let doubtful = judged(calls(between.clone()));
    assert_eq!(races(&doubtful), [""; 0]);
    let Verdict::NotObserved { reason: Reason::OrderUnknown { because: found } } =
        &doubtful.verdict
    else {
        panic!("{:?}", doubtful.verdict);
    };
    assert_eq!(std::mem::discriminant(found), std::mem::discriminant(&because));
    assert_eq!(
        races(&judged(calls(unsupported("cuGraphLaunch")))).len(),
        1,
        "a call that does nothing"
    );
    let later = after(two(non_blocking), vec![between, fill(X, A), fill(X, B)]);
    assert_eq!(races(&judged(later)).len(), 1, "what comes after it is not in doubt");
}

#[test]
fn getting_an_export_table_waits_for_nothing() {
    let calls =
        after(two(non_blocking), vec![fill(X, A), passed_on("cuGetExportTable"), fill(X, B)]);
    assert_eq!(races(&judged(calls)).len(), 1);
}

/// The requirement of the race in calls on two non-blocking streams.
fn requirement_of_race(calls: Vec<Do>) -> Option<String> {
    let judgement = judged(after(two(non_blocking), calls));
    let race = judgement.findings.into_iter().find(|one| one.observed.contains("nothing orders"));
    race.map(|one| one.requirement)
}

/// A plugin of `emm` that frees memory in another stream than the host's has two faults at most: it
/// hands the memory out too early, and takes it away too early.
#[test]
fn memory_that_is_freed_while_work_is_queued_is_used_after_its_free() {
    let found = |free: Do| requirement_of_race(vec![alloc(X), fill(X, A).harness(), free]);
    let of = |requirement: &str| Some(requirement.to_owned());
    assert_eq!(found(did(F::cuMemFreeAsync, &[X, B])), of("EMM-CHECK-USE_AFTER_FREE"));
    assert_eq!(found(fill(X, B)), of("EMM-CHECK-RACE"));
    assert_eq!(found(did(F::cuMemFreeAsync, &[X, A])), None);
}

#[test]
fn memory_that_nobody_used_may_be_freed_in_another_stream() {
    let found = |second: Do| {
        requirement_of_race(vec![gave(F::cuMemAllocAsync, &[64, A], X).harness(), second])
    };
    assert_eq!(found(did(F::cuMemFreeAsync, &[X, B])), None);
    assert_eq!(found(fill(X, B)), Some("EMM-CHECK-RACE".to_owned()));
}

#[test]
fn memory_of_the_subjects_own_is_its_own_affair() {
    let calls = |second: Do| after(two(non_blocking), vec![fill(Y, A), second]);
    assert_eq!(judged(calls(fill(Y, B))).verdict, Verdict::Conforms);
    assert_eq!(races(&judged(calls(fill(Y, B).harness()))).len(), 1);
    let doubted =
        after(two(non_blocking), vec![fill(Y, A), passed_on("cuGraphLaunch"), fill(Y, B)]);
    assert_eq!(judged(doubted).verdict, Verdict::Conforms, "nor is it in doubt");
}

#[test]
fn a_doubt_that_decides_nothing_is_none() {
    let all = || did(F::cuCtxSynchronize, &[]);
    let quiet = |before, behind| {
        after(
            two(non_blocking),
            vec![
                fill(X, A),
                all().when(before),
                passed_on("cuGraphLaunch"),
                all().when(behind),
                fill(X, A),
            ],
        )
    };
    assert_eq!(judged(quiet(true, true)).verdict, Verdict::Conforms);
    for (before, behind) in [(false, true), (true, false)] {
        let judgement = judged(quiet(before, behind));
        assert_eq!(races(&judgement), [""; 0]);
        assert!(
            matches!(judgement.verdict, Verdict::NotObserved { .. }),
            "quiet before: {before}, behind: {behind}: {:?}",
            judgement.verdict
        );
    }
}

#[rstest]
#[case::copy_of_a_volume("cuMemcpy3DAsync_v2", true)]
#[case::graph("cuGraphLaunch", true)]
#[case::fill_of_rows("cuMemsetD2D8Async", true)]
#[case::value_for_a_stream("cuStreamWriteValue32_v2", true)]
#[case::question("cuFuncGetName", false)]
#[case::mapping("cuMemMap", false)]
fn what_may_touch_memory_is_in_doubt_with_later_work(#[case] name: &str, #[case] touches: bool) {
    let judgement = judged(after(two(non_blocking), vec![passed_on(name), copy(X, Y, A)]));
    assert_eq!(races(&judgement), [""; 0]);
    // What a mapping stands for is in no ledger, but it touches no memory.
    let unseen = |reason: &Reason| matches!(reason, Reason::UnseenMemory { .. });
    let doubtful = matches!(
        &judgement.verdict, Verdict::NotObserved { reason } if !unseen(reason)
    );
    assert_eq!(doubtful, touches, "{:?}", judgement.verdict);
}

#[test]
fn memory_that_is_taken_later_is_in_no_doubt() {
    let calls = vec![passed_on("cuGraphLaunch"), alloc(X), fill(X, A)];
    let judgement = judged(after(two(non_blocking), calls));
    assert_eq!(judgement.findings.iter().filter(|one| one.requirement.contains("RACE")).count(), 0);
    assert!(!matches!(judgement.verdict, Verdict::NotObserved { .. }), "{:?}", judgement.verdict);
}

#[rstest]
#[case::no_attribute(0, false)]
#[case::priority(8, false)]
#[case::programmatic_stream_serialization(6, true)]
#[case::launch_completion_event(12, true)]
fn attributes_of_a_launch_may_order_it(#[case] attribute: u32, #[case] doubtful: bool) {
    let mut words = [0; 8];
    words[4] = A;
    words[7] = (1_u64 << attribute) & !1;
    let calls = vec![fill(X, A), did(F::cuLaunchKernelEx, &words)];
    let judgement = judged(after(two(non_blocking), calls));
    let found = matches!(judgement.verdict, Verdict::NotObserved { .. });
    assert_eq!(found, doubtful, "{:?}", judgement.verdict);
}

#[test]
fn a_host_function_vouches_for_its_stream_alone() {
    let host = did(F::cuStreamAddCallback, &[B, 0x4000, 0, 0]);
    assert_eq!(
        races(&judged(after(two(non_blocking), vec![fill(X, A), host, fill(X, B)]))).len(),
        1
    );
}

#[test]
fn captured_work_is_not_judged() {
    let captured = vec![
        passed_on("cuStreamBeginCapture_v2"),
        fill(X, A),
        fill(X, B),
        passed_on("cuStreamEndCapture"),
    ];
    let judgement = judged(after(two(non_blocking), captured.clone()));
    assert_eq!(races(&judgement), [""; 0]);
    assert!(
        matches!(
            &judgement.verdict,
            Verdict::NotObserved {
                reason: Reason::OrderUnknown { because: Doubt::Capture { .. } }
            }
        ),
        "{:?}",
        judgement.verdict
    );
    let later = after(after(two(non_blocking), captured), vec![fill(X, A), fill(X, B)]);
    assert_eq!(races(&judged(later)).len(), 1);
}

#[test]
fn more_streams_than_can_be_told_apart_are_a_doubt() {
    let mut calls: Vec<Do> = (0..1025)
        .flat_map(|number| [non_blocking(A + number), fill(Y + number * 64, A + number)])
        .collect();
    calls.extend([fill(X, A), fill(X, A + 1)]);
    let judgement = judged(calls);
    assert_eq!(races(&judgement), [""; 0]);
    let reason = Reason::OrderUnknown { because: Doubt::ManyStreams { limit: 1024 } };
    assert_eq!(judgement.verdict, Verdict::NotObserved { reason });
}

#[test]
fn streams_that_come_and_go_are_told_apart() {
    let one = |number| {
        vec![non_blocking(A + number), fill(X, A + number), sync(A + number), destroy(A + number)]
    };
    let mut calls: Vec<Do> = (0..3000).flat_map(one).collect();
    assert_eq!(judged(calls.clone()).verdict, Verdict::Conforms);
    calls.extend([non_blocking(B), non_blocking(C), fill(X, B), fill(X, C)]);
    assert_eq!(races(&judged(calls)).len(), 1);
}

#[test]
fn one_cause_is_found_once() {
    let again = (0..50).flat_map(|_| [fill(X, A), fill(X, B)]);
    let judgement = judged(two(non_blocking).into_iter().chain(again).collect());
    let found = races(&judgement);
    assert_eq!(found.len(), 2, "each way once: {found:?}");
    assert!(found.iter().all(|text| text.contains("more such pairs")), "{found:?}");
}

#[test]
fn a_race_of_the_harness_is_its_own_fault() {
    let judgement =
        judged(after(two(non_blocking), vec![fill(X, A).harness(), fill(X, B).harness()]));
    assert_eq!(races(&judgement), [""; 0]);
    assert!(
        matches!(
            &judgement.verdict,
            Verdict::HarnessError { message } if message.contains("the harness's own")
        ),
        "{:?}",
        judgement.verdict
    );
}

#[test]
fn a_race_says_what_would_have_ordered_it() {
    let calls = after(
        two(non_blocking),
        vec![
            fill(X, A).harness(),
            record(E, A),
            launch(X, B),
            copy(X + 32, Y, 0).by(OTHER_THREAD).harness(),
        ],
    );
    let told: Vec<String> = judged(calls)
        .findings
        .iter()
        .map(|finding| {
            let events: Vec<String> = finding
                .events
                .iter()
                .map(|event| format!("  #{} {}", event.seq, event.role))
                .collect();
            format!(
                "expected: {}\nobserved: {}\n{}\n",
                finding.expected,
                finding.observed,
                events.join("\n")
            )
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn other_processes_are_not_looked_at() {
    let mut recorder = Recorder::new(one_step());
    recorder = recorder.does(after(two(non_blocking), vec![fill(X, A), fill(X, B)]), memory(X, 64));
    assert_eq!(races(&recorder.judged()).len(), 1);
    let last = recorder.seen.events.len() - 2;
    recorder.seen.events[last].process += 1;
    assert_eq!(races(&recorder.judged()), [""; 0]);
}
