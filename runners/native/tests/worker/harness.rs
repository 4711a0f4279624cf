//! The other end of the socket, as small as it can be.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::OnceLock;

use serde_json::{Value, json};
use tempfile::TempDir;

/// A worker and the socket to it.
pub(crate) struct Worker {
    process: Child,
    lines: BufReader<UnixStream>,
    _folder: TempDir,
}

impl Worker {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let driver = allocert_test_support::driver();
        for name in ["libcuda.so", "libcuda.so.1"] {
            symlink(&driver, folder.path().join(name)).expect("a new folder takes a link");
        }
        let socket = folder.path().join("socket");
        let listener = UnixListener::bind(&socket).expect("a socket in a new folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_allocert-native-worker"));
        command.arg("worker-native").arg(&socket).env("LD_LIBRARY_PATH", folder.path());
        let process = command.spawn().expect("the worker starts");
        let (stream, _) = listener.accept().expect("the worker connects");
        Self { process, lines: BufReader::new(stream), _folder: folder }
    }

    pub(crate) fn send(&mut self, line: &Value) {
        writeln!(self.lines.get_mut(), "{line}").expect("the worker reads");
    }

    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("the worker writes");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("`{line}` is no JSON: {error}"))
    }

    pub(crate) fn load(&mut self, subject: &str) -> Value {
        self.load_as("emm", subject)
    }

    pub(crate) fn load_as(&mut self, interface: &str, subject: &str) -> Value {
        self.send(&json!({"load": {"interface": interface, "subject": subject}}));
        self.receive()
    }

    /// Runs cases as one batch: all lines up to `ended`, in order.
    pub(crate) fn run(&mut self, cases: &[Value]) -> Vec<Value> {
        self.send(&json!({"run": {"batch": 1, "cases": cases}}));
        let mut lines = Vec::new();
        while lines.last().is_none_or(|line: &Value| line.get("ended").is_none()) {
            lines.push(self.receive());
        }
        lines
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.send(&json!({"quit": {}}));
        let status = self.process.wait().expect("the worker was started");
        if !std::thread::panicking() {
            assert!(status.success(), "the worker ended with {status}");
        }
    }
}

/// A case whose steps are numbered from 0, after attaching and making a manager `m` of device 0.
pub(crate) fn case(ending: &str, steps: &[Value]) -> Value {
    let setup = [json!({"attach": {}}), json!({"create": {"as": "m"}})];
    let steps = setup.iter().chain(steps).enumerate();
    let steps: Vec<Value> =
        steps.map(|(index, step)| json!({"index": index, "do": step, "on": "m"})).collect();
    json!({
        "id": "case",
        "side": "emm",
        "operations": "emm",
        "driver": {},
        "ending": ending,
        "steps": steps,
    })
}

/// Runs the steps on `subject`: their outcomes, without those of the setup, and the `ended` line.
pub(crate) fn outcomes(subject: &str, steps: &[Value]) -> (Vec<Value>, Value) {
    let mut worker = Worker::start();
    let loaded = worker.load(subject);
    assert!(loaded.get("loaded").is_some(), "{loaded}");
    let lines = worker.run(&[case("leave", steps)]);
    let outcomes = lines.iter().filter_map(|line| Some(line.get("step")?["outcome"].clone()));
    (outcomes.skip(2).collect(), lines.last().expect("it ends with `ended`")["ended"].clone())
}

/// `PATH:symbol` of the C plugin, compiled once.
pub(crate) fn plugin(symbol: &str) -> String {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| compile("plugin"));
    format!("{}:{symbol}", folder.path().join("plugin.so").display())
}

/// The library of a handler that starts a thread while it is loaded, in its folder.
pub(crate) fn threaded_handler() -> (TempDir, String) {
    let folder = compile("threaded_handler");
    let library = folder.path().join("threaded_handler.so").display().to_string();
    (folder, library)
}

fn compile(name: &str) -> TempDir {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut compiler = Command::new("cc");
    compiler.args([
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-D_GNU_SOURCE",
        "-O1",
        "-shared",
        "-fPIC",
        "-I",
    ]);
    compiler
        .arg(here.join("../../reference/abi/include"))
        .arg(here.join(format!("tests/worker/{name}.c")));
    compiler.arg("-pthread").arg("-o").arg(folder.path().join(format!("{name}.so")));
    assert!(compiler.status().expect("a C compiler").success());
    folder
}
