//! The fault sweep: which calls of a clean run fail, in which cases, and the reasons why others do
//! not.

use std::collections::BTreeMap;

use allocert_contract::trace::{Call, Marker, cuda::Function};
use allocert_suite::Catalogue;
use allocert_suite::applicability::Applicability;
use allocert_suite::interface::emm::Operation;
use allocert_suite::interface::shared::Fault;
use allocert_suite::plan::PlannedCase;
use allocert_suite::reason::Reason;
use allocert_suite::report::style::Palette;
use allocert_suite::report::terminal::{self, Detail};
use allocert_suite::report::{Completeness, Report};
use allocert_suite::run_format::Judged;
use allocert_suite::sweep::{Injection, Width, sweep};
use allocert_suite::verdict::Verdict;
use rstest::rstest;
use serde_json::json;

use crate::observation_builder::{
    CONTEXT, Recorder, alloc, call, case, catalogue, error, free, memalloc, memory, sweep_catalogue,
};
use crate::run_file::header;

const A: u64 = 0x7d00_0000_0000;
const RETURNS: &str = "{EMM-T-01: {returns: {}}}";

fn judged(recorder: Recorder) -> Judged {
    Judged { judgement: recorder.judged(), case: recorder.case, observation: Some(recorder.seen) }
}

/// Allocates and frees; the first step makes these calls besides.
fn clean(more: &[Call]) -> Judged {
    let calls: Vec<Call> = [&[alloc(A, 64)], more].concat();
    judged(
        Recorder::new(memalloc(RETURNS))
            .step(&calls, memory(A, 64))
            .step(&[free(A, 0)], json!({}))
            .rest(),
    )
}

fn all_injections(catalogue: &Catalogue, clean: &[Judged], width: Width) -> Vec<Injection> {
    sweep(catalogue, clean, width, true).collect()
}

fn ids(injections: &[Injection], what: impl Fn(&Applicability) -> bool) -> Vec<String> {
    let meant = injections.iter().filter(|injection| what(&injection.applicability));
    meant.map(|injection| injection.case.id.replace("emm/test/case", "")).collect()
}

fn runs(decision: &Applicability) -> bool {
    *decision == Applicability::Run
}

