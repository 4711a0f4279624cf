//! The expectations `ordered` and `covered_by`, each with traces that satisfy it and traces that do
//! not.

use allocert_contract::trace::cuda::Function as F;
use allocert_suite::plan::PlannedCase;
use allocert_suite::reason::Reason;
use allocert_suite::verdict::{Judgement, Verdict};
use rstest::rstest;
use serde_json::{Value, json};

use crate::observation_builder::{Recorder, THREAD, case, memory};
use crate::trace_builder::{
    A, B, C, Do, E, E2, OTHER_THREAD, PER_THREAD, X, Y, after, blocking, copy, did, fill,
    fill_bytes, launch, launch_in, non_blocking, one_step, races, record, sync, two, wait,
};

type Tape = fn(bool) -> Vec<Do>;

/// Step 2, `work`, allocates `a`; step 3 expects something.
fn pending(expect: &str) -> PlannedCase {
    case(&format!(
        "teardown: none\nsteps:\n  - do: {{memalloc: {{size: 64, as: a}}}}\n    label: work\n  \
         - do: {{memalloc: {{size: 64, as: b}}}}\n    expect: {{EMM-T-01: {expect}}}\n"
    ))
}

fn in_two(expect: &str, first: Vec<Do>, second: Vec<Do>, facts: Value) -> Judgement {
    Recorder::new(pending(expect)).does(first, memory(X, 64)).does(second, facts).rest().judged()
}

fn of_expectation(judgement: &Judgement) -> Vec<&str> {
    let found = judgement.findings.iter().filter(|finding| finding.requirement == "EMM-T-01");
    found.map(|finding| finding.observed.as_str()).collect()
}

#[rstest]
#[case::event(|edge| vec![wait(B, E).when(edge), fill(X, B)])]
#[case::host(|edge| vec![sync(A).when(edge), fill(X + 8, B)])]
#[case::kernel(|edge| vec![sync(A).when(edge), launch(X, B)])]
fn steps_are_ordered(#[case] second: Tape) {
    let first = || after(two(non_blocking), vec![launch(X, A), fill(X, A), record(E, A)]);
    let judge = |edge| in_two("{ordered: {after: work}}", first(), second(edge), memory(Y, 64));
    assert_eq!(judge(true).verdict, Verdict::Conforms);
    let without = judge(false);
    assert_eq!(of_expectation(&without).len(), 1, "{:?}", without.verdict);
}

#[test]
fn a_step_that_touches_nothing_of_the_other_shows_no_order() {
    let first = after(two(non_blocking), vec![fill(X, A)]);
    for second in [vec![], vec![fill(Y, B)], vec![sync(A)]] {
        let judgement = in_two("{ordered: {after: work}}", first.clone(), second, memory(Y, 64));
        let reason = Reason::NothingToOrder { step: 3, after: "work".to_owned() };
        assert_eq!(judgement.verdict, Verdict::NotObserved { reason });
    }
}

#[test]
fn two_reads_need_no_order() {
    let first = after(two(non_blocking), vec![copy(X, Y, A)]);
    let judgement =
        in_two("{ordered: {after: work}}", first, vec![copy(X, Y + 64, B)], memory(Y, 64));
    assert_eq!(
        judgement.verdict,
        Verdict::NotObserved {
            reason: Reason::NothingToOrder { step: 3, after: "work".to_owned() }
        }
    );
}

/// Memory of `emm` has no stream. Its token stands for one.
const COVERED: &str = "{covered_by: {memory: a, stream: b.token}}";

fn export(stream: Value) -> Value {
    json!({"kind": "device", "pointer": Y, "size_bytes": 64, "token": stream})
}

