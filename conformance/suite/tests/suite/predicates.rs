//! Predicates over facts, through the judge.

use allocert_suite::verdict::Verdict;
use rstest::rstest;
use serde_json::{Value, json};

use crate::observation_builder::{Recorder, alloc, case, error, free, memalloc, memory};

fn facts() -> Value {
    json!({
        "kind": "device",
        "pointer": 0x1000,
        "size_bytes": 64,
        "bases": ["MemoryPointer"],
        "type": "Mine",
        "writable": true,
        "owner_is_none": {"size_bytes": 5},
    })
}

#[rstest]
#[case::is("size_bytes: {is: 64}", true)]
#[case::is_float("size_bytes: {is: 64.0}", true)]
#[case::is_not("size_bytes: {is: 63}", false)]
#[case::is_text("kind: {is: device}", true)]
#[case::is_bool("writable: {is: true}", true)]
#[case::not("size_bytes: {not: 63}", true)]
#[case::not_but_is("size_bytes: {not: 64}", false)]
#[case::not_of_nothing("references: {not: 64}", false)]
#[case::at_least("size_bytes: {at_least: 64}", true)]
#[case::at_least_more("size_bytes: {at_least: 65}", false)]
#[case::at_most("size_bytes: {at_most: 64}", true)]
#[case::at_most_less("size_bytes: {at_most: 63}", false)]
#[case::at_most_of_text("kind: {at_most: 63}", false)]
#[case::both("size_bytes: {at_least: 1, at_most: 63}", false)]
#[case::multiple("pointer: {multiple_of: 256}", true)]
#[case::no_multiple("pointer: {multiple_of: 8192}", false)]
#[case::one_of("kind: {one_of: [pinned, device]}", true)]
#[case::none_of_them("kind: {one_of: [pinned]}", false)]
#[case::contains("bases: {contains: MemoryPointer}", true)]
#[case::contains_not("bases: {contains: Memory}", false)]
#[case::contains_text("type: {contains: in}", true)]
#[case::path("owner_is_none.size_bytes: {is: 5}", true)]
#[case::absent("references: {absent: true}", true)]
#[case::not_absent("kind: {absent: true}", false)]
fn a_fact_satisfies_its_predicate(#[case] predicate: &str, #[case] holds: bool) {
    let case = memalloc(&format!("{{EMM-T-01: {{returns: {{{predicate}}}}}}}"));
    let recorder = Recorder::new(case)
        .step(&[alloc(0x1000, 64)], facts())
        .step(&[free(0x1000, 0)], json!({}))
        .rest();
    let expected = if holds { Vec::new() } else { vec!["EMM-T-01".to_owned()] };
    assert_eq!(recorder.found(), expected);
}

#[rstest]
#[case::same("{pointer: {same_as: a.pointer}}", 0x1000, false)]
#[case::other("{pointer: {differs_from: a.pointer}}", 0x1000, true)]
#[case::differs("{pointer: {differs_from: a.pointer}}", 0x2000, false)]
#[case::differs_but_same("{pointer: {same_as: a.pointer}}", 0x2000, true)]
#[case::disjoint("{pointer: {disjoint_from: a}}", 0x1040, false)]
#[case::one_byte_in("{pointer: {disjoint_from: a}}", 0x103f, true)]
fn a_fact_is_compared_with_an_earlier_one(
    #[case] returns: &str,
    #[case] pointer: u64,
    #[case] broken: bool,
) {
    let text = format!(
        "teardown: none\nsteps:\n  - do: {{memalloc: {{size: 64, as: a}}}}\n  \
         - do: {{drop: {{name: a}}}}\n  \
         - do: {{memalloc: {{size: 64, as: b}}}}\n    \
         expect: {{EMM-T-01: {{returns: {returns}}}}}\n"
    );
    let recorder = Recorder::new(case(&text))
        .step(&[], memory(0x1000, 64))
        .step(&[], json!({}))
        .step(&[], memory(pointer, 64))
        .rest();
    assert_eq!(recorder.found().contains(&"EMM-T-01".to_owned()), broken);
    assert_eq!(recorder.verdict() == Verdict::Violates, broken);
}

/// What failed to make the name is a finding; what refers to it is none.
#[rstest]
#[case("{pointer: {same_as: a.pointer}}")]
#[case("{pointer: {differs_from: a.pointer}}")]
#[case("{pointer: {disjoint_from: a}}")]
fn a_name_that_was_never_made_is_not_compared_with(#[case] returns: &str) {
    let text = format!(
        "teardown: none\nsteps:\n  - do: {{memalloc: {{size: 64, as: a}}}}\n  \
         - do: {{memalloc: {{size: 64, as: b}}}}\n    \
         expect: {{EMM-T-01: {{returns: {returns}}}}}\n"
    );
    let recorder = Recorder::new(case(&text)).raise(&[], error("MemoryError", None, ""));
    assert_eq!(recorder.step(&[], memory(0x1000, 64)).rest().found(), ["EMM-OP-MEMALLOC"]);
}

/// What a step did many times, and what went wrong first.
#[test]
fn a_count_of_failures_names_the_first_one() {
    let text = "steps:\n  - do: {churn: {size: 64, times: 9}}\n    \
                expect: {EMM-T-01: {returns: {failed: {is: 0}}}}\n";
    let recorder = Recorder::new(case(text));
    let counted = json!({"failed": 3, "first_failure": "KeyError: 7"});
    let judged = recorder.step(&[], counted).rest().judged();
    let observed: Vec<&str> = judged.findings.iter().map(|one| one.observed.as_str()).collect();
    assert_eq!(observed, ["failed is 3; the first failure: KeyError: 7"]);
}

#[test]
fn a_finding_says_what_was_asked_and_what_came() {
    let recorder = Recorder::new(memalloc("{EMM-T-01: {returns: {size_bytes: {is: 64}}}}"));
    let judged = recorder
        .step(&[alloc(0x1000, 128)], memory(0x1000, 128))
        .step(&[free(0x1000, 0)], json!({}))
        .rest()
        .judged();
    let [finding] = judged.findings.as_slice() else { panic!("{:?}", judged.findings) };
    assert_eq!(
        (finding.expected.as_str(), finding.observed.as_str()),
        ("size_bytes is 64", "size_bytes is 128")
    );
    assert_eq!((finding.step, finding.place.line), (Some(2), 5));
}
