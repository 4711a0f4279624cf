//! Runs a worker of a test in a process of its own, because the trace is opened once a process.

use std::{
    fs::File,
    os::unix::fs::FileExt,
    process::{Command, Output},
};

use allocert_contract::trace::{
    Event,
    ring::{Header, read_records},
};

use crate::{c_api, rust_api};

const VARIABLE: &str = "ALLOCERT_TEST_WORKER";

/// What a worker wrote into a trace of this capacity.
pub(crate) fn record(worker: &str, capacity: u64) -> Vec<Event> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    let header = Header::new(capacity).expect("a power of two");
    file.as_file().set_len(header.file_bytes()).expect("room for it");
    file.as_file().write_all_at(&header.encode(), 0).expect("writable");
    let output = run(worker, file.path().to_str().expect("a path of ours"));
    assert!(output.status.success(), "{output:?}");
    let ring = File::open(file.path()).expect("still there");
    read_records(|offset, into| ring.read_exact_at(into, offset), 0).expect("well formed").events
}

/// Runs a worker with `ALLOCERT_TRACE` set to `trace`.
pub(crate) fn run(worker: &str, trace: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("a running program has a path"));
    command.args(["--exact", "worker_process::work", "--ignored", "--nocapture", "--quiet"]);
    command.env(VARIABLE, worker).env("ALLOCERT_TRACE", trace);
    command.output().expect("this program starts")
}

#[test]
#[ignore = "the process that other tests start, not a test"]
fn work() {
    match std::env::var(VARIABLE).expect("set by `run`").as_str() {
        "steps" => rust_api::perform_steps(),
        "fork" => rust_api::fork_between_calls(),
        "context" => rust_api::name_a_context(),
        "calls" => c_api::record_calls(),
        "overwritten" => c_api::end_an_overwritten_call(),
        other => panic!("no worker `{other}`"),
    }
}
