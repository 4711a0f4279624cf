//! Settings from the environment.

use rstest::rstest;

use crate::child_process::{printed_lines, run_task};

#[rstest]
#[case("ALLOCERT_DEVICES", "3", "devices=3 driver=13000")]
#[case("ALLOCERT_DRIVER_VERSION", "12040", "devices=1 driver=12040")]
fn a_setting_shows(#[case] variable: &str, #[case] value: &str, #[case] expected: &str) {
    let output = run_task("init", &[(variable, value)]);
    let printed = printed_lines(&output);
    assert_eq!(
        (printed[0].as_str(), printed.last().map(String::as_str)),
        ("init=0", Some(expected))
    );
}

#[rstest]
#[case("ALLOCERT_DEVICES", "many")]
#[case("ALLOCERT_MEMORY_BYTES", "1")]
#[case("ALLOCERT_DRIVER_VERSION", "thirteen")]
#[case("ALLOCERT_PEER_ACCESS", "maybe")]
#[case("ALLOCERT_FAULTS", "cuMemAlloc_v2")]
fn a_bad_setting_is_named_once_and_fails_init(#[case] variable: &str, #[case] value: &str) {
    let output = run_task("init", &[(variable, value)]);
    let errors = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<_> = errors.lines().filter(|line| line.starts_with("allocert: ")).collect();
    assert_eq!(lines.len(), 1, "{errors}");
    assert!(lines[0].contains(variable) && lines[0].contains(value), "{}", lines[0]);
    assert_eq!(printed_lines(&output)[0], "init=1");
}

#[test]
fn no_device_is_a_setting_too() {
    assert_eq!(printed_lines(&run_task("init", &[("ALLOCERT_DEVICES", "0")]))[0], "init=100");
}

#[test]
fn faults_come_at_their_call() {
    let output =
        run_task("allocate", &[("ALLOCERT_FAULTS", "cuMemAlloc_v2@2x2=2,cuMemAlloc_v2@5+=1")]);
    assert_eq!(printed_lines(&output), ["0 2 2 0 1 1"]);
}

#[test]
fn a_trace_that_is_none_is_named_and_left_out() {
    let output = run_task("init", &[("ALLOCERT_TRACE", "/nonexistent/ring")]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("allocert: ALLOCERT_TRACE=/nonexistent/ring: ")
            && errors.contains("going on without a trace"),
        "{errors}"
    );
    assert_eq!(printed_lines(&output)[0], "init=0");
}
