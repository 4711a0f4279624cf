//! A part of a test that runs on the software driver.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::{FileExt, symlink};
use std::process::Command;

use allocert_contract::trace::{Event, ring};

/// Runs the ignored test `role` with a trace, and returns what it recorded.
pub(crate) fn play(role: &str) -> Vec<Event> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let driver = allocert_test_support::driver();
    for alias in ["libcuda.so", "libcuda.so.1"] {
        symlink(&driver, folder.path().join(alias)).expect("the folder is empty");
    }
    let trace = folder.path().join("trace");
    let header = ring::Header::new(4096).expect("a power of two");
    let file = File::create_new(&trace).expect("a new file");
    file.set_len(header.file_bytes()).expect("room for it");
    file.write_all_at(&header.encode(), 0).expect("writable");
    let mut path = OsString::from(folder.path());
    path.push(":");
    path.push(std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default());
    let output = Command::new(std::env::current_exe().expect("a running program has a path"))
        .args([role, "--exact", "--ignored", "--test-threads=1", "--nocapture"])
        .env("LD_LIBRARY_PATH", path)
        .env("ALLOCERT_TRACE", &trace)
        .output()
        .expect("this program starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && printed.contains("1 passed"),
        "{role}: {printed}{complaints}"
    );
    let ring = File::open(&trace).expect("still there");
    let batch = ring::read_records(|offset, into| ring.read_exact_at(into, offset), 0)
        .expect("well formed");
    assert_eq!(batch.lost, 0, "the ring is too small for {role}");
    batch.events
}
