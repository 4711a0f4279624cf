//! Exports: each defect of a description is a finding under the requirement that the catalogue
//! gives it.

use std::collections::BTreeSet;

use allocert_suite::plan::PlannedCase;
use allocert_suite::verdict::{Judgement, Verdict};
use allocert_suite::{Catalogue, Side, fixture, judge};
use rstest::rstest;
use serde_json::{Value, json};

use crate::observation_builder::{Recorder, error};

fn catalogue() -> Catalogue {
    Catalogue::embedded().unwrap_or_else(|refusals| panic!("{refusals:#?}"))
}

#[test]
fn every_defect_has_a_requirement_and_every_name_of_one_is_known() {
    let catalogue = catalogue();
    for side in Side::all() {
        let known: BTreeSet<String> = judge::defects(side).into_iter().collect();
        let named: BTreeSet<String> = catalogue.defects(side).map(str::to_owned).collect();
        assert_eq!(named, known, "{side}");
    }
    assert_eq!(
        catalogue.defects(Side::CaiConsumer).count(),
        0,
        "consumers export nothing of their own"
    );
}

/// The description of a vector of four single precision numbers at 0x1000, with one entry as given.
fn vector(key: &str, value: Value) -> Value {
    let int = |value: i64| json!({"type": "int", "value": value});
    let mut entries = json!({
        "shape": {"type": "tuple", "items": [int(4)]},
        "typestr": {"type": "str", "value": "<f4"},
        "data": {"type": "tuple", "items": [int(0x1000), {"type": "bool", "value": false}]},
        "version": int(3),
    });
    entries[key] = value;
    json!({"type": "dict", "entries": entries})
}

/// A case that exports once.
fn exporting() -> PlannedCase {
    let text = "# A case of the suite's own tests.\ncase: cai-producer/test\nabout: a test\n\
        steps:\n  \
        - do: {array: {shape: [4], as: a}}\n  - do: {export: {of: a, as: e}}\n    \
        expect: {CAI-DICT-01: {returns: {}}}\n";
    let case = fixture::plan_file("cases/cai-producer/test.yaml", text, &catalogue());
    case.unwrap_or_else(|refusal| panic!("{refusal}")).remove(0)
}

/// What is found in it, with these facts.
fn found(facts: Value) -> Vec<String> {
    let recorder = Recorder::new(exporting()).step(&[], json!({})).step(&[], facts).rest();
    let judgement = judge::judge(&catalogue(), &recorder.case, &recorder.seen);
    judgement.findings.iter().map(|one| format!("{}: {}", one.requirement, one.observed)).collect()
}

#[rstest]
#[case("stream", json!({"type": "int", "value": 0}), "CAI-STREAM-02")]
#[case("shape", json!({"type": "list", "items": [{"type": "int", "value": 4}]}), "CAI-SHAPE-01")]
#[case("typestr", json!({"type": "str", "value": "=f4"}), "CAI-TYPE-02")]
#[case("version", json!({"type": "int", "value": 4}), "CAI-VERSION-02")]
#[case("strides", json!({"type": "tuple", "items": []}), "CAI-STRIDES-03")]
#[case("mask", json!({"type": "dict", "entries": {}}), "CAI-MASK-01")]
#[case(
    "mask", json!({"type": "Mask", "interface": {"type": "dict", "entries": {}}}), "CAI-MASK-03",
)]
fn a_defect_is_found(#[case] key: &str, #[case] value: Value, #[case] requirement: &str) {
    let found = found(json!({"description": vector(key, value)}));
    assert!(!found.is_empty() && found.iter().all(|one| one.starts_with(requirement)), "{found:?}");
}

/// What keeps no array from conforming keeps none with such a mask.
#[test]
fn a_mask_is_held_to_no_more_than_an_array() {
    let mut mask = vector("strides", json!({"type": "NoneType"}));
    mask["type"] = json!("Tabled");
    mask["base"] = json!("dict");
    let found =
        found(json!({"description": vector("mask", json!({"type": "Mask", "interface": mask}))}));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("CAI-DICT-07: mask."), "{found:?}");
}

#[rstest]
#[case(json!({"known": false}), "CAI-DATA-03: data[0]: the driver knows no memory at 0x1000")]
#[case(
    json!({"known": true, "base": 0x1000, "size_bytes": 15}),
    "CAI-DATA-09: data[0]: elements lie at 0x1000..=0x100f, and the allocation is 0x1000..0x100f, \
     15 bytes"
)]
fn memory_is_what_the_driver_says(#[case] memory: Value, #[case] finding: &str) {
    let description = vector("strides", json!({"type": "NoneType"}));
    assert_eq!(found(json!({"description": description, "memory": memory})), [finding]);
}

#[test]
fn a_stream_that_the_driver_does_not_know_is_found() {
    let description = vector("stream", json!({"type": "int", "value": 77}));
    let dead = found(json!({"description": description, "stream_flags": null}));
    assert_eq!(dead, ["CAI-STREAM-04: stream: the driver knows no stream 0x4d"]);
    assert_eq!(found(json!({"description": description, "stream_flags": 1})), [""; 0]);
}

