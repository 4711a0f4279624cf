//! Fidelity: the probe program prints on this library what it printed on a real GPU.

use std::{os::unix::fs::symlink, path::Path, process::Command};

use crate::{forward::Genuine, library};

/// Rows in which this library deliberately differs from the H200, what it answers, and why.
const DEVIATIONS: &[(&str, &str, &str)] = &[
    (
        "stream_use_after_destroy",
        "destroy=0; sync=400",
        "the real driver crashes; ours refuses the handle and records a misuse",
    ),
    (
        "stream_bogus",
        "sync=400",
        "the real driver crashes; ours refuses the handle and records a misuse",
    ),
    (
        "stream_double_destroy",
        "destroy=0; again=400",
        "the real driver crashes; ours refuses the handle and records a misuse",
    ),
    (
        "event_destroyed",
        "query=400",
        "the real driver crashes; ours refuses the handle and records a misuse",
    ),
];

/// The probe's kernel `bad` writes to address 16; kernels compute nothing here, so the fault plan
/// says how it fails.
const FAULTS: &str = "kernel:bad=700";

pub(crate) fn run_probe(variables: &[(&str, &str)]) -> String {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for name in ["libcuda.so", "libcuda.so.1"] {
        symlink(library::path(), directory.path().join(name)).expect("a new name");
    }
    let (source, program) = (
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/probe/driver_probe.cpp"),
        directory.path().join("probe"),
    );
    let mut compiler = Command::new("g++");
    compiler
        .args(["-std=c++17", "-w"])
        .arg(source)
        .arg("-I")
        .arg(allocert_test_support::cuda_include())
        .arg("-o")
        .arg(&program);
    let compiled =
        compiler.arg("-L").arg(directory.path()).arg("-lcuda").output().expect("g++ is installed");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let mut probe = Command::new(program);
    let output = probe
        .env("LD_LIBRARY_PATH", directory.path())
        .env("ALLOCERT_FAULTS", FAULTS)
        .env("ALLOCERT_DEVICES", "2")
        .envs(variables.iter().copied())
        .output()
        .expect("the probe starts");
    String::from_utf8(output.stdout).expect("the probe prints ASCII")
}

fn expected() -> Vec<String> {
    let measured = include_str!("../probe/driver_h200.txt").lines();
    let row = |line: &str| {
        let name = line.split(" | ").next().unwrap_or(line);
        DEVIATIONS
            .iter()
            .find(|(row, ..)| *row == name)
            .map_or(line.to_owned(), |(row, ours, _)| format!("{row} | {ours}"))
    };
    measured.map(row).collect()
}

#[test]
fn every_row_equals_the_h200_but_for_the_named_deviations() {
    let printed = run_probe(&[]);
    let expected = expected();
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    let genuine = Genuine::software();
    assert_eq!(run_probe(&genuine.variables()), printed, "forward mode changes nothing");
    for (row, ..) in DEVIATIONS {
        assert!(
            expected.iter().any(|line| line.starts_with(row)),
            "{row} is no row of the measurement"
        );
    }
}