fn script(case: &PlannedCase) -> String {
    let line = |step: &allocert_suite::plan::PlannedStep| {
        let expect: BTreeMap<&str, String> = step
            .expect
            .iter()
            .map(|(id, one)| (id.as_str(), serde_json::to_string(one).expect("plain data")))
            .collect();
        let expect: Vec<String> =
            expect.into_iter().map(|(id, one)| format!("{id} {one}")).collect();
        format!(
            "{} {} | {}",
            step.index,
            serde_json::to_string(&step.r#do).expect("plain data"),
            expect.join(", ")
        )
    };
    case.steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_call_fails_once_with_each_error_that_it_can_answer() {
    let injections = all_injections(&sweep_catalogue(), &[clean(&[])], Width::Every);
    insta::assert_snapshot!(ids(&injections, runs).join("\n"), @r"
    !cuMemAlloc_v2@1=2
    !cuMemAlloc_v2@1=1
    !cuMemAlloc_v2@1=201
    !cuMemAlloc_v2@1=3
    !cuMemFree_v2@1=1
    !cuMemFree_v2@1=201
    !cuMemFree_v2@1=3
    ");
    assert_eq!(ids(&injections, |decision| !runs(decision)), ["!cuMemFree_v2@1=2"]);
    assert!(injections.iter().all(|injection| injection.case.is_swept()));
}

#[test]
fn a_swept_case_expects_what_the_clean_run_gave_or_an_error_and_probes_before_the_teardown() {
    insta::assert_snapshot!(script(
        &all_injections(&sweep_catalogue(), &[clean(&[])], Width::Every)[0].case
    ));
}

#[test]
fn a_fault_in_the_last_reset_is_followed_by_another_reset() {
    let resets =
        Recorder::new(memalloc(RETURNS)).step(&[alloc(A, 64)], memory(A, 64)).step(&[], json!({}));
    let clean = judged(resets.step(&[free(A, 0)], json!({})).rest());
    let injections = all_injections(&sweep_catalogue(), &[clean], Width::Every);
    let faulty =
        injections.iter().find(|injection| injection.case.id.ends_with("!cuMemFree_v2@1=1"));
    let steps = &faulty.expect("the reset frees").case.steps;
    let names: Vec<&str> = steps.iter().map(|step| step.r#do.name()).collect();
    let tail = [
        "fault",
        "reset",
        "clear_faults",
        "memalloc",
        "fill",
        "read",
        "drop",
        "reset",
        "destroy",
        "detach",
    ];
    assert_eq!(names[names.len() - tail.len()..], tail);
}

#[rstest]
#[case::look_up(call(Function::cuGetProcAddress_v2, &[], &[], 0), 0)]
#[case::pop(call(Function::cuCtxPopCurrent_v2, &[], &[], 0), 0)]
#[case::restored(call(Function::cuCtxSetCurrent, &[CONTEXT], &[], 0), 0)]
#[case::query(call(Function::cuMemGetInfo_v2, &[], &[1, 2], 0), 3)]
#[case::host(call(Function::cuMemHostAlloc, &[64, 0], &[], 0), 4)]
fn calls_are_swept_where_failing_means_something(#[case] call: Call, #[case] injections: usize) {
    let function = call.function;
    let mut clean = clean(&[call]);
    // A lone pop is no balanced case; what is asked here is another thing.
    clean.judgement.verdict = Verdict::Conforms;
    let swept = all_injections(&sweep_catalogue(), &[clean], Width::Every);
    let name = format!("!{function}@");
    assert_eq!(ids(&swept, runs).iter().filter(|id| id.starts_with(&name)).count(), injections);
}

/// What a fault counts are all calls; what an id counts are the subject's.
#[test]
fn a_fault_lets_the_calls_of_the_harness_through() {
    let asks = call(Function::cuMemGetInfo_v2, &[], &[1, 2], 0);
    let mut recorder = Recorder::new(memalloc(RETURNS));
    recorder.marker(Marker::StepBegin { step: 2 });
    recorder.marker(Marker::HarnessBegin);
    recorder = recorder.inside(std::slice::from_ref(&asks));
    recorder.marker(Marker::HarnessEnd);
    recorder = recorder.inside(&[asks, alloc(A, 64)]);
    recorder.marker(Marker::StepEnd { step: 2 });
    let clean = judged(recorder.silent(memory(A, 64)).step(&[free(A, 0)], json!({})).rest());
    let swept = all_injections(&sweep_catalogue(), &[clean], Width::Every);
    let first =
        &swept.iter().find(|injection| runs(&injection.applicability)).expect("one is run").case;
    assert_eq!(first.id, "emm/test/case!cuMemGetInfo_v2@1=1");
    let fault = Fault { call: "cuMemGetInfo_v2".to_owned(), nth: 2, count: 1, error: 1 };
    assert_eq!(first.steps[2].r#do, Operation::Fault(fault).into());
}

#[rstest]
#[case(Width::Every, 20)]
#[case(Width::Edges, 9)]
fn a_loop_is_swept_at_its_edges(#[case] width: Width, #[case] calls: usize) {
    let many: Vec<Call> = (1..20).map(|at| alloc(A + at * 64, 64)).collect();
    let frees: Vec<Call> = (0..20).map(|at| free(A + at * 64, 0)).collect();
    let all: Vec<Call> = [vec![alloc(A, 64)], many].concat();
    let clean = judged(
        Recorder::new(memalloc(RETURNS)).step(&all, memory(A, 64)).step(&frees, json!({})).rest(),
    );
    let swept = ids(&all_injections(&sweep_catalogue(), &[clean], width), runs);
    assert_eq!(
        swept.iter().filter(|id| id.contains("cuMemAlloc_v2") && id.ends_with("=3")).count(),
        calls
    );
    assert!(swept.contains(&"!cuMemAlloc_v2@20=3".to_owned()), "the last is swept: {swept:?}");
}

#[rstest]
#[case(Width::Edges, 14)]
#[case(Width::Sample, 7)]
fn a_sample_sweeps_a_group_once(#[case] width: Width, #[case] injections: usize) {
    let swept = all_injections(&sweep_catalogue(), &[clean(&[]), clean(&[])], width);
    assert_eq!(ids(&swept, runs).len(), injections);
    assert_eq!(swept.len(), 16, "what is not run is listed");
}

#[rstest]
#[case::own_faults(
    "steps:\n  - do: {fault: {call: cuMemAlloc_v2, error: 2}}\n    \
     expect: {EMM-T-01: {returns: {}}}\n",
    "makes driver calls fail itself"
)]
#[case::threads(
    "steps:\n  - do: {stress: {threads: 2, size: 64, times: 4}}\n    \
     expect: {EMM-T-01: {returns: {}}}\n",
    "several threads make driver calls"
)]
#[case::host(
    "operations: emm-host\nsteps:\n  - do: {open_context: {}}\n    \
     expect: {EMM-T-01: {returns: {}}}\n",
    "numba-cuda makes driver calls"
)]
fn some_cases_are_left_out_whole(#[case] steps: &str, #[case] reason: &str) {
    let recorder = Recorder::new(case(steps));
    let mut clean = judged(recorder.rest());
    clean.judgement.verdict = Verdict::Conforms;
    let swept = all_injections(&sweep_catalogue(), &[clean], Width::Every);
    let [
        Injection {
            case,
            applicability: Applicability::NotApplicable(why) | Applicability::NotObserved(why),
        },
    ] = &swept[..]
    else {
        panic!("one entry for the case: {swept:?}");
    };
    assert_eq!(case.id, "emm/test/case!*");
    assert!(why.to_string().contains(reason), "{why}");
}

