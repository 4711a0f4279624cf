//! Verdicts from outcomes: unexpected errors, declined steps, things not observed, and records that
//! contradict themselves.

use allocert_contract::trace::{Event, Marker, What, cuda::Function};
use allocert_suite::exit::Exit;
use allocert_suite::observation::{Ending, Observation, Outcome, Raised, StepOutcome};
use allocert_suite::reason::Reason;
use allocert_suite::verdict::{Judgement, Verdict};
use rstest::rstest;
use serde_json::json;

use crate::observation_builder::{
    CONTEXT, Recorder, THREAD, alloc, case, error, free, memalloc, memory,
};
use crate::trace_builder::unsupported;

fn skipped() -> Outcome {
    Outcome::Skipped { because: "a".to_owned() }
}

#[rstest]
#[case::raises_right("{EMM-T-01: {raises: [out_of_memory]}}", error("MemoryError", None, ""), &[])]
#[case::raises_any("{EMM-T-01: {raises: [any]}}", error("Odd", None, ""), &[])]
#[case::raises_wrong(
    "{EMM-T-01: {raises: [out_of_memory]}}", error("ValueError", None, ""), &["EMM-T-01"],
)]
#[case::message(
    "{EMM-T-01: {raises: [any], message: device 3}}", error("Odd", None, "no device 3"), &[],
)]
#[case::no_message(
    "{EMM-T-01: {raises: [any], message: device 3}}", error("Odd", None, ""), &["EMM-T-01"],
)]
#[case::either(
    "{EMM-T-01: {raises: [out_of_memory], returns: {}}}", error("MemoryError", None, ""), &[],
)]
#[case::must_return("{EMM-T-01: {returns: {}}}", error("MemoryError", None, ""), &["EMM-T-01"])]
#[case::facts_of_what(
    "{EMM-T-01: {returns: {size_bytes: {is: 64}}}}",
    error("MemoryError", None, ""),
    &["EMM-T-01", "EMM-OP-MEMALLOC"],
)]
#[case::only_compared(
    "{EMM-T-01: {returns: {pointer: {disjoint_from: a}}}}",
    error("MemoryError", None, ""),
    &["EMM-OP-MEMALLOC"],
)]
#[case::compared_and_more(
    "{EMM-T-01: {returns: {pointer: {not: 0, disjoint_from: a}}}}",
    error("MemoryError", None, ""),
    &["EMM-T-01", "EMM-OP-MEMALLOC"],
)]
#[case::of_a_deleted_object(
    "{EMM-T-01: {returns: {}}}",
    Raised { ignored_in: Some("Pool.__del__".into()), ..error("KeyError", None, "") },
    &["EMM-CHECK-FINALIZER_ERROR"],
)]
fn an_error_is_judged(#[case] expect: &str, #[case] raised: Raised, #[case] found: &[&str]) {
    let recorder =
        Recorder::new(memalloc(expect)).raise(&[], raised).outcome(&[], skipped()).rest();
    assert_eq!(recorder.found(), found);
}

#[test]
fn a_return_where_an_error_was_due_is_a_finding() {
    let recorder = Recorder::new(memalloc("{EMM-T-01: {raises: [out_of_memory, any]}}"));
    let judged = recorder
        .step(&[alloc(1, 64)], memory(1, 64))
        .step(&[free(1, 0)], json!({}))
        .rest()
        .judged();
    assert_eq!(judged.findings[0].expected, "memalloc raises out_of_memory or any");
}

#[test]
fn a_subject_that_does_nothing_violates() {
    let recorder =
        Recorder::new(memalloc("{EMM-T-01: {returns: {}}}")).step(&[], json!({"kind": "none"}));
    assert_eq!(recorder.outcome(&[], skipped()).rest().found(), ["EMM-OP-MEMALLOC"]);
}

#[rstest]
#[case::with_the_need("needs: [memory_info]\n", "not-applicable")]
#[case::without("", "violates")]
fn declining_takes_a_need(#[case] needs: &str, #[case] verdict: &str) {
    let text = format!(
        "{needs}steps:\n  - do: {{get_memory_info: {{}}}}\n    \
         expect: {{EMM-T-01: {{returns: {{}}}}}}\n"
    );
    let recorder =
        Recorder::new(case(&text)).raise(&[], error("NotImplementedError", None, "no")).rest();
    assert_eq!(recorder.verdict().name(), verdict);
}

