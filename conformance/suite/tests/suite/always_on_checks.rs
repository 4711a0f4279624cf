//! Each always-on check has a test with a finding and a test without one.

use allocert_contract::trace::{
    Call, Event, Marker, What,
    cuda::{Function, Misuse},
};
use allocert_suite::Catalogue;
use allocert_suite::judge;
use allocert_suite::observation::{Ending, Raised};
use allocert_suite::plan::PlannedCase;
use allocert_suite::verdict::Verdict;
use rstest::rstest;
use serde_json::json;

use crate::observation_builder::{
    CONTEXT, Recorder, alloc, call, case, duty, error, free, memalloc, memory,
};

const A: u64 = 0x7d00_0000_0000;
const B: u64 = 0x7d00_0001_0000;
/// No allocation has this address.
const NOWHERE: u64 = 0x7d00_0002_0000;

/// Step 2 allocates `a`, 3 drops it, 4 resets, 5 destroys, 6 detaches.
fn one() -> PlannedCase {
    memalloc("{EMM-T-01: {returns: {}}}")
}

fn two() -> PlannedCase {
    case(
        "steps:\n  - do: {memalloc: {size: 64, as: a}}\n  - do: {memalloc: {size: 64, as: b}}\n    \
         expect: {EMM-T-01: {returns: {}}}\n",
    )
}

fn taken() -> Recorder {
    Recorder::new(one()).step(&[alloc(A, 64)], memory(A, 64))
}

fn injected(call: Call) -> Call {
    Call { injected: true, ..call }
}

#[test]
fn a_faithful_subject_has_no_finding() {
    let recorder = taken().step(&[free(A, 0)], json!({"finalized": true})).rest();
    assert_eq!(recorder.found(), [""; 0]);
    assert_eq!(recorder.verdict(), Verdict::Conforms);
    let checked = recorder.judged().checked;
    let performed = [
        "LEAK",
        "DOUBLE_FREE",
        "FOREIGN_FREE",
        "USE_AFTER_FREE",
        "OVERLAP",
        "DRIVER_MISUSE",
        "CONTEXT_BALANCE",
        "CRASH",
        "HANG",
        "CHATTER",
    ];
    for check in performed {
        assert!(checked.contains(&format!("EMM-CHECK-{check}")), "{check} was not performed");
    }
}

#[test]
fn memory_that_is_left_leaks() {
    let judged = taken().rest().judged();
    let [finding] = judged.findings.as_slice() else { panic!("{:?}", judged.findings) };
    assert_eq!(finding.requirement, "EMM-CHECK-LEAK");
    assert_eq!(finding.observed, "1 allocation of 64 bytes is left");
}

#[test]
fn memory_that_was_taken_between_markers_of_the_harness_leaks() {
    let mut recorder = Recorder::new(one());
    recorder.marker(Marker::HarnessBegin);
    recorder.event(What::Call(alloc(A, 64)));
    recorder.marker(Marker::HarnessEnd);
    assert_eq!(recorder.step(&[], memory(A, 64)).rest().found(), ["EMM-CHECK-LEAK"]);
}

/// The base class of the host took it for a subclass, and raised.
#[rstest]
#[case::by_host_code(true, &[])]
#[case::by_the_subject(false, &["EMM-CHECK-LEAK"])]
fn memory_that_host_code_lost_with_an_error_is_no_leak(
    #[case] marked: bool,
    #[case] found: &[&str],
) {
    let mut recorder = Recorder::new(memalloc("{EMM-T-01: {raises: [any]}}"));
    recorder = recorder.raise(&[], error("CudaAPIError", Some(999), "unknown"));
    let end = recorder.seen.events.pop().expect("the end of the step");
    if marked {
        recorder.marker(Marker::HostCodeBegin);
    }
    recorder.event(What::Call(alloc(A, 64)));
    if marked {
        recorder.marker(Marker::HostCodeEnd);
    }
    let seq = recorder.seen.events.len() as u64;
    recorder.seen.events.push(Event { seq, ..end });
    assert_eq!(recorder.rest().found(), found);
}