#[rstest]
#[case::work_on_that_stream(json!(A), |edge| vec![fill(X, if edge { A } else { B })])]
#[case::as_a_value_of_a_description(json!({"type": "int", "value": A}), |edge| vec![
    fill(X, if edge { A } else { B }),
])]
#[case::event_from_the_other_stream(json!(A), |edge| vec![
    fill(X, B), record(E, B), wait(A, E).when(edge),
])]
#[case::event_recorded_too_early(json!(A), |edge: bool| vec![
    record(E, B).when(!edge), fill(X, B), record(E, B).when(edge), wait(A, E),
])]
#[case::every_one_of_many(json!(A), |edge| vec![
    fill(X, B), record(E, B), wait(A, E), non_blocking(C), wait(C, E), launch(X, C), record(E2, C),
    wait(A, E2).when(edge),
])]
#[case::pending_reads_count(json!(A), |edge| vec![
    copy(X, Y, B), record(E, B), wait(A, E).when(edge),
])]
#[case::a_part_of_the_memory(json!(A), |edge| vec![fill(X + 60, if edge { A } else { B })])]
#[case::legacy(json!(1), |edge| vec![fill(X, if edge { 0 } else { B })])]
#[case::legacy_covers_blocking_streams(json!(1), |edge| vec![
    if edge { blocking(C) } else { non_blocking(C) }, fill(X, C),
])]
#[case::per_thread(json!(2), |edge| vec![
    fill(X, PER_THREAD).by(if edge { THREAD } else { OTHER_THREAD }),
])]
#[case::a_blocking_stream_does_not_cover_legacy(json!(C), |edge| vec![
    blocking(C), fill(X, 0), fill(Y, C).when(edge),
])]
#[case::no_stream_and_nothing_pending(json!(null), |edge| vec![fill(X, A), sync(A).when(edge)])]
#[case::none_as_a_value_of_a_description(json!({"type": "NoneType"}), |edge| vec![
    launch(X, A), sync(A).when(edge),
])]
fn a_stream_covers_pending_work(#[case] stream: Value, #[case] second: Tape) {
    let judge = |edge| in_two(COVERED, two(non_blocking), second(edge), export(stream.clone()));
    assert_eq!(judge(true).verdict, Verdict::Conforms);
    let without = judge(false);
    assert_eq!(of_expectation(&without).len(), 1, "{:?}", without.verdict);
}

#[test]
fn without_a_stream_nothing_is_pending() {
    let judge = |edge| {
        let second = vec![fill(X, A), did(F::cuCtxSynchronize, &[]).when(edge)];
        in_two("{covered_by: {memory: a}}", two(non_blocking), second, memory(Y, 64))
    };
    assert_eq!(judge(true).verdict, Verdict::Conforms);
    assert_eq!(of_expectation(&judge(false)).len(), 1);
}

#[test]
fn pending_work_is_named() {
    let second = vec![fill(X, A), sync(A), launch(X, B), record(E, B)];
    let told = |stream| {
        let judgement = in_two(COVERED, two(non_blocking), second.clone(), export(stream));
        let [finding] = judgement.findings.as_slice() else { panic!("{:?}", judgement.findings) };
        format!("expected: {}\nobserved: {}\n", finding.expected, finding.observed)
    };
    insta::assert_snapshot!(format!("{}\n{}", told(json!(A)), told(json!(null))));
}

#[test]
fn what_nobody_saw_is_not_covered() {
    let unseen = in_two(COVERED, two(non_blocking), vec![fill(Y, B)], export(json!(A)));
    let reason = Reason::NothingAccessed { step: 3, name: "a".to_owned() };
    assert_eq!(unseen.verdict, Verdict::NotObserved { reason });
    for (stream, found) in [
        (json!("A"), "\"A\""),
        (json!(0), "0"),
        (json!(-1), "-1"),
        (json!({"type": "bool", "value": true}), "{\"type\":\"bool\",\"value\":true}"),
    ] {
        let judgement = in_two(COVERED, two(non_blocking), vec![fill(X, A)], export(stream));
        let reason = Reason::NoStream { step: 3, found: found.to_owned() };
        assert_eq!(judgement.verdict, Verdict::NotObserved { reason });
    }
    let foreign = in_two(COVERED, two(non_blocking), vec![fill(X, A)], export(json!(0x77)));
    assert!(
        matches!(foreign.verdict, Verdict::NotObserved { reason: Reason::NoStream { .. } }),
        "{:?}",
        foreign.verdict
    );
    let settled =
        in_two(COVERED, two(non_blocking), vec![fill(X, A), sync(A)], export(json!(0x77)));
    assert_eq!(settled.verdict, Verdict::Conforms, "whatever the stream is");
}

/// A description of so many bytes from an address, every second one of them.
fn description(address: u64, elements: u64, stream: &Value) -> Value {
    strided(address, elements, 2, stream)
}

fn strided(address: u64, elements: u64, stride: i64, stream: &Value) -> Value {
    let int = |value: u64| json!({"type": "int", "value": value});
    let tuple = |items: Vec<Value>| json!({"type": "tuple", "items": items});
    json!({"type": "dict", "entries": {
        "shape": tuple(vec![int(elements)]),
        "strides": tuple(vec![json!({"type": "int", "value": stride})]),
        "typestr": {"type": "str", "value": "|u1"},
        "data": tuple(vec![int(address), json!({"type": "bool", "value": false})]),
        "version": int(3),
        "stream": stream,
    }})
}