/// After a step that was declined a case shows nothing, also not what is wrong.
#[test]
fn what_follows_a_declined_step_is_not_held_against_the_subject() {
    let text = "needs: [memory_info]\nsteps:\n  - do: {get_memory_info: {}}\n    \
        expect: {EMM-T-01: {returns: {}}}\n  \
        - do: {memalloc: {size: 64, as: a}}\n    \
        expect: {EMM-T-02: {returns: {size_bytes: {is: 65}}}}\n";
    let recorder = Recorder::new(case(text)).raise(&[], error("NotImplementedError", None, "no"));
    let recorder =
        recorder.step(&[alloc(1, 64)], memory(1, 64)).step(&[free(1, 0)], json!({})).rest();
    assert_eq!((recorder.found(), recorder.verdict().name()), (Vec::new(), "not-applicable"));
}

#[test]
fn a_worker_without_the_operation_saw_nothing() {
    let recorder = Recorder::new(memalloc("{EMM-T-01: {returns: {}}}"));
    let recorder = recorder
        .outcome(&[], Outcome::Unsupported { operation: "memalloc".to_owned() })
        .outcome(&[], skipped())
        .rest();
    assert_eq!(recorder.verdict().name(), "not-observed");
}

fn forged(change: impl Fn(&mut Observation)) -> Verdict {
    let recorder = Recorder::new(memalloc("{EMM-T-01: {returns: {}}}"));
    let mut recorder =
        recorder.step(&[alloc(1, 64)], memory(1, 64)).step(&[free(1, 0)], json!({})).rest();
    change(&mut recorder.seen);
    recorder.verdict()
}

#[test]
fn a_record_that_contradicts_itself_is_not_believed() {
    let because = |verdict: Verdict| match verdict {
        Verdict::HarnessError { message } => message,
        other => panic!("{other:?}"),
    };
    let unknown = StepOutcome {
        index: 99,
        outcome: Outcome::Returned(Default::default()),
        plugin_calls: Vec::new(),
        table_calls: None,
    };
    assert_eq!(
        because(forged(|seen| seen.steps.push(unknown.clone()))),
        "the record contradicts itself: an outcome of step 99, and the case has 7"
    );
    assert!(
        because(forged(|seen| seen.steps.swap(2, 3)))
            .ends_with("an outcome of step 3 where step 2 was due")
    );
    assert!(
        because(forged(|seen| seen.steps.truncate(4)))
            .ends_with("only 4 of 7 steps have an outcome")
    );
    assert!(
        because(forged(|seen| seen.done = false))
            .ends_with("the process ended in order, and the case was not done")
    );
    assert!(
        because(forged(|seen| seen.case = "other".to_owned())).ends_with("it is of case other")
    );
    assert!(
        because(forged(|seen| seen.steps[3].outcome = skipped()))
            .contains("which no earlier step failed to make")
    );
}

/// Event 0 begins the case; 1 to 4 are the markers of setup's two steps; 5 and 7 those of step 2,
/// which allocates.
#[rstest]
#[case::a_step_that_never_began(
    |seen: &mut Observation| { seen.events.remove(5); },
    "the trace ends step 2 where the beginning of step 2 was due (event #7)",
)]
#[case::a_step_that_never_ended(
    |seen: &mut Observation| { seen.events.remove(7); },
    "the trace begins step 3 where the end of step 2 was due (event #8)",
)]
#[case::a_step_twice(
    |seen: &mut Observation| seen.events.insert(6, seen.events[5].clone()),
    "the trace begins step 2 where the end of step 2 was due (event #5)",
)]
#[case::a_step_to_come(
    |seen: &mut Observation| seen.events.insert(5, marked(Marker::StepBegin { step: 4 }, 70)),
    "the trace begins step 4 where the beginning of step 2 was due (event #5)",
)]
#[case::no_step_at_all(
    |seen: &mut Observation| seen.events.push(marked(Marker::StepEnd { step: 77 }, 70)),
    "the trace ends step 77 where the beginning of step 7 was due (event #5)",
)]
#[case::inside_the_harness(
    |seen: &mut Observation| seen.events.insert(6, marked(Marker::HarnessBegin, 70)),
    "the trace ends step 2 between markers of the harness (event #7)",
)]
#[case::a_forked_copy(
    |seen: &mut Observation| seen.events.insert(6, marked(Marker::StepBegin { step: 3 }, 71)),
    "step 3 has a marker of process 71 too (event #5)",
)]
#[case::nothing(
    |seen: &mut Observation| seen.events.clear(),
    "step 0 has an outcome and no markers in the trace",
)]
#[case::nothing_after_a_while(
    |seen: &mut Observation| seen.events.truncate(9),
    "step 3 has an outcome and no markers in the trace",
)]
fn markers_that_no_worker_writes_are_not_believed(
    #[case] change: fn(&mut Observation),
    #[case] message: &str,
) {
    let Verdict::HarnessError { message: told } = forged(change) else { panic!("{message}") };
    assert!(told.contains(message) && told.contains("; only a subject that"), "{told}");
}