#[test]
fn memory_that_only_its_context_freed_leaks() {
    let retain = call(Function::cuDevicePrimaryCtxRetain, &[0], &[CONTEXT], 0);
    let mut recorder = Recorder::new(one());
    recorder.marker(Marker::HarnessBegin);
    recorder.event(What::Call(retain));
    recorder.marker(Marker::HarnessEnd);
    let mut recorder = recorder.step(&[alloc(A, 64)], memory(A, 64)).rest();
    recorder.marker(Marker::HarnessBegin);
    recorder.event(What::Call(call(Function::cuDevicePrimaryCtxRelease_v2, &[0], &[], 0)));
    assert_eq!(recorder.found(), ["EMM-CHECK-LEAK"]);
}

#[rstest]
#[case::without_teardown("teardown: none\n")]
#[case::at_exit("teardown: exit\n")]
fn nothing_leaks_where_nothing_was_torn_down(#[case] teardown: &str) {
    let text = format!(
        "{teardown}steps:\n  - do: {{memalloc: {{size: 64, as: a}}}}\n    \
         expect: {{EMM-T-01: {{returns: {{}}}}}}\n"
    );
    let recorder = Recorder::new(case(&text)).step(&[alloc(A, 64)], memory(A, 64)).rest();
    assert_eq!(recorder.found(), [""; 0]);
}

/// Whatever goes wrong after the last step of a case that ends as a program ends is of the exit.
#[rstest]
#[case::code(Ending::Code(3))]
#[case::signal(Ending::Signal(6))]
#[case::hangs(Ending::TimedOut { after_s: 10 })]
fn the_end_of_the_process_is_judged_as_an_exit(#[case] ending: Ending) {
    let text = "teardown: exit\nsteps:\n  - do: {memalloc: {size: 64, as: a}}\n    \
                expect: {EMM-T-01: {returns: {}}}\n";
    let mut recorder = Recorder::new(case(text)).step(&[alloc(A, 64)], memory(A, 64)).rest();
    recorder.seen.ending = ending;
    assert_eq!(recorder.found(), ["EMM-CHECK-EXIT"]);
}

#[test]
fn a_free_that_the_case_made_fail_is_no_leak() {
    let recorder = taken().step(&[injected(free(A, 700))], json!({})).rest();
    assert_eq!(recorder.found(), [""; 0]);
}

#[test]
fn no_bytes_of_host_memory_do_not_leak() {
    let nothing = call(Function::cuMemHostAlloc, &[0, 2], &[0], 0);
    let recorder = Recorder::new(one()).step(&[alloc(A, 64), nothing], memory(A, 64));
    assert_eq!(recorder.step(&[free(A, 0)], json!({})).rest().found(), [""; 0]);
}

#[test]
fn memory_is_freed_once() {
    let judged = taken().step(&[free(A, 0), free(A, 1)], json!({})).rest().judged();
    let [finding] = judged.findings.as_slice() else { panic!("{:?}", judged.findings) };
    assert_eq!(finding.requirement, "EMM-CHECK-DOUBLE_FREE");
    let roles: Vec<&str> = finding.events.iter().map(|witness| witness.role.as_str()).collect();
    assert_eq!(roles, ["allocated here", "freed here", "freed again here"]);
}

#[test]
fn an_address_that_is_given_out_again_is_freed_again() {
    let recorder = taken().step(&[free(A, 0), alloc(A, 32), free(A, 0)], json!({})).rest();
    assert_eq!(recorder.found(), [""; 0]);
}

#[rstest]
#[case::unknown(free(B, 1), true)]
#[case::interior(free(A + 8, 1), true)]
#[case::pageable(call(Function::cuMemHostUnregister, &[B], &[], 713), true)]
#[case::wrong_function(call(Function::cuMemFreeHost, &[A], &[], 1), true)]
#[case::null(free(0, 0), false)]
#[case::at_exit(free(B, 4), false)]
#[case::no_context(free(B, 201), false)]
#[case::from_before_the_case(free(B, 0), false)]
fn only_the_drivers_addresses_are_freed(#[case] wrong: Call, #[case] found: bool) {
    let recorder = taken().step(&[wrong, free(A, 0)], json!({})).rest();
    assert_eq!(recorder.found() == ["EMM-CHECK-FOREIGN_FREE"], found, "{:?}", recorder.found());
}