#[test]
fn a_case_that_does_not_conform_is_left_out() {
    let leaks =
        judged(Recorder::new(memalloc(RETURNS)).step(&[alloc(A, 64)], memory(A, 64)).rest());
    assert_eq!(leaks.judgement.verdict, Verdict::Violates);
    assert_eq!(ids(&all_injections(&sweep_catalogue(), &[leaks], Width::Every), runs), [""; 0]);
}

/// A swept run: the fault step, then these outcomes.
fn swept(index: usize) -> Recorder {
    let case =
        all_injections(&sweep_catalogue(), &[clean(&[])], Width::Every).swap_remove(index).case;
    Recorder::new(case).step(&[], json!({}))
}

fn failing(code: i32) -> Call {
    Call { injected: true, ..call(Function::cuMemAlloc_v2, &[64], &[], code) }
}

/// The rest of a swept run whose probe is served and whose memory is given back by these calls.
fn served(recorder: Recorder, drops: &[Call]) -> Recorder {
    let probe = memory(2 * A, 4096);
    let recorder =
        recorder.step(&[], json!({})).step(&[alloc(2 * A, 4096)], probe).step(&[], json!({}));
    let recorder = recorder.step(&[], json!({"uniform": 165, "bytes_read": 4096}));
    recorder.step(&[free(2 * A, 0)], json!({})).step(drops, json!({})).rest()
}

#[test]
fn an_error_that_surfaces_is_survived() {
    let raised = swept(0).raise(&[failing(2)], error("OutOfMemory", Some(2), "no memory"));
    let survived = served(raised, &[]);
    assert_eq!(survived.judged().findings, []);
    assert_eq!(survived.verdict(), Verdict::Conforms);
}

#[test]
fn a_success_without_memory_is_found() {
    let nothing = json!({"kind": "none", "pointer": 0, "host_pointer": 0, "size_bytes": 64});
    let found = served(swept(0).step(&[failing(2)], nothing), &[]).found();
    assert!(found.contains(&"EMM-FAULT-01".to_owned()), "{found:?}");
}

