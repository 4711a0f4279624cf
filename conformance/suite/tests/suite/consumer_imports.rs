//! What a consumer imports: facts that its adapter reports or leaves out, and arrays that it
//! refuses.

use allocert_contract::trace::cuda::Function;
use allocert_suite::observation::Outcome;
use allocert_suite::reason::Reason;
use allocert_suite::verdict::{Judgement, Verdict};
use allocert_suite::{Catalogue, fixture, judge};
use rstest::rstest;
use serde_json::{Value, json};

use crate::observation_builder::{Recorder, error, memory};
use crate::trace_builder::{A, B, Do, X, Y, alloc, destroy, did, fill, non_blocking, unsupported};

/// What a case that produces `p` and then goes on like this is judged, with what its own steps came
/// to.
fn judged(steps: &str, play: impl FnOnce(Recorder) -> Recorder) -> Judgement {
    let catalogue = Catalogue::embedded().unwrap_or_else(|refusals| panic!("{refusals:#?}"));
    let text = format!(
        "# A case of the suite's own tests.\ncase: cai-consumer/test\nabout: a test\nsteps:\n  \
         - do: {{produce: {{shape: [2], as: p}}}}\n{steps}"
    );
    let case = fixture::plan_file("cases/cai-consumer/test.yaml", &text, &catalogue);
    let case = case.unwrap_or_else(|refusal| panic!("{refusal}")).remove(0);
    let recorder = play(Recorder::new(case).step(&[], memory(X, 64))).rest();
    judge::judge(&catalogue, &recorder.case, &recorder.seen)
}

fn requirements(judgement: &Judgement) -> Vec<&str> {
    judgement.findings.iter().map(|finding| finding.requirement.as_str()).collect()
}

const MASKED: &str = "  - do: {import: {of: p, as: i}}\n    \
    expect: {CAI-MASK-52: {returns: {valid: {is: [false, true]}}, raises: [any]}}\n";

#[rstest]
#[case::obeyed(json!({"valid": [false, true]}), "conforms", &[])]
#[case::passed_over(json!({"valid": [true, true]}), "violates", &["CAI-MASK-52"])]
#[case::not_told(json!({"shape": [2]}), "not-observed", &[])]
fn what_an_adapter_does_not_tell_is_not_judged(
    #[case] facts: Value,
    #[case] verdict: &str,
    #[case] findings: &[&str],
) {
    let judgement = judged(MASKED, |recorder| recorder.step(&[], facts));
    assert_eq!(
        (judgement.verdict.name(), requirements(&judgement).as_slice()),
        (verdict, findings)
    );
}

#[rstest]
#[case::of_a_copy(json!({"shape": [2]}), "not-applicable")]
#[case::of_a_view(json!({"shape": [2], "pointer": X}), "not-observed")]
#[case::not_told(json!({}), "not-observed")]
#[case::told(json!({"shape": [2], "pointer": X, "strides": [8]}), "conforms")]
fn a_copy_has_no_strides_to_tell(#[case] facts: Value, #[case] verdict: &str) {
    let steps = "  - do: {import: {of: p, as: i}}\n    \
                 expect: {CAI-STRIDES-53: {returns: {strides: {is: [8]}}, raises: [any]}}\n";
    let judgement = judged(steps, |recorder| recorder.step(&[], facts));
    assert_eq!(judgement.verdict.name(), verdict);
}

#[test]
fn after_a_refusal_a_case_shows_nothing() {
    let steps = "  - do: {import: {of: p, as: i}}\n  - do: {inspect: {on: p}}\n    \
                 expect: {CAI-CONSUME-51: {returns: {uniform: {is: 5}}}}\n";
    let refused = error("LookupError", None, "no such stream");
    let judgement =
        judged(steps, |recorder| recorder.raise(&[], refused).step(&[], json!({"uniform": 7})));
    assert_eq!(requirements(&judgement), ["CAI-DICT-57"]);
    let (operation, message) = ("import".to_owned(), "no such stream".to_owned());
    assert_eq!(
        judgement.verdict,
        Verdict::NotApplicable { reason: Reason::Refused { step: 3, operation, message } }
    );
    let told =
        judged(steps, |recorder| recorder.step(&[], json!({})).step(&[], json!({"uniform": 7})));
    assert_eq!(requirements(&told), ["CAI-CONSUME-51"], "without the refusal it would have");
}