#[rstest]
#[case::host_to_device(Function::cuMemcpyHtoD_v2, &[A, 1, 8], true)]
#[case::device_to_host(Function::cuMemcpyDtoH_v2, &[1, A, 8], true)]
#[case::host_address_that_looks_alike(Function::cuMemcpyHtoD_v2, &[B, A, 8], false)]
#[case::middle(Function::cuMemsetD8_v2, &[A + 63, 0, 1], true)]
#[case::behind(Function::cuMemsetD8_v2, &[A + 64, 0, 1], false)]
#[case::by_words(Function::cuMemsetD32_v2, &[A - 8, 0, 4], true)]
#[case::ipc(Function::cuIpcGetMemHandle, &[A], true)]
fn freed_memory_is_not_used(#[case] function: Function, #[case] args: &[u64], #[case] found: bool) {
    let recorder = taken().step(&[free(A, 0), call(function, args, &[], 0)], json!({})).rest();
    assert_eq!(recorder.found() == ["EMM-CHECK-USE_AFTER_FREE"], found, "{:?}", recorder.found());
}

/// Nobody is blamed for how memory is freed that ended with its context.
#[rstest]
#[case::of_the_context(alloc(B, 64), false)]
#[case::of_a_pool(call(Function::cuMemAllocAsync, &[64, 0], &[B], 0), true)]
fn memory_of_a_pool_outlives_a_context(#[case] take: Call, #[case] found: bool) {
    let end = call(Function::cuCtxDestroy_v2, &[CONTEXT], &[], 0);
    let wrong = call(Function::cuMemFreeHost, &[B], &[], 1);
    let recorder = taken().step(&[free(A, 0), take, end, wrong], json!({})).rest();
    let blamed = recorder.found().contains(&"EMM-CHECK-FOREIGN_FREE".to_owned());
    assert_eq!(blamed, found, "{:?}", recorder.found());
}

#[test]
fn memory_that_the_host_holds_is_not_freed() {
    let recorder = Recorder::new(two()).step(&[alloc(A, 64)], memory(A, 64));
    let recorder = recorder
        .step(&[free(A, 0), alloc(B, 64)], memory(B, 64))
        .step(&[], json!({}))
        .step(&[free(B, 0)], json!({}));
    let judged = recorder.rest().judged();
    let [finding] = judged.findings.as_slice() else { panic!("{:?}", judged.findings) };
    assert_eq!((finding.requirement.as_str(), finding.step), ("EMM-CHECK-USE_AFTER_FREE", Some(3)));
    assert!(finding.expected.contains("`a`"), "{}", finding.expected);
}

#[rstest]
#[case::while_the_program_ends("exit", &[])]
#[case::between_the_steps("none", &["EMM-CHECK-USE_AFTER_FREE"])]
fn a_program_that_ends_lets_go_of_everything(#[case] teardown: &str, #[case] found: &[&str]) {
    let expect = "{EMM-T-01: {returns: {}}}";
    let step = format!("do: {{memalloc: {{size: 64, as: a}}}}\n    expect: {expect}");
    let case = case(&format!("teardown: {teardown}\nsteps:\n  - {step}\n"));
    let mut recorder = Recorder::new(case).step(&[alloc(A, 64)], memory(A, 64)).rest();
    recorder.event(What::Call(free(A, 0)));
    assert_eq!(recorder.found(), found);
}

#[test]
fn freed_memory_is_not_returned() {
    let recorder = Recorder::new(two())
        .step(&[alloc(A, 64), alloc(B, 64), free(B, 0)], memory(A, 64))
        .step(&[], memory(B, 64));
    assert_eq!(
        recorder.step(&[free(A, 0)], json!({})).rest().found(),
        ["EMM-CHECK-USE_AFTER_FREE"]
    );
}