/// The markers are there, and a call is not.
#[test]
fn a_trace_with_other_events_than_were_recorded_is_not_believed() {
    let changed = |remove: bool| {
        forged(|seen| {
            seen.events_recorded = Some(seen.events.len() as u64);
            if remove {
                seen.events.remove(6);
            }
        })
    };
    assert_eq!(changed(false), Verdict::Conforms);
    let Verdict::HarnessError { message } = changed(true) else { panic!("it is not believed") };
    assert!(message.contains(" were recorded: the run file was changed"), "{message}");
}

fn marked(marker: Marker, process: u32) -> Event {
    Event { seq: 5, thread: THREAD, process, context: CONTEXT, what: What::Marker(marker) }
}

#[test]
fn a_step_that_the_worker_does_not_know_has_no_markers() {
    let recorder = Recorder::new(memalloc("{EMM-T-01: {returns: {}}}"));
    let mut recorder =
        recorder.outcome(&[], Outcome::Unsupported { operation: "memalloc".to_owned() });
    recorder.seen.events.truncate(5);
    let recorder = recorder.outcome(&[], skipped()).rest();
    assert_eq!(recorder.verdict().name(), "not-observed");
}

#[test]
fn events_in_any_disorder_make_no_panic() {
    let shuffled = forged(|seen| seen.events.reverse());
    assert_ne!(shuffled.name(), "");
    let cut = forged(|seen| seen.events.truncate(3));
    assert_ne!(cut.name(), "");
}

#[test]
fn a_lost_process_is_no_verdict_on_the_subject() {
    let lost = forged(|seen| {
        seen.done = false;
        seen.ending = Ending::Lost { message: "the socket closed".to_owned() };
    });
    assert_eq!(lost, Verdict::HarnessError { message: "the socket closed".to_owned() });
}

fn judgement(verdict: Verdict) -> Judgement {
    Judgement::without_findings("emm/a/b", verdict)
}

fn unseen() -> Verdict {
    let function = "cuGetExportTable".to_owned();
    Verdict::NotObserved { reason: Reason::NotInDriver { step: 3, function } }
}

/// The runtime answers later calls with the error of its first one, and asks nothing again.
#[rstest]
#[case::its_answer(true, error("CUDARuntimeError", None, "cudaErrorNotSupported: no"), true)]
#[case::its_code(true, error("Odd", Some(801), ""), true)]
#[case::another_error(true, error("RuntimeError", None, "no memory today"), false)]
#[case::not_begun(false, error("CUDARuntimeError", None, "cudaErrorNotSupported: no"), false)]
fn a_runtime_that_does_not_start_is_no_fault_of_the_subject(
    #[case] begins: bool,
    #[case] raised: Raised,
    #[case] excused: bool,
) {
    let steps = "steps:\n  - do: {memalloc: {size: 64, as: a}}\n    expect: {EMM-T-01: {returns: \
                 {}}}\n  - do: {memalloc: {size: 64, as: b}}\n    expect: {EMM-T-01: {returns: \
                 {}}}\n";
    let calls = if begins { vec![unsupported("cuGetExportTable")] } else { Vec::new() };
    let mut recorder = Recorder::new(case(steps)).does(calls, json!({}));
    recorder.seen.steps[2].outcome = Outcome::Raised(raised.clone());
    let recorder = recorder.raise(&[], raised).rest();
    let verdict = recorder.verdict();
    if excused {
        assert_eq!(
            (verdict, recorder.found()),
            (
                Verdict::NotObserved {
                    reason: Reason::NotInDriver {
                        step: 2,
                        function: "cuGetExportTable".to_owned()
                    }
                },
                Vec::new()
            )
        );
    } else {
        assert_eq!(verdict, Verdict::Violates);
    }
}