#[rstest]
#[case(json!(3), &["CAI-STREAM-02: stream is 0"])]
#[case(json!(2), &[])]
#[case(json!(null), &[])]
fn what_is_not_given_is_not_asked(#[case] version: Value, #[case] wanted: &[&str]) {
    let text = "# A case of the suite's own tests.\ncase: cai-producer/test\nabout: a test\n\
        steps:\n  \
        - do: {array: {shape: [4], as: a}}\n  - do: {export: {of: a, as: e}}\n    \
        expect: {CAI-STREAM-02: {given: {e.version: {is: 3}}, returns: {stream: {not: 0}}}}\n";
    let case = fixture::plan_file("cases/cai-producer/test.yaml", text, &catalogue());
    let case = case.unwrap_or_else(|refusal| panic!("{refusal}")).remove(0);
    let facts = json!({"version": version, "stream": 0});
    let recorder = Recorder::new(case).step(&[], json!({})).step(&[], facts).rest();
    let judgement = judge::judge(&catalogue(), &recorder.case, &recorder.seen);
    let found: Vec<String> = judgement
        .findings
        .iter()
        .map(|one| format!("{}: {}", one.requirement, one.observed))
        .collect();
    assert_eq!(found, wanted);
    assert_eq!(judgement.checked.contains("CAI-STREAM-02"), !wanted.is_empty());
}

#[test]
fn what_was_too_long_to_be_written_down_is_not_taken_for_conforming() {
    let field = json!({
        "type": "tuple",
        "items": [{"type": "str", "value": "x"}, {"type": "str", "value": "<f4"}],
    });
    let description = vector("descr", json!({"type": "list", "items": [field], "truncated": 1024}));
    let case = Recorder::new(exporting())
        .step(&[], json!({}))
        .step(&[], json!({"description": description}))
        .rest();
    let judgement = judge::judge(&catalogue(), &case.case, &case.seen);
    let Verdict::NotObserved { reason } = judgement.verdict else {
        panic!("{:?}", judgement.verdict)
    };
    insta::assert_snapshot!(
        reason.to_string(),
        @"`descr` of the export in step 3 is too long or too deep to be judged"
    );
}

#[test]
fn a_subject_cannot_make_the_judge_stumble() {
    for description in [
        json!(3),
        json!({}),
        json!({"type": "dict"}),
        json!({"type": "dict", "entries": {"shape": 3}}),
    ] {
        let _findings =
            found(json!({"description": description, "memory": 7, "stream_flags": "x"}));
    }
}

#[test]
fn what_an_adapter_declines_is_not_applicable() {
    let text = "# A case of the suite's own tests.\ncase: cai-producer/test\nabout: a test\n\
        steps:\n  \
        - do: {array: {shape: [4], as: a}}\n    expect: {CAI-SHAPE-03: {returns: {}}}\n";
    let case = fixture::plan_file("cases/cai-producer/test.yaml", text, &catalogue());
    let case = case.unwrap_or_else(|refusal| panic!("{refusal}")).remove(0);
    let declined = serde_json::from_value(json!({"declined": {"because": "no such arrays"}}))
        .expect("an outcome");
    let recorder = Recorder::new(case).outcome(&[], declined).rest();
    let judgement = judge::judge(&catalogue(), &recorder.case, &recorder.seen);
    let Verdict::NotApplicable { reason } = judgement.verdict else {
        panic!("{:?}", judgement.verdict)
    };
    insta::assert_snapshot!(
        reason.to_string(),
        @"the subject declined array in step 2: no such arrays"
    );
}

/// A case that makes an array, exports it, and makes another one, which raises an error.
fn judged_with_error(description: Value, traceback: &[&str]) -> Judgement {
    let text = "# A case of the suite's own tests.\ncase: cai-producer/test\nabout: a test\n\
        steps:\n  \
        - do: {array: {shape: [4], as: a}}\n  - do: {export: {of: a, as: e}}\n    \
        expect: {CAI-DICT-01: {returns: {}}}\n  \
        - do: {array: {shape: [4], as: b}}\n";
    let case = fixture::plan_file("cases/cai-producer/test.yaml", text, &catalogue());
    let case = case.unwrap_or_else(|refusal| panic!("{refusal}")).remove(0);
    let mut raised = error("KeyError", None, "no key");
    raised.traceback = traceback.iter().copied().map(Box::from).collect();
    let recorder = Recorder::new(case)
        .step(&[], json!({}))
        .step(&[], json!({"description": description}))
        .raise(&[], raised)
        .rest();
    judge::judge(&catalogue(), &recorder.case, &recorder.seen)
}

#[test]
fn an_error_that_passed_through_the_adapter_is_no_fault_of_the_suite() {
    let fine = vector("version", json!({"type": "int", "value": 3}));
    let Verdict::Unusable { message } =
        judged_with_error(fine.clone(), &["a.py:3 in array", "b.py:4 in make"]).verdict
    else {
        panic!("the traceback shows the adapter")
    };
    insta::assert_snapshot!(
        message,
        @"step 4: array raised KeyError: no key, at a.py:3 in array, b.py:4 in make; this is a \
        fault of the adapter or of its library: correct it, or raise NotImplementedError for what \
        the library cannot do"
    );
    let verdict = judged_with_error(fine, &[]).verdict;
    assert!(matches!(verdict, Verdict::HarnessError { .. }), "{verdict:?}");
}

#[test]
fn an_error_of_the_adapter_hides_no_violation() {
    let wrong = vector("shape", json!({"type": "int", "value": 4}));
    let judgement = judged_with_error(wrong, &["a.py:3 in array"]);
    assert_eq!(judgement.verdict, Verdict::Violates, "{:?}", judgement.findings);
}