#[rstest]
#[case::called(true, "not-observed", &[])]
#[case::not_called(false, "violates", &["CAI-CONSUME-51"])]
fn what_the_software_driver_lacks_is_not_judged(
    #[case] called: bool,
    #[case] verdict: &str,
    #[case] findings: &[&str],
) {
    let steps = "  - do: {subject_stream: {kind: new, as: s}}\n  - do: {inspect: {on: p}}\n    \
                 expect: {CAI-CONSUME-51: {returns: {uniform: {is: 5}}}}\n";
    let judgement = judged(steps, |recorder| {
        let calls = if called { vec![unsupported("cuStreamBeginCapture_v2")] } else { Vec::new() };
        let mut recorder = recorder.does(calls, json!({}));
        recorder.seen.steps[3].outcome = Outcome::Raised(error("RuntimeError", None, "no capture"));
        recorder.step(&[], json!({"uniform": 7}))
    });
    if called {
        let function = "cuStreamBeginCapture_v2".to_owned();
        let reason = Reason::NotInDriver { step: 3, function };
        assert_eq!(judgement.verdict, Verdict::NotObserved { reason });
    }
    assert_eq!(
        (judgement.verdict.name(), requirements(&judgement).as_slice()),
        (verdict, findings)
    );
}

/// Work on the bytes beside an array is nobody's pending work on it.
#[rstest]
#[case::behind("pend_behind", &["CAI-DATA-61"])]
#[case::in_front("pend_in_front", &["CAI-DATA-61"])]
#[case::on_the_data("pend", &["CAI-RACE-51"])]
fn races_beside_an_array_have_their_own_requirement(
    #[case] operation: &str,
    #[case] findings: &[&str],
) {
    let steps = format!(
        "  - do: {{stream: {{kind: non_blocking, as: s}}}}\n  - do: {{{operation}: {{on: p, \
         stream: s, byte: 9}}}}\n  - do: {{import: {{of: p, as: i}}}}\n  - do: {{access: {{on: \
         i}}}}\n    expect: {{CAI-DATA-58: {{returns: {{}}}}}}\n"
    );
    let judgement = judged(&steps, |recorder| {
        recorder
            .does(vec![non_blocking(A), non_blocking(B)], json!({"handle": A}))
            .does(vec![fill(X, A).harness()], json!({}))
            .step(&[], json!({}))
            .does(vec![fill(X, B)], json!({}))
    });
    assert_eq!(requirements(&judgement), findings);
}

#[test]
fn without_an_adapter_nothing_is_shown_of_the_library() {
    let steps =
        "  - do: {inspect: {on: p}}\n    expect: {CAI-CONSUME-51: {returns: {uniform: {is: 5}}}}\n";
    let judgement = judged(steps, |mut recorder| {
        recorder.seen.steps[1].outcome = Outcome::Raised(error("RuntimeError", None, "no licence"));
        recorder.step(&[], json!({"uniform": 7}))
    });
    assert!(judgement.findings.is_empty(), "{:?}", judgement.findings);
    let Verdict::Unusable { message } = judgement.verdict else {
        panic!("{:?}", judgement.verdict)
    };
    insta::assert_snapshot!(
        message,
        @"the subject's adapter could not be made: its class, called without arguments, raised \
        RuntimeError: no licence; make the constructor work without the library's optional parts, \
        and let the methods decline what the library cannot do"
    );
}

#[rstest]
#[case::honoured(json!({"valid": [false, true]}), "not-applicable")]
#[case::passed_over(json!({"valid": [true, true]}), "conforms")]
fn an_error_is_judged_where_something_is_asked(#[case] facts: Value, #[case] verdict: &str) {
    let steps = "  - do: {import: {of: p, as: i}}\n    expect: {CAI-MASK-51: {returns: {}}}\n  \
        - do: {access: {on: i}}\n    \
        expect: {CAI-MASK-56: {given: {i.valid: {not: [true, true]}}, returns: {}}}\n";
    let unreadable = error("LookupError", None, "no mask");
    let judgement = judged(steps, |recorder| recorder.step(&[], facts).raise(&[], unreadable));
    assert_eq!(judgement.verdict.name(), verdict);
}

