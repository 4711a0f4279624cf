//! Expectations on driver calls: windows, versions of names, and calls that are not the subject's.

use allocert_contract::trace::{Event, Marker, What, cuda::Function};
use rstest::rstest;
use serde_json::json;

use crate::observation_builder::{Recorder, THREAD, alloc, call, case, free, memalloc, memory};

#[rstest]
#[case::every_version("{count: {cuMemAlloc: 1}}", false)]
#[case::one_version("{count: {cuMemAlloc_v2: 1}}", false)]
#[case::too_many("{count: {cuMemAlloc: 2}}", true)]
#[case::none("{none_of: [cuMemFree]}", false)]
#[case::not_none("{none_of: [cuMemAlloc]}", true)]
#[case::at_least("{at_least: {cuMemGetInfo: 1}}", true)]
#[case::at_most("{at_most: {cuMemAlloc: 0}}", true)]
#[case::ordered("{in_order: [cuCtxGetCurrent, cuMemAlloc]}", false)]
#[case::disordered("{in_order: [cuMemAlloc, cuCtxGetCurrent]}", true)]
fn a_window_is_counted(#[case] calls: &str, #[case] broken: bool) {
    let made = [call(Function::cuCtxGetCurrent, &[], &[0xc0], 0), alloc(0x1000, 64)];
    let recorder = Recorder::new(memalloc(&format!("{{EMM-T-01: {{calls: {calls}}}}}")));
    let recorder =
        recorder.step(&made, memory(0x1000, 64)).step(&[free(0x1000, 0)], json!({})).rest();
    assert_eq!(recorder.found() == ["EMM-T-01"], broken, "{:?}", recorder.judged());
}

#[rstest]
#[case::closed(&[0], &[0], false)]
#[case::left_open(&[0], &[], true)]
#[case::closed_twice(&[0], &[0, 1], true)]
#[case::never_opened(&[1], &[], false)]
#[case::closed_unopened(&[1], &[1], true)]
fn what_succeeds_is_undone_once(
    #[case] opened: &[i32],
    #[case] closed: &[i32],
    #[case] broken: bool,
) {
    let opened =
        opened.iter().map(|result| call(Function::cuIpcOpenMemHandle_v2, &[], &[], *result));
    let closed =
        closed.iter().map(|result| call(Function::cuIpcCloseMemHandle, &[0x2000], &[], *result));
    let made: Vec<_> = opened.chain(closed).chain([alloc(0x1000, 64)]).collect();
    let balanced = "{EMM-T-01: {calls: {balanced: {cuIpcOpenMemHandle: cuIpcCloseMemHandle}}}}";
    let recorder = Recorder::new(memalloc(balanced));
    let recorder =
        recorder.step(&made, memory(0x1000, 64)).step(&[free(0x1000, 0)], json!({})).rest();
    assert_eq!(
        recorder.found().contains(&"EMM-T-01".to_owned()),
        broken,
        "{:?}",
        recorder.judged()
    );
}

#[rstest]
#[case::one_is_left(1, true)]
#[case::one_may_be_left(2, false)]
fn as_many_allocations_are_left_as_may_be(#[case] more: u64, #[case] broken: bool) {
    let kept = format!("{{EMM-T-01: {{calls: {{kept: {{cuMemAlloc: {more}}}}}}}}}");
    let made = [alloc(0x1000, 64), alloc(0x2000, 64), alloc(0x3000, 64), free(0x3000, 0)];
    let recorder = Recorder::new(memalloc(&kept)).step(&made, memory(0x1000, 64));
    let recorder = recorder.step(&[free(0x1000, 0), free(0x2000, 0)], json!({})).rest();
    assert_eq!(recorder.found().contains(&"EMM-T-01".to_owned()), broken);
}

#[rstest]
#[case::of_host_code(true, true, &[])]
#[case::of_host_code_counts_without_own(false, true, &["EMM-T-01"])]
#[case::of_the_subject(true, false, &["EMM-T-01"])]
fn memory_that_host_code_took_is_left_out(
    #[case] own: bool,
    #[case] marked: bool,
    #[case] found: &[&str],
) {
    let kept = format!("{{EMM-T-01: {{calls: {{own: {own}, kept: {{cuMemAlloc: 0}}}}}}}}");
    let mut recorder = Recorder::new(memalloc(&kept));
    recorder = recorder.step(&[], memory(0x1000, 64));
    let end = recorder.seen.events.pop().expect("the end of the step");
    if marked {
        recorder.marker(Marker::HostCodeBegin);
    }
    recorder.event(What::Call(alloc(0x1000, 64)));
    if marked {
        recorder.marker(Marker::HostCodeEnd);
    }
    let seq = recorder.seen.events.len() as u64;
    recorder.seen.events.push(Event { seq, ..end });
    let recorder = recorder.step(&[free(0x1000, 0)], json!({})).rest();
    assert_eq!(recorder.found(), found);
}

#[test]
fn the_harness_and_its_peers_are_not_blamed() {
    let case = memalloc("{EMM-T-01: {calls: {none_of: [cuMemcpyDtoH, cuMemsetD8]}}}");
    let mut recorder = Recorder::new(case);
    recorder = recorder.step(&[alloc(0x1000, 64)], memory(0x1000, 64));
    let end = recorder.seen.events.pop().expect("the end of the step");
    recorder.marker(Marker::HarnessBegin);
    recorder.event(What::Call(call(Function::cuMemcpyDtoH_v2, &[1, 0x1000, 64], &[], 0)));
    recorder.marker(Marker::HarnessEnd);
    let seq = recorder.seen.events.len() as u64;
    let peer = What::Call(call(Function::cuMemsetD8_v2, &[0x1000, 1, 64], &[], 0));
    recorder.seen.events.push(Event { seq, thread: THREAD, process: 71, context: 0, what: peer });
    recorder.seen.events.push(Event { seq: seq + 1, ..end });
    let recorder = recorder.step(&[free(0x1000, 0)], json!({})).rest();
    assert_eq!(recorder.found(), [""; 0]);
}

#[test]
fn since_opens_the_window_earlier_and_finally_covers_everything() {
    let text = "steps:\n  - do: {memalloc: {size: 64, as: a}}\n    label: first\n  \
        - do: {drop: {name: a}}\n    \
        expect: {EMM-T-01: {calls: {in_order: [cuMemAlloc, cuMemFree], since: first}}}\n\
        finally: {EMM-T-02: {calls: {count: {cuMemFree: 2}}}}\n";
    let recorder = Recorder::new(case(text))
        .step(&[alloc(0x1000, 64)], memory(0x1000, 64))
        .step(&[free(0x1000, 0)], json!({}));
    assert_eq!(recorder.rest().found(), ["EMM-T-02"]);
}