#[rstest]
#[case::nothing(&[], 4)]
#[case::conforms(&[Verdict::Conforms], 0)]
#[case::expected(&[Verdict::ExpectedViolation], 0)]
#[case::violates(&[Verdict::Conforms, Verdict::Violates], 1)]
#[case::violates_and_breaks(
    &[Verdict::HarnessError { message: String::new() }, Verdict::Violates], 1,
)]
#[case::breaks(&[Verdict::Conforms, Verdict::HarnessError { message: String::new() }], 3)]
#[case::unusable(&[Verdict::Conforms, Verdict::Unusable { message: String::new() }], 2)]
#[case::violates_and_unusable(
    &[Verdict::Unusable { message: String::new() }, Verdict::Violates], 1,
)]
#[case::breaks_and_unusable(
    &[
        Verdict::HarnessError { message: String::new() },
        Verdict::Unusable { message: String::new() },
    ],
    3,
)]
#[case::lost(
    &[Verdict::Conforms, Verdict::NotObserved { reason: Reason::EventsLost { events: 7 } }], 3,
)]
#[case::unseen(&[Verdict::Conforms, unseen()], 5)]
#[case::only_unseen(&[unseen()], 4)]
#[case::unseen_and_unusable(
    &[Verdict::Conforms, unseen(), Verdict::Unusable { message: String::new() }], 2,
)]
#[case::left_out(
    &[Verdict::Conforms, Verdict::NotObserved { reason: Reason::NoPeer }], 0,
)]
#[case::asks_nothing(
    &[
        Verdict::Conforms,
        Verdict::NotObserved { reason: Reason::GivenUnmet { step: 1, given: String::new() } },
    ],
    0,
)]
#[case::stopped(
    &[
        Verdict::ExpectedViolation,
        Verdict::NotObserved { reason: Reason::Stopped { timeouts: 6 } },
    ],
    3,
)]
#[case::unexpected(&[Verdict::UnexpectedConformance { message: String::new() }], 1)]
fn a_run_has_one_exit_code(#[case] verdicts: &[Verdict], #[case] code: u8) {
    let judgements: Vec<Judgement> = verdicts.iter().cloned().map(judgement).collect();
    assert_eq!(Exit::of(&judgements).code(), code);
}

#[test]
fn a_case_that_was_not_run_shows_nothing() {
    let mut recorder = Recorder::new(memalloc("{EMM-T-01: {returns: {}}}"));
    recorder.seen = Observation::silent(&recorder.case.id, Ending::Stopped { timeouts: 12 });
    let judged = recorder.judged();
    assert_eq!((judged.verdict.name(), judged.findings.len()), ("not-observed", 0));
}

/// What is mapped by functions that are recorded by name alone is in no ledger.
#[rstest]
#[case::real_driver(true, "cuMemCreate", "not-observed")]
#[case::other_function(true, "cuFuncGetName", "conforms")]
#[case::software_driver(false, "cuMemMap", "not-observed")]
fn virtual_memory_is_not_observed(
    #[case] passed_on: bool,
    #[case] name: &str,
    #[case] verdict: &str,
) {
    let function = Function::by_name(name).expect("a function of the driver");
    let mut recorder = Recorder::new(memalloc("{EMM-T-01: {returns: {}}}"));
    recorder = match passed_on {
        true => recorder.step(&[], memory(1, 64)),
        false => recorder.raise(&[], error("CudaAPIError", Some(801), "not supported")),
    };
    let what = match passed_on {
        true => What::PassedOn { function, per_thread: false },
        false => What::Unsupported { function, per_thread: false },
    };
    // Before the marker that ends the step.
    let end = recorder.seen.events.len() - 1;
    let event = Event { what, ..recorder.seen.events[end].clone() };
    recorder.seen.events.insert(end, event);
    let dropped = if passed_on { Outcome::Returned(Default::default()) } else { skipped() };
    assert_eq!(recorder.outcome(&[], dropped).rest().verdict().name(), verdict);
}

/// The second process of an IPC case calls no subject, so a driver call that fails there shows
/// something of the handle, and its own end nothing.
#[rstest]
#[case::no_answer(error("PeerFailed", None, "the second process ended with -9"), true)]
#[case::no_such_memory(error("DriverError", Some(1), "cuIpcOpenMemHandle_v2"), false)]
fn a_second_process_without_an_answer_is_a_failure_of_the_harness(
    #[case] raised: Raised,
    #[case] failure: bool,
) {
    let case = case(
        "steps:\n  - do: {memalloc: {size: 64, as: a}}\n  \
         - do: {get_ipc_handle: {memory: a, as: h}}\n  \
         - do: {peer_read: {handle: h, size: 64}}\n    \
           expect: {EMM-T-01: {returns: {uniform: {is: 1}}}}\n",
    );
    let judged = Recorder::new(case)
        .step(&[alloc(1, 64)], memory(1, 64))
        .step(&[], json!({}))
        .raise(&[], raised)
        .step(&[free(1, 0)], json!({}))
        .rest()
        .judged();
    match judged.verdict {
        Verdict::HarnessError { message } if failure => {
            assert_eq!(
                message,
                "step 4: peer_read: the second process ended with -9; this process is allocert's \
                 own and calls no subject"
            );
        }
        verdict => assert_eq!((verdict, failure), (Verdict::Violates, false)),
    }
}
