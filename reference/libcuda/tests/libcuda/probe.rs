//! Fidelity: the probe program prints on this library what it printed on a real GPU.

use crate::{forward::Genuine, instrument};

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
    let mut all = vec![("ALLOCERT_FAULTS", FAULTS), ("ALLOCERT_DEVICES", "2")];
    all.extend(variables);
    instrument::run("probe/driver_probe.cpp", &[], &all)
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