#[test]
fn a_view_keeps_its_memory_held() {
    let text = "steps:\n  - do: {memalloc: {size: 64, as: a}}\n  \
        - do: {view: {of: a, offset: 8, size: 8, as: v}}\n  - do: {drop: {name: a}}\n  \
        - do: {drop: {name: v}}\n    expect: {EMM-T-01: {returns: {}}}\n";
    let made = || {
        Recorder::new(case(text)).step(&[alloc(A, 64)], memory(A, 64)).step(&[], memory(A + 8, 8))
    };
    let early = made().step(&[free(A, 0)], json!({})).step(&[], json!({})).rest();
    assert_eq!(early.found(), ["EMM-CHECK-USE_AFTER_FREE"]);
    let late = made().step(&[], json!({})).step(&[free(A, 0)], json!({})).rest();
    assert_eq!(late.found(), [""; 0]);
}

#[test]
fn live_memory_does_not_overlap() {
    let made = |pointer| {
        let recorder = Recorder::new(two())
            .step(&[alloc(A, 256)], memory(A, 64))
            .step(&[], memory(pointer, 64));
        recorder.step(&[], json!({})).step(&[free(A, 0)], json!({})).rest().found()
    };
    assert_eq!(made(A + 63), ["EMM-CHECK-OVERLAP"]);
    assert_eq!(made(A + 64), [""; 0]);
}

/// The first request is for more bytes than a process can have. What came back for it has fewer.
#[test]
fn memory_of_an_impossible_size_overlaps_nothing() {
    let recorder = Recorder::new(two())
        .step(&[alloc(A, 256)], memory(A, 1 << 62))
        .step(&[], memory(A + 64, 64));
    let found = recorder.step(&[], json!({})).step(&[free(A, 0)], json!({})).rest().found();
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_dead_stream_is_a_misuse_and_late_work_a_use_after_free() {
    let misuse = |misuse, function, args| {
        let mut recorder = taken().step(&[free(A, 0)], json!({}));
        let end = recorder.seen.events.pop().expect("the end of the step");
        recorder.event(What::Misuse { misuse, function, args });
        recorder.event(end.what);
        recorder.rest().found()
    };
    assert_eq!(
        misuse(Misuse::DestroyedStream, Function::cuStreamQuery, [5, 0]),
        ["EMM-CHECK-DRIVER_MISUSE"]
    );
    assert_eq!(
        misuse(Misuse::WorkAfterFree, Function::cuCtxSynchronize, [A, 64]),
        ["EMM-CHECK-USE_AFTER_FREE"]
    );
}

#[rstest]
#[case::balanced(&[retain(), release()], &[])]
#[case::kept_for_good_as_the_cuda_runtime_does(&[retain()], &[])]
#[case::over_released(&[release()], &["EMM-CHECK-DRIVER_MISUSE"])]
#[case::reset(
    &[call(Function::cuDevicePrimaryCtxReset_v2, &[0], &[], 0)], &["EMM-CHECK-DRIVER_MISUSE"],
)]
#[case::destroyed(
    &[call(Function::cuCtxDestroy_v2, &[CONTEXT], &[], 0)],
    &["EMM-CHECK-DRIVER_MISUSE", "EMM-CHECK-CONTEXT_BALANCE"],
)]
#[case::own(
    &[
        call(Function::cuCtxCreate_v2, &[0, 0], &[9], 0), pop(),
        call(Function::cuCtxDestroy_v2, &[9], &[], 0),
    ],
    &[],
)]
#[case::pushed_and_popped(&[push(), pop()], &[])]
#[case::pushed_twice(&[push()], &["EMM-CHECK-CONTEXT_BALANCE"])]
#[case::popped(&[pop(), push(), pop()], &["EMM-CHECK-CONTEXT_BALANCE"])]
fn contexts_of_the_host_stay(#[case] calls: &[Call], #[case] found: &[&str]) {
    let calls: Vec<Call> =
        [alloc(A, 64), free(A, 0)].into_iter().chain(calls.iter().cloned()).collect();
    let facts = json!({"kind": "device", "pointer": 0, "size_bytes": 64});
    assert_eq!(Recorder::new(one()).step(&calls, facts).rest().found(), found);
}

fn push() -> Call {
    call(Function::cuCtxPushCurrent_v2, &[CONTEXT], &[], 0)
}

fn pop() -> Call {
    call(Function::cuCtxPopCurrent_v2, &[], &[CONTEXT], 0)
}

fn retain() -> Call {
    call(Function::cuDevicePrimaryCtxRetain, &[0], &[CONTEXT], 0)
}