#[rstest]
#[case::must("CAI-SHAPE-55: {returns: {shape: {is: [2]}}}")]
#[case::should("CAI-DICT-55: {returns: {unchanged: {is: true}}}")]
#[case::both(
    "CAI-SHAPE-55: {returns: {shape: {is: [2]}}}, CAI-DICT-55: {returns: {unchanged: {is: true}}}"
)]
fn a_refusal_is_told_once(#[case] expected: &str) {
    let steps = format!("  - do: {{import: {{of: p, as: i}}}}\n    expect: {{{expected}}}\n");
    let judgement =
        judged(&steps, |recorder| recorder.raise(&[], error("LookupError", None, "no such shape")));
    assert_eq!(
        (requirements(&judgement), judgement.verdict.name()),
        (vec!["CAI-DICT-57"], "not-applicable")
    );
}

#[rstest]
#[case::read("{access: {on: i}}", &["CAI-DICT-59"])]
#[case::write("{access: {on: i, write: 5}}", &[])]
fn a_refusal_to_use_an_import_breaks_no_must(#[case] operation: &str, #[case] findings: &[&str]) {
    let steps = format!(
        "  - do: {{import: {{of: p, as: i}}}}\n  - do: {operation}\n    \
         expect: {{CAI-DATA-58: {{returns: {{}}}}}}\n"
    );
    let refused = error("TypeError", None, "no such operation");
    let judgement = judged(&steps, |recorder| recorder.step(&[], json!({})).raise(&[], refused));
    assert_eq!(
        (requirements(&judgement).as_slice(), judgement.verdict.name()),
        (findings, "not-applicable")
    );
}

#[test]
fn a_case_whose_conditions_all_fail_is_not_observed() {
    let steps = "  - do: {import: {of: p, as: i}}\n    \
        expect: {CAI-MASK-53: {given: {p.pointer: {is: 1}}, returns: {}}}\n";
    let judgement = judged(steps, |recorder| recorder.step(&[], json!({})));
    let Verdict::NotObserved { reason } = judgement.verdict else {
        panic!("{:?}", judgement.verdict)
    };
    insta::assert_snapshot!(
        reason,
        @"the case asks nothing of this subject: step 3 expects something only if p.pointer is 1"
    );
}

/// Whoever took memory or made a stream gives it back.
#[rstest]
#[case::memory_of_the_worker(alloc(X).harness(), free_of(X), &["CAI-LIFE-54"])]
#[case::own_memory(alloc(Y), free_of(Y), &[])]
#[case::by_the_worker(alloc(X).harness(), free_of(X).harness(), &[])]
#[case::refused(alloc(X).harness(), free_of(X).result(1), &[])]
#[case::stream_of_the_worker(non_blocking(A).harness(), destroy(A), &["CAI-LIFE-55"])]
#[case::own_stream(non_blocking(A), destroy(A), &[])]
#[case::stream_by_the_worker(non_blocking(A).harness(), destroy(A).harness(), &[])]
#[case::stream_refused(non_blocking(A).harness(), destroy(A).result(400), &[])]
fn what_the_worker_made_is_not_the_subjects_to_end(
    #[case] taken: Do,
    #[case] ended: Do,
    #[case] findings: &[&str],
) {
    let steps = "  - do: {import: {of: p, as: i}}\n    expect: {CAI-DATA-58: {returns: {}}}\n  \
                 - do: {drop: {name: i}}\n";
    let judgement = judged(steps, |recorder| {
        recorder.does(vec![taken], json!({})).does(vec![ended], json!({}))
    });
    assert_eq!(requirements(&judgement), findings);
}

fn free_of(address: u64) -> Do {
    did(Function::cuMemFree_v2, &[address])
}
