//! Programs that ask a driver questions. Their answers from a GPU lie beside them as data.

use std::{os::unix::fs::symlink, path::Path, process::Command};

use crate::library;

/// The answers of a GPU that `tests/FILE` has, compressed.
pub(crate) fn measured(file: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    let output = Command::new("gzip").arg("-dc").arg(file).output().expect("gzip is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the answers are ASCII")
}

/// Builds `tests/SOURCE` and runs it on this library; what it prints.
pub(crate) fn run(source: &str, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for name in ["libcuda.so", "libcuda.so.1"] {
        symlink(library::path(), directory.path().join(name)).expect("a new name");
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
    let program = directory.path().join("program");
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-w"]).arg(source);
    compiler.arg("-I").arg(allocert_test_support::cuda_include()).arg("-o").arg(&program);
    compiler.arg("-L").arg(directory.path()).args(["-lcuda", "-lpthread"]);
    let compiled = compiler.output().expect("g++ is installed");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(program)
        .args(arguments)
        .env("LD_LIBRARY_PATH", directory.path())
        .envs(variables.iter().copied())
        .output()
        .expect("the program starts");
    String::from_utf8(output.stdout).expect("the program prints ASCII")
}