fn release() -> Call {
    call(Function::cuDevicePrimaryCtxRelease_v2, &[0], &[], 0)
}

#[test]
fn a_call_leaves_the_context_that_it_found() {
    let mut recorder = taken();
    let index = recorder.seen.events.len();
    recorder =
        recorder.step(&[free(A, 0), call(Function::cuCtxSetCurrent, &[0xdd], &[], 0)], json!({}));
    assert_eq!(recorder.judged().findings, []);
    recorder.seen.events[index + 3].context = 0xdd;
    let judged = recorder.rest().judged();
    let [finding] = judged.findings.as_slice() else { panic!("{:?}", judged.findings) };
    assert_eq!(finding.requirement, "EMM-CHECK-CONTEXT_BALANCE");
    assert_eq!(finding.events[0].role, "switched here");
}

#[rstest]
#[case::none(0, 0, &[], &[])]
#[case::the_one_that_the_host_takes(0, CONTEXT, &[], &[])]
#[case::that_one_twice(0, CONTEXT, &[push(), push()], &["EMM-CHECK-CONTEXT_BALANCE"])]
#[case::that_of_another_device(1, CONTEXT, &[], &["EMM-CHECK-CONTEXT_BALANCE"])]
#[case::one_of_its_own(0, 0xdd, &[], &["EMM-CHECK-CONTEXT_BALANCE"])]
fn on_a_thread_without_a_context_a_call_leaves(
    #[case] device: u64,
    #[case] left: u64,
    #[case] calls: &[Call],
    #[case] found: &[&str],
) {
    let retain = call(Function::cuDevicePrimaryCtxRetain, &[device], &[CONTEXT], 0);
    let calls: Vec<Call> = [retain, free(A, 0)].into_iter().chain(calls.iter().cloned()).collect();
    let before = taken();
    let first = before.seen.events.len();
    let mut recorder = before.step(&calls, json!({"finalized": true}));
    for event in &mut recorder.seen.events[first..] {
        event.context = 0;
    }
    recorder.seen.events.last_mut().expect("a step has markers").context = left;
    assert_eq!(recorder.rest().found(), found);
}

#[test]
fn a_crash_names_its_step_and_its_last_call() {
    let dying = Call { result: None, ..free(A, 0) };
    let judged = taken().dies(&[dying], Ending::Signal(11)).judged();
    let [finding] = judged.findings.as_slice() else { panic!("{:?}", judged.findings) };
    assert_eq!(finding.requirement, "EMM-CHECK-CRASH");
    assert_eq!(finding.observed, "the process was ended by signal 11 (SIGSEGV) in step 3 (drop)");
    assert_eq!(finding.events[0].role, "the last driver call");
}

/// `EMM-T-01` and `EMM-T-02` are expected of the same step. Only the first is shown by the end
/// of the process.
#[rstest]
#[case::crash(Ending::Signal(11), "EMM-T-03")]
#[case::hang(Ending::TimedOut { after_s: 10 }, "EMM-T-04")]
fn a_step_that_never_ends_violates_what_its_end_shows(#[case] ending: Ending, #[case] check: &str) {
    let duties = [
        ("01", "[outcome, exit]", ""),
        ("02", "[outcome]", ""),
        ("03", "[exit]", "  check: crash\n"),
        ("04", "[exit]", "  check: hang\n"),
    ];
    let text = duties.map(|(number, channels, more)| {
        let duty = duty(&format!("EMM-T-{number}"), "MUST", "plugin", more);
        duty.replace("[trace]", channels)
    });
    let text = text.concat();
    let catalogue = Catalogue::from_files([("emm/test.yaml", text.as_str())]).expect("right");
    let expected = "{EMM-T-01: {returns: {}}, EMM-T-02: {returns: {}}}";
    let recorder = Recorder::new(memalloc(expected)).dies(&[], ending);
    let judged = judge::judge(&catalogue, &recorder.case, &recorder.seen);
    let found: Vec<_> = judged.findings.iter().map(|one| (&*one.requirement, one.step)).collect();
    assert_eq!(found, [("EMM-T-01", Some(2)), (check, Some(2))]);
}