#[test]
fn a_manager_that_serves_no_more_is_found() {
    let raised = swept(0).raise(&[failing(2)], error("OutOfMemory", Some(2), "no memory"));
    let found =
        raised.step(&[], json!({})).raise(&[], error("Broken", None, "as before")).rest().found();
    assert!(found.contains(&"EMM-FAULT-02".to_owned()), "{found:?}");
}

/// The subject asks the driver for memory in another way than in the clean run.
#[test]
fn a_fault_that_never_came_tells_nothing() {
    let managed = Call { function: Function::cuMemAllocManaged.into(), ..alloc(A, 64) };
    let untouched = served(swept(0).step(&[managed], memory(A, 64)), &[free(A, 0)]);
    let Verdict::NotObserved { reason: Reason::FaultNotReached { call } } = untouched.verdict()
    else {
        panic!("{:?}", untouched.judged());
    };
    assert_eq!(call, "cuMemAlloc_v2");
}

/// The subject called the functions that set and clear faults.
#[rstest]
#[case::cleared(alloc(A, 64), "cuMemAlloc_v2 (event #", "does not fail")]
#[case::set(Call { injected: true, ..free(A, 1) }, "cuMemFree_v2 (event #", "not by the case")]
fn faults_that_are_not_those_of_the_case_are_found(
    #[case] call: Call,
    #[case] function: &str,
    #[case] what: &str,
) {
    let recorder = served(swept(0).step(&[call], memory(A, 64)), &[]);
    let Verdict::HarnessError { message } = recorder.verdict() else {
        panic!("{:?}", recorder.judged())
    };
    assert!(message.contains(function) && message.contains(what), "{message}");
}

/// A worker takes the name that all versions share for the newest one.
#[rstest]
#[case("cuMemAlloc_v2")]
#[case("cuMemAlloc")]
fn a_fault_by_any_name_of_the_function_is_that_of_the_case(#[case] name: &str) {
    let text = format!(
        "steps:\n  - do: {{fault: {{call: {name}, error: 2}}}}\n  \
         - do: {{memalloc: {{size: 64, as: a}}}}\n    expect: {{EMM-T-01: {{raises: [any]}}}}\n"
    );
    let recorder = Recorder::new(case(&text)).step(&[], json!({}));
    let raised = recorder.raise(&[failing(2)], error("OutOfMemory", Some(2), "no memory"));
    assert_eq!(raised.rest().verdict(), Verdict::Conforms);
}

#[test]
fn a_finalizer_may_complain_of_the_fault() {
    let raised = swept(0).raise(&[failing(2)], error("OutOfMemory", Some(2), "no memory"));
    assert_eq!(
        served(raised, &[]).prints("Exception ignored in: <finalize object>").found(),
        [""; 0]
    );
}

#[test]
fn the_terminal_report_sums_the_sweep_up() {
    let clean = clean(&[]);
    let fine =
        served(swept(0).raise(&[failing(2)], error("OutOfMemory", Some(2), "no memory")), &[]);
    let nothing = json!({"kind": "none", "pointer": 0, "host_pointer": 0, "size_bytes": 64});
    let wrong = served(swept(1).step(&[failing(1)], nothing), &[]);
    let left_out = all_injections(&sweep_catalogue(), std::slice::from_ref(&clean), Width::Every)
        .into_iter()
        .filter(|injection| !runs(&injection.applicability))
        .map(|Injection { case, applicability }| Judged {
            judgement: allocert_suite::judge::not_run(&case, applicability),
            case,
            observation: None,
        });
    let cases: Vec<Judged> =
        [clean, judged(fine), judged(wrong)].into_iter().chain(left_out).collect();
    let (header, catalogue) = (header(), catalogue());
    let report = Report {
        header: &header,
        cases: &cases,
        catalogue: &catalogue,
        completeness: Completeness::Known,
        repeats: None,
    };
    insta::assert_snapshot!(terminal::render(&report, Detail::Causes, Palette { colour: false }));
}
