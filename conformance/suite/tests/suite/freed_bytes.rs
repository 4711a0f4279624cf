//! The expectation `freed_bytes`.

use allocert_contract::trace::{Call, cuda::Function};
use rstest::rstest;
use serde_json::json;

use crate::observation_builder::{Recorder, call, case};

const DEVICE: u64 = 0x7d00_0000_0000;
const OTHER: u64 = DEVICE + (2 << 20);

fn take(start: u64, size_bytes: u64) -> Call {
    call(Function::cuMemAlloc_v2, &[size_bytes], &[start], 0)
}

fn give(start: u64) -> Call {
    call(Function::cuMemFree_v2, &[start], &[], 0)
}

fn refused(call: Call) -> Call {
    Call { result: Some(201), ..call }
}

fn trim() -> Call {
    call(Function::cuMemPoolTrimTo, &[1, 0], &[], 0)
}

#[rstest]
#[case::all(&[give(DEVICE), give(OTHER)], 5096, None)]
#[case::one(&[give(OTHER)], 1000, None)]
#[case::nothing(&[], 0, None)]
#[case::too_little(&[give(DEVICE), give(OTHER)], 0, Some("free_bytes is 0"))]
#[case::too_much(&[give(OTHER)], 1001, Some("free_bytes is 1001"))]
#[case::what_stays(&[], 5096, Some("free_bytes is 5096"))]
#[case::what_the_driver_refused(&[refused(give(OTHER))], 1000, Some("free_bytes is 1000"))]
#[case::what_was_taken_in_the_step(&[take(OTHER + 4096, 7), give(OTHER + 4096)], 7, None)]
#[case::a_pool_that_is_trimmed(&[give(OTHER), trim()], 9000, None)]
#[case::memory_of_unknown_size(&[give(DEVICE + 64)], 9000, None)]
fn the_fact_is_what_went_back(
    #[case] calls: &[Call],
    #[case] bytes: u64,
    #[case] observed: Option<&str>,
) {
    let text = "steps:\n  - do: {memalloc: {size: 4096, as: a}}\n  \
                - do: {get_memory_info: {}}\n    \
                expect: {EMM-T-01: {freed_bytes: free_bytes}}\n";
    let block = json!({"kind": "block", "pointer": DEVICE, "size_bytes": 4096});
    let judged = Recorder::new(case(text))
        .step(&[take(DEVICE, 4096), take(OTHER, 1000)], block)
        .step(calls, json!({"free_bytes": bytes, "total_bytes": 0}))
        .rest()
        .judged();
    let found = judged.findings.iter().find(|finding| finding.requirement == "EMM-T-01");
    assert_eq!(found.map(|finding| finding.observed.as_str()), observed);
}