#[test]
fn a_process_that_leaves_early_with_code_0_crashed_too() {
    assert_eq!(taken().dies(&[], Ending::Code(0)).found(), ["EMM-CHECK-CRASH"]);
}

#[test]
fn a_hang_names_its_step() {
    let judged = taken().dies(&[], Ending::TimedOut { after_s: 10 }).judged();
    let [finding] = judged.findings.as_slice() else { panic!("{:?}", judged.findings) };
    assert_eq!((finding.requirement.as_str(), finding.step), ("EMM-CHECK-HANG", Some(3)));
    assert_eq!(
        finding.observed,
        "no end after 10 s in step 3 (drop); if the subject is only slow, --timeout allows more"
    );
}

#[rstest]
#[case::in_order(Ending::Done, "", &[])]
#[case::with_a_word(Ending::Done, "Exception ignored in", &["EMM-CHECK-CHATTER"])]
#[case::with_a_code(Ending::Code(1), "", &["EMM-CHECK-EXIT"])]
#[case::with_a_signal(Ending::Signal(6), "", &["EMM-CHECK-EXIT"])]
fn a_program_ends_quietly(#[case] ending: Ending, #[case] stderr: &str, #[case] found: &[&str]) {
    let text = "teardown: exit\nsteps:\n  - do: {memalloc: {size: 64, as: a}}\n    \
        expect: {EMM-T-01: {returns: {}}}\n";
    let mut recorder =
        Recorder::new(case(text)).step(&[alloc(A, 64)], memory(A, 64)).rest().prints(stderr);
    recorder.seen.ending = ending;
    assert_eq!(recorder.found(), found);
}

#[test]
fn chatter_is_a_warning() {
    let recorder = taken().step(&[free(A, 0)], json!({})).rest().prints("hello\n");
    assert_eq!(recorder.found(), ["EMM-CHECK-CHATTER"]);
    assert_eq!(recorder.verdict(), Verdict::Conforms);
}

/// A step that expects no output, as the check does, adds no finding.
#[test]
fn chatter_counts_once() {
    let text = "teardown: exit\nsteps:\n  - do: {memalloc: {size: 64, as: a}}\n    \
        expect: {EMM-CHECK-CHATTER: {output: empty}}\n";
    let recorder =
        Recorder::new(case(text)).step(&[alloc(A, 64)], memory(A, 64)).rest().prints("hello\n");
    assert_eq!(recorder.found(), ["EMM-CHECK-CHATTER"]);
}

#[test]
fn a_finalizer_raises_nothing() {
    let recorder = taken().raise(&[free(A, 0)], error("RuntimeError", None, "too late")).rest();
    assert_eq!(recorder.found(), ["EMM-CHECK-FINALIZER_ERROR"]);
}

#[rstest]
#[case::of_the_sweep(injected(free(A, 1)), &[])]
#[case::of_the_driver(free(A, 1), &["EMM-CHECK-FINALIZER_ERROR", "EMM-CHECK-LEAK"])]
fn a_finalizer_may_raise_what_the_case_made_fail(#[case] call: Call, #[case] found: &[&str]) {
    let raised = error("CudaAPIError", Some(1), "[1] Call to cuMemFree");
    let ignored = Raised { ignored_in: Some("Pool.free".into()), ..raised };
    let recorder = taken().raise(&[call], ignored).rest();
    assert_eq!(recorder.found(), found);
}

#[test]
fn a_trace_with_gaps_says_nothing_about_memory() {
    let mut recorder = taken().rest();
    recorder.seen.events_lost = 3;
    assert_eq!(recorder.found(), [""; 0]);
    assert_eq!(recorder.verdict().name(), "not-observed");
}

#[test]
fn a_flood_is_counted_and_cut() {
    let calls: Vec<Call> = (0..100).map(|index| free(B + index, 1)).chain([free(A, 0)]).collect();
    let judged = taken().step(&calls, json!({})).rest().judged();
    assert_eq!(judged.findings.len(), 8);
    assert!(
        judged.findings[7]
            .observed
            .ends_with("(one of 100 in this case; the others are not listed)"),
        "{}",
        judged.findings[7].observed
    );
}

