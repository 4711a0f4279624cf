//! The expectation `page_locked`.

use allocert_contract::trace::{Call, cuda::Function};
use rstest::rstest;
use serde_json::json;

use crate::observation_builder::{Recorder, call, case};

const BUFFER: u64 = 0x5500_0000_0040;

fn lock(start: u64, size_bytes: u64) -> Call {
    call(Function::cuMemHostRegister_v2, &[start, size_bytes, 0], &[], 0)
}

fn unlock(start: u64) -> Call {
    call(Function::cuMemHostUnregister, &[start], &[], 0)
}

fn refused(call: Call) -> Call {
    Call { result: Some(712), ..call }
}

#[rstest]
#[case::all(&[lock(BUFFER, 100)], None)]
#[case::more(&[lock(BUFFER - 64, 4096)], None)]
#[case::in_parts(&[lock(BUFFER, 60), lock(BUFFER + 60, 40)], None)]
#[case::nothing(&[], Some("its first byte is not locked"))]
#[case::the_end_only(&[lock(BUFFER + 64, 36)], Some("its first byte is not locked"))]
#[case::the_beginning(&[lock(BUFFER, 64)], Some("only its first 64 bytes are locked"))]
#[case::a_gap(
    &[lock(BUFFER, 60), lock(BUFFER + 61, 39)], Some("only its first 60 bytes are locked"),
)]
#[case::no_more(
    &[lock(BUFFER, 100), unlock(BUFFER)], Some("its first byte is not locked"),
)]
#[case::not_served(&[refused(lock(BUFFER, 100))], Some("its first byte is not locked"))]
fn every_byte_is_looked_for(#[case] calls: &[Call], #[case] observed: Option<&str>) {
    let text = "steps:\n  - do: {host_buffer: {size: 100, offset: 64, as: b}}\n  \
                - do: {mempin: {buffer: b, as: p}}\n    \
                expect: {EMM-T-01: {page_locked: b}}\n";
    let pinned = json!({
        "kind": "pinned", "pointer": 0, "host_pointer": BUFFER, "size_bytes": 100,
    });
    let judged = Recorder::new(case(text))
        .step(&[], json!({"host_pointer": BUFFER, "size_bytes": 100}))
        .step(calls, pinned)
        .rest()
        .judged();
    let found = judged.findings.iter().find(|finding| finding.requirement == "EMM-T-01");
    assert_eq!(found.map(|finding| finding.observed.as_str()), observed);
}
