//! Programs that ask a driver questions. Their answers from a GPU lie beside them as data.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use crate::library;

/// The answers of a GPU that `tests/FILE` has, compressed.
pub(crate) fn measured(file: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    let output = Command::new("gzip").arg("-dc").arg(file).output().expect("gzip is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the answers are ASCII")
}

/// Runs `tests/SOURCE` on this library; what it prints.
pub(crate) fn run(source: &str, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let program = program(source);
    let output = Command::new(&program)
        .args(arguments)
        .env("LD_LIBRARY_PATH", program.parent().expect("the program lies in a folder"))
        .envs(variables.iter().copied())
        .output()
        .expect("the program starts");
    String::from_utf8(output.stdout).expect("the program prints ASCII")
}

/// The program of `tests/SOURCE`. The first test that wants it builds it: the largest one takes g++
/// five seconds, and serves six runs.
fn program(source: &str) -> PathBuf {
    static PROGRAMS: Mutex<BTreeMap<String, Arc<OnceLock<PathBuf>>>> = Mutex::new(BTreeMap::new());
    let one = {
        let mut programs = PROGRAMS.lock().expect("no thread panics with the lock");
        Arc::clone(programs.entry(source.to_owned()).or_default())
    };
    one.get_or_init(|| build(source)).clone()
}

/// Builds the program in a folder of its own, which has the library under the driver's names.
fn build(source: &str) -> PathBuf {
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let name = source.replace(['/', '.'], "-");
    let directory = tempfile::tempdir_in(parent).expect("cargo makes the folder for tests");
    for name in ["libcuda.so", "libcuda.so.1"] {
        symlink(library::path(), directory.path().join(name)).expect("a new name");
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(source);
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-w"]).arg(source);
    compiler.arg("-I").arg(allocert_test_support::cuda_include());
    compiler.arg("-o").arg(directory.path().join("program"));
    compiler.arg("-L").arg(directory.path()).args(["-lcuda", "-lpthread"]);
    let compiled = compiler.output().expect("g++ is installed");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    // The folder of an earlier run of the tests has this name.
    let lasting = parent.join(name);
    let _ = std::fs::remove_dir_all(&lasting);
    std::fs::rename(directory.keep(), &lasting).expect("a name that nothing has");
    lasting.join("program")
}