/// numba.cuda makes an empty slice without memory, so it keeps nothing alive.
#[rstest]
#[case::of_no_bytes(0, &[])]
#[case::of_bytes(8, &["EMM-CHECK-USE_AFTER_FREE"])]
fn a_view_holds_the_bytes_that_it_has(#[case] size_bytes: u64, #[case] found: &[&str]) {
    let text = format!(
        "steps:\n  - do: {{memalloc: {{size: 64, as: a}}}}\n  \
         - do: {{view: {{of: a, offset: 0, size: {size_bytes}, as: v}}}}\n  \
         - do: {{drop: {{name: a}}}}\n    expect: {{EMM-T-01: {{returns: {{}}}}}}\n"
    );
    let recorder = Recorder::new(case(&text))
        .step(&[alloc(0x1000, 64)], memory(0x1000, 64))
        .step(&[], memory(0x1000, size_bytes))
        .step(&[free(0x1000, 0)], json!({"finalized": true}))
        .rest();
    assert_eq!(recorder.found(), found);
}

/// Steps 2 and 3 allocate; 4 allocates with a function that the driver does not have; 5 drops.
fn lacks_function(before: &[Call], after: &[Call], rest: &[Call]) -> Recorder {
    let steps = "steps:\n  - do: {memalloc: {size: 64, as: a}}\n  \
                 - do: {memalloc: {size: 64, as: b}}\n  \
                 - do: {memalloc: {size: 64, as: c}}\n  - do: {drop: {name: b}}\n    \
                 expect: {EMM-T-01: {returns: {finalized: {is: true}}}}\n";
    let second: Vec<Call> = [&[alloc(B, 64)], before].concat();
    let mut recorder = Recorder::new(case(steps))
        .step(&[alloc(A, 64)], memory(A, 64))
        .step(&second, memory(B, 64))
        .raise(&[], error("RuntimeError", Some(801), "not supported"));
    let end = recorder.seen.events.pop().expect("the end of the step");
    recorder.event(What::Unsupported { function: Function::cuMemCreate, per_thread: false });
    recorder.event(end.what);
    recorder.step(after, json!({"finalized": false})).step(rest, json!({})).rest()
}

#[rstest]
#[case::nothing(&[], &[], &[free(A, 0), free(B, 0)], "not-observed", &[])]
#[case::before(
    &[free(NOWHERE, 1)], &[], &[free(A, 0), free(B, 0)], "violates",
    &["EMM-CHECK-FOREIGN_FREE"],
)]
#[case::after(
    &[], &[free(B, 0), free(B, 1), free(NOWHERE, 1)], &[free(A, 0)], "not-observed", &[],
)]
#[case::never_given_back(&[], &[free(B, 0)], &[], "violates", &["EMM-CHECK-LEAK"])]
fn what_a_missing_function_may_have_caused_is_no_finding(
    #[case] before: &[Call],
    #[case] after: &[Call],
    #[case] rest: &[Call],
    #[case] verdict: &str,
    #[case] findings: &[&str],
) {
    let recorder = lacks_function(before, after, rest);
    assert_eq!(
        (recorder.verdict().name(), recorder.found()),
        (verdict, findings.iter().map(ToString::to_string).collect())
    );
}

#[rstest]
#[case::missing(true, "not-observed")]
#[case::there(false, "violates")]
fn a_crash_at_the_end_may_come_from_a_missing_function(#[case] lacks: bool, #[case] verdict: &str) {
    let text = "teardown: exit\nsteps:\n  - do: {memalloc: {size: 64, as: a}}\n  \
                - do: {memalloc: {size: 64, as: b}}\n    \
                expect: {EMM-T-01: {returns: {}}}\n";
    let mut recorder = Recorder::new(case(text)).step(&[], memory(A, 64));
    let refused = error("RuntimeError", Some(801), "not supported");
    recorder = if lacks { recorder.raise(&[], refused) } else { recorder.step(&[], memory(B, 64)) };
    let end = recorder.seen.events.pop().expect("the end of the step");
    recorder.event(What::Unsupported { function: Function::cuMemCreate, per_thread: false });
    recorder.event(end.what);
    let mut recorder = recorder.rest();
    recorder.seen.ending = Ending::Signal(11);
    assert_eq!(recorder.verdict().name(), verdict);
}
