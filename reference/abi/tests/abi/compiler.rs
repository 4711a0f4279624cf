//! Compiles text against the header with the system's compilers.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Language {
    C11,
    Cpp17,
}

/// Compiles and links `text` into a program; panics with the compiler's words if it refuses.
pub(crate) fn compile(language: Language, text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (compiler, standard, source) = match language {
        Language::C11 => ("cc", "-std=c11", "program.c"),
        Language::Cpp17 => ("c++", "-std=c++17", "program.cpp"),
    };
    let source = folder.path().join(source);
    let program = folder.path().join("program");
    std::fs::write(&source, text).expect("the temporary folder is writable");
    let output = Command::new(compiler)
        .args([standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include"))
        .arg("-o")
        .args([&program, &source])
        .output()
        .unwrap_or_else(|error| panic!("{compiler} cannot be started: {error}"));
    assert!(
        output.status.success(),
        "{compiler} refused:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    (folder, program)
}

/// Runs a compiled program and returns what it printed.
pub(crate) fn run(program: &Path) -> String {
    let output = Command::new(program).output().expect("the program was just linked");
    assert!(output.status.success(), "the program ended with {}", output.status);
    String::from_utf8(output.stdout).expect("the program prints ASCII")
}
