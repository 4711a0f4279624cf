//! The ledger on calls of boundaries other than the driver's.

use allocert_contract::trace::{Call, Function, handler, place};
use allocert_requirements::Catalogue;
use allocert_suite::{fixture, judge};
use rstest::rstest;
use serde_json::json;

use crate::observation_builder::{Recorder, alloc, duty, free, memalloc};

const A: u64 = 0x5500_0000_1000;
const B: u64 = 0x5500_0000_2000;
const DEVICE: u64 = 0x7d00_0000_0000;

fn call(function: Function, inputs: &[u64], output: u64) -> Call {
    let mut args = [0; 8];
    args[..inputs.len()].copy_from_slice(inputs);
    Call {
        function,
        args,
        out: [output, 0, 0],
        result: Some(0),
        per_thread: false,
        injected: false,
    }
}

fn malloc(size: u64, address: u64) -> Call {
    call(Function::Handler(handler::Function::Malloc), &[7, size], address)
}

fn realloc(from: u64, size: u64, to: u64) -> Call {
    call(Function::Handler(handler::Function::Realloc), &[7, from, size], to)
}

fn release(address: u64) -> Call {
    call(Function::Handler(handler::Function::Free), &[7, address, 64], 0)
}

fn place_alloc(address: u64) -> Call {
    call(Function::Place(place::Function::Alloc), &[place::PlaceKind::Cuda as u64, 0, 64], address)
}

fn place_free(address: u64, result: i32) -> Call {
    let inputs = [place::PlaceKind::Cuda as u64, 0, address];
    let call = call(Function::Place(place::Function::Free), &inputs, 0);
    Call { result: Some(result), ..call }
}

/// What the always-on checks find when the subject makes these calls in a step.
fn found(calls: &[Call]) -> Vec<String> {
    let case = memalloc("{EMM-T-01: {returns: {}}}");
    let nothing = json!({"kind": "device", "pointer": 0, "size_bytes": 0});
    let judged = Recorder::new(case).step(calls, nothing).rest().judged();
    judged
        .findings
        .iter()
        .map(|finding| {
            format!("{}: {}", finding.requirement.replace("EMM-CHECK-", ""), finding.observed)
        })
        .collect()
}

#[rstest]
#[case::balanced(&[malloc(64, A), release(A)], &[])]
#[case::null(&[release(0)], &[])]
#[case::leak(&[malloc(64, A)], &["LEAK: 1 allocation of 64 bytes is left"])]
#[case::calloc(
    &[call(Function::Handler(handler::Function::Calloc), &[7, 8, 16], A)],
    &["LEAK: 1 allocation of 128 bytes is left"],
)]
#[case::double_free(
    &[malloc(64, A), release(A), release(A)],
    &["DOUBLE_FREE: handler.free(0x550000001000) a second time"],
)]
#[case::foreign_free(
    &[malloc(64, A), release(A + 8), release(A)],
    &["FOREIGN_FREE: handler.free(0x550000001008), 8 bytes into the allocation at 0x550000001000"],
)]
#[case::moved(&[malloc(64, A), realloc(A, 128, B), release(B)], &[])]
#[case::resized_in_place(&[malloc(64, A), realloc(A, 128, A), release(A)], &[])]
#[case::resized_from_nothing(&[realloc(0, 64, A), release(A)], &[])]
#[case::not_resized(&[malloc(64, A), realloc(A, 128, 0), release(A)], &[])]
#[case::moved_and_freed_at_the_old_address(
    &[malloc(64, A), realloc(A, 128, B), release(A), release(B)],
    &["DOUBLE_FREE: handler.free(0x550000001000) a second time"],
)]
fn a_handlers_memory_is_accounted_for(#[case] calls: &[Call], #[case] expected: &[&str]) {
    assert_eq!(found(calls), expected);
}

#[rstest]
#[case::balanced(&[place_alloc(A), place_free(A, 0)], &[])]
#[case::inside_a_block_of_the_driver(
    &[alloc(DEVICE, 1024), place_alloc(DEVICE + 256), place_free(DEVICE + 256, 0), free(DEVICE, 0)],
    &[],
)]
#[case::the_driver_forgets_the_block(
    &[alloc(DEVICE, 1024), place_alloc(DEVICE), free(DEVICE, 0), place_free(DEVICE, 0)],
    &[],
)]
#[case::double_free(
    &[place_alloc(A), place_free(A, 0), place_free(A, 1)],
    &["DOUBLE_FREE: place.free(0x550000001000) a second time"],
)]
#[case::foreign_free(
    &[place_free(A, 1)],
    &["FOREIGN_FREE: place.free(0x550000001000), which no allocation returned"],
)]
fn a_places_memory_is_apart_from_the_drivers(#[case] calls: &[Call], #[case] expected: &[&str]) {
    assert_eq!(found(calls), expected);
}

/// What the check for leaks finds when an allocator by place makes these calls in a step.
fn left_at_place(calls: &[Call]) -> Vec<String> {
    let text = duty("PLACE-CHECK-01", "MUST", "allocator", "  check: leak\n");
    let catalogue =
        Catalogue::from_files([("place/test.yaml", text.as_str())]).expect("written here");
    let text = "# A case of the suite's own tests.\ncase: place/test/case\nabout: a test\n\
                steps:\n  - do: {last_error: {}}\n    expect: {PLACE-CHECK-01: {returns: {}}}\n";
    let cases = fixture::plan_file("cases/place/test/case.yaml", text, &catalogue).expect("a case");
    let recorder = Recorder::bare(cases[0].clone()).step(calls, json!({"text": ""})).rest();
    let judged = judge::judge(&catalogue, &recorder.case, &recorder.seen);
    judged.findings.into_iter().map(|finding| finding.observed).collect()
}

#[rstest]
#[case::kept(&[alloc(DEVICE, 1024), place_alloc(DEVICE), place_free(DEVICE, 0)], &[
    "1 allocation of 1024 bytes is left",
])]
#[case::a_failed_free_leaves_the_block_to_the_caller(
    &[alloc(DEVICE, 1024), place_alloc(DEVICE + 256), place_free(DEVICE + 256, 4)],
    &[],
)]
#[case::what_holds_no_block_is_left_beside_it(
    &[alloc(DEVICE, 1024), alloc(DEVICE + 4096, 512), place_alloc(DEVICE)],
    &["1 allocation of 512 bytes is left"],
)]
fn memory_of_a_live_block_is_no_leak(#[case] calls: &[Call], #[case] expected: &[&str]) {
    assert_eq!(left_at_place(calls), expected);
}
