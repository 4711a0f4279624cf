//! The library of `unsteady.c`, and runs of its functions.

use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;

/// A folder with the library.
static LIBRARY: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/unsteady/unsteady.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(folder.path().join("lib.so")).arg(source);
    assert!(compiler.status().expect("a C compiler").success());
    folder
});

/// `allocert run place` on the functions `NAME_malloc` and `NAME_free` of the library.
pub(crate) fn run_of(name: &str) -> Command {
    let library = LIBRARY.path().join("lib.so").display().to_string();
    let abi = format!("malloc:{name}_malloc,{name}_free");
    let mut command = Command::new(env!("CARGO_BIN_EXE_allocert"));
    command.args(["run", "place", &library, "--abi", &abi]);
    command.env("ALLOCERT_LIBCUDA", allocert_test_support::driver());
    command
}
