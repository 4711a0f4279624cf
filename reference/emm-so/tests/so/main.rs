//! A C host against the shared library.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use allocert_test_support::library;
use rstest::rstest;
use tempfile::TempDir;

#[rstest]
#[case::pool("allocert_emm_plugin_v1", "allocert reference pool")]
#[case::deferred("allocert_emm_deferred", "allocert reference deferred")]
#[case::host_only("allocert_emm_host_only", "allocert reference host-only")]
fn without_a_driver_create_says_so(#[case] symbol: &str, #[case] name: &str) {
    let empty = tempfile::tempdir().expect("a temporary folder");
    let printed = drive(symbol, "none", empty.path());
    // Where a genuine driver is installed it is found, but nobody has initialised it.
    let missing = format!("{name}: create: no CUDA driver: libcuda.so.1 cannot be loaded");
    let idle = format!("{name}: create: cuDeviceGetCount returned 3 (CUDA_ERROR_NOT_INITIALIZED)");
    assert!(printed.starts_with(&missing) || printed.starts_with(&idle), "{printed}");
}

#[rstest]
#[case::pool("allocert_emm_plugin_v1", "allocert reference pool")]
#[case::deferred("allocert_emm_deferred", "allocert reference deferred")]
#[case::host_only("allocert_emm_host_only", "allocert reference host-only")]
fn a_c_host_drives_it(#[case] symbol: &str, #[case] name: &str) {
    let libcuda = allocert_test_support::driver();
    let folder = tempfile::tempdir().expect("a temporary folder");
    for alias in ["libcuda.so", "libcuda.so.1"] {
        std::os::unix::fs::symlink(&libcuda, folder.path().join(alias))
            .expect("the folder is empty");
    }
    assert_eq!(drive(symbol, "driver", folder.path()), format!("{name}: driven\n"));
}

/// Compiles the C host, runs it with `libraries` first on the loader's path, returns what it
/// printed.
fn drive(symbol: &str, driver: &str, libraries: &Path) -> String {
    let (_folder, program) = compile();
    let output = Command::new(program)
        .args([
            library("liballocert_emm_reference.so").as_os_str(),
            symbol.as_ref(),
            driver.as_ref(),
        ])
        .env("LD_LIBRARY_PATH", libraries)
        .output()
        .expect("the program was just linked");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {printed}{complaints}", output.status);
    printed
}

fn compile() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("drive");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(here.join("../abi/include"))
        .arg("-o")
        .args([&program, &here.join("tests/so/drive.c")])
        .arg("-ldl")
        .output()
        .expect("the tests need a C compiler named cc");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (folder, program)
}
