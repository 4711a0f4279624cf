//! A C host against the shared library.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use allocert_test_support::library;
use tempfile::TempDir;

#[test]
fn a_c_host_without_a_driver_uses_memory_of_the_host() {
    let empty = tempfile::tempdir().expect("a temporary folder");
    drive("none", empty.path());
}

#[test]
fn a_c_host_uses_all_places() {
    let libcuda = allocert_test_support::driver();
    let folder = tempfile::tempdir().expect("a temporary folder");
    for alias in ["libcuda.so", "libcuda.so.1"] {
        std::os::unix::fs::symlink(&libcuda, folder.path().join(alias))
            .expect("the folder is empty");
    }
    drive("driver", folder.path());
}

#[test]
fn the_environment_limits_a_pool() {
    let empty = tempfile::tempdir().expect("a temporary folder");
    drive("limit", empty.path());
}

/// Compiles the C host and runs it with `libraries` first on the loader's path.
fn drive(how: &str, libraries: &Path) {
    let (_folder, program) = compile();
    let mut command = Command::new(program);
    command
        .args([library("liballocert_place.so").as_os_str(), how.as_ref()])
        .env("LD_LIBRARY_PATH", libraries);
    if how == "limit" {
        command
            .env("ALLOCERT_PLACE_INITIAL_POOL_BYTES", "1048576")
            .env("ALLOCERT_PLACE_MAX_POOL_BYTES", "8388608");
    }
    let output = command.output().expect("the program was just linked");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {printed}{complaints}", output.status);
    let done = if how == "limit" { "limited" } else { "driven" };
    assert_eq!(printed, format!("allocert reference allocator by place: {done}\n"));
}

fn compile() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("drive");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread", "-I"])
        .arg(here.join("../abi/include"))
        .arg("-o")
        .args([&program, &here.join("tests/so/drive.c")])
        .arg("-ldl")
        .output()
        .expect("the tests need a C compiler named cc");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (folder, program)
}
