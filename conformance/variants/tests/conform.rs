//! No case fails a variant: a subject that only uses what the texts leave open.

use std::process::Command;

use allocert_test_support::{interpreter, program};

#[test]
fn every_variant_conforms() {
    let mut run = Command::new(program());
    run.arg("variants").arg("--python").arg(interpreter());
    let output = run.output().expect("the program was found above");
    let printed = String::from_utf8_lossy(&output.stdout);
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}{words}");
    let summary = printed.lines().find(|line| line.contains("variants conform"));
    let summary = summary.unwrap_or_else(|| panic!("no summary: {printed}"));
    let (conforming, rest) = summary.split_once(" of ").expect("N of N");
    let all = rest.split(' ').next().expect("a number");
    assert!(conforming == all && conforming != "0", "{summary}");
}