#[rstest]
#[case::the_interface(|found: Value| found, "b.entries.stream")]
#[case::an_object(
    |found: Value| json!({"type": "Array", "interface": found}), "b.interface.entries.stream",
)]
fn a_description_describes_memory_and_stream(
    #[case] facts: fn(Value) -> Value,
    #[case] path: &str,
) {
    let mut case = case(
        "teardown: none\nsteps:\n  - do: {memalloc: {size: 64, as: a}}\n  \
         - do: {get_memory_info: {as: b}}\n    \
         expect: {EMM-T-01: {covered_by: {memory: b}}}\n",
    );
    // A fixture of `emm` cannot say so: none of its operations describes an array.
    let covered = case.steps[3].expect.of("EMM-T-01".into()).covered_by.as_mut();
    covered.expect("it is written above").stream = Some(path.to_owned());
    let judge = |address, elements, stream| {
        let found = facts(description(address, elements, &json!({"type": "int", "value": stream})));
        let recorder = Recorder::new(case.clone()).does(two(non_blocking), memory(X, 64));
        recorder.does(vec![fill(X, B)], found).rest().judged()
    };
    assert_eq!(judge(X + 62, 1, B).verdict, Verdict::Conforms);
    assert_eq!(of_expectation(&judge(X + 62, 1, A)).len(), 1);
    assert_eq!(
        of_expectation(&judge(X - 2, 2, A)).len(),
        1,
        "its last byte is the first that was written"
    );
    let apart =
        Verdict::NotObserved { reason: Reason::NothingAccessed { step: 3, name: "b".to_owned() } };
    assert_eq!(judge(X + 64, 8, A).verdict, apart);
    assert_eq!(judge(X - 4, 2, A).verdict, apart);
    let nothing =
        Verdict::NotObserved { reason: Reason::NoMemory { step: 3, name: "b".to_owned() } };
    assert_eq!(judge(X, 0, A).verdict, nothing);
}

#[test]
fn an_argument_with_negative_strides_reaches_down() {
    let races_at = |argument, filled| {
        let array = strided(X + 48, 49, -1, &json!({"type": "NoneType"}));
        let calls = vec![launch_in(argument, (X, 64), A), fill_bytes(filled, 8, B).harness()];
        let recorder = Recorder::new(one_step());
        races(&recorder.does(after(two(non_blocking), calls), array).rest().judged()).len()
    };
    assert_eq!(races_at(X + 48, X), 1, "the last element");
    assert_eq!(races_at(X + 48, X + 49), 0, "behind the first element");
    assert_eq!(races_at(X + 8, X), 0, "an address that no array begins at reaches upwards");
}

/// One array goes down from an address and another one up from there. A launch that is given the
/// address once may be given either.
#[rstest]
#[case::for_one_of_them(1, 0)]
#[case::for_both(2, 1)]
fn an_address_of_two_arrays_reaches_what_is_certain(#[case] times: usize, #[case] found: usize) {
    let two_steps = case(
        "teardown: none\nsteps:\n  - do: {memalloc: {size: 64, as: a}}\n  \
         - do: {memalloc: {size: 64, as: b}}\n    expect: {EMM-T-01: {returns: {}}}\n",
    );
    let down = strided(X + 32, 33, -1, &json!({"type": "NoneType"}));
    let mut launch = launch_in(X + 32, (X, 64), A);
    launch.arguments = launch.arguments.repeat(times);
    let calls = after(two(non_blocking), vec![launch, fill_bytes(X, 8, B).harness()]);
    let recorder = Recorder::new(two_steps).does(calls, down);
    let judged = recorder.does(Vec::new(), memory(X + 32, 32)).rest().judged();
    assert_eq!(races(&judged).len(), found);
}

/// The harness produces 2 rows of 4 bytes in the middle of an allocation, and a kernel gets them.
#[rstest]
#[case::in_c_order(X + 16, X + 16, 8)]
#[case::backwards(X + 23, X + 16, 8)]
#[case::rows_backwards(X + 20, X + 16, 8)]
#[case::columns_backwards(X + 19, X + 16, 8)]
#[case::one_row_for_both(X + 16, X + 16, 4)]
fn an_argument_of_the_harness_reaches_its_own_memory(
    #[case] pointer: u64,
    #[case] base: u64,
    #[case] size_bytes: u64,
) {
    let races_at = |filled| {
        let facts = json!({"pointer": pointer, "base": base, "size_bytes": size_bytes});
        let calls = vec![launch_in(pointer, (X, 64), A), fill_bytes(filled, 1, B).harness()];
        let recorder = Recorder::new(one_step());
        races(&recorder.does(after(two(non_blocking), calls), facts).rest().judged()).len()
    };
    let behind = base + size_bytes;
    assert_eq!([races_at(base - 1), races_at(behind)], [0, 0], "beside it");
    assert_eq!([races_at(base), races_at(behind - 1)], [1, 1], "its lowest and its highest byte");
}
