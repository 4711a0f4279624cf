//! How to start a worker, with or without a debugger around it.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use allocert_suite::offer::Driver;

use crate::error::Started;
use crate::machine::{MODE, Machine, mode};
use crate::message::PROTOCOL;
use crate::run_dir::RunDir;
use crate::search_path;

/// How long a worker may take from its start to its connection: an interpreter on a busy machine.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long it may take to load its subject: to import a large library on a busy machine.
const LOAD_TIMEOUT: Duration = Duration::from_secs(120);

/// A case chooses these. What the user has set for programs of theirs must not be found by the
/// first call of a subject.
const DRIVER_SETTINGS: [&str; 5] = [
    "ALLOCERT_DEVICES",
    "ALLOCERT_MEMORY_BYTES",
    "ALLOCERT_DRIVER_VERSION",
    "ALLOCERT_PEER_ACCESS",
    "ALLOCERT_FAULTS",
];

/// Tells a worker which text its host is to be true to.
const TEXT: &str = "ALLOCERT_TEXT";

/// Tells a worker to run a batch in its own process instead of a fork, and to leave its standard
/// streams alone.
const DEBUG: &str = "ALLOCERT_DEBUG";

/// How to start a worker; the socket's path is appended.
#[derive(Debug, Clone)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    pub connect_timeout: Duration,
    /// How long the worker may take to load the subject.
    pub load_timeout: Duration,
    /// Whether the program is an interpreter that the user named, who may have named something
    /// else.
    pub interpreter: bool,
    /// What a person watches the worker with. It has the terminal and all the time that it takes.
    pub debugger: Option<Debugger>,
}

/// What a person watches a worker with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Debugger {
    /// Python's own.
    Pdb,
    /// A program and its arguments, to which the worker's command line is appended.
    Program(OsString, Vec<OsString>),
}

/// The stack of each thread of a worker, as large as Linux makes it. Rust's own has 2 MiB.
const THREAD_STACK_BYTES: u64 = 8 << 20;

impl Launch {
    /// `EXECUTABLE worker-native SOCKET`
    pub fn native(executable: PathBuf) -> Self {
        Self::new(executable, vec!["worker-native".into()])
    }

    /// `INTERPRETER RUNDIR/allocert_worker SOCKET`
    pub fn python(interpreter: PathBuf, run: &RunDir) -> Self {
        Self { interpreter: true, ..Self::new(interpreter, vec![run.python_worker().into()]) }
    }

    pub fn new(program: PathBuf, arguments: Vec<OsString>) -> Self {
        Self {
            program,
            arguments,
            environment: Vec::new(),
            connect_timeout: CONNECT_TIMEOUT,
            load_timeout: LOAD_TIMEOUT,
            interpreter: false,
            debugger: None,
        }
    }

    /// The driver that its workers find; the simulated one where nothing is said.
    #[must_use]
    pub fn on(mut self, machine: &Machine) -> Self {
        self.environment.push((MODE.into(), mode(machine.driver).into()));
        self
    }

    /// With a host that is true to this text, where the worker's own host differs from it.
    pub fn be_true_to(&mut self, text: &str) {
        self.environment.push((TEXT.into(), text.into()));
    }

    pub(crate) fn command(&self, run: &RunDir, socket: &Path, ring: &Path) -> Command {
        let mut command = self.program_with_arguments(run);
        command
            .arg(socket)
            .env("LD_LIBRARY_PATH", search_path::libraries(run))
            .env("ALLOCERT_TRACE", ring)
            .env("ALLOCERT_PROTOCOL", PROTOCOL.to_string())
            .env("RUST_MIN_STACK", THREAD_STACK_BYTES.to_string())
            .envs(DRIVER_SETTINGS.map(|name| (name, "")))
            .env(MODE, mode(Driver::Sim))
            .env_remove(TEXT)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        match self.debugger {
            // It stays in the process group that the terminal takes input for.
            Some(_) => command.env(DEBUG, "1"),
            None => command
                .env_remove(DEBUG)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .process_group(0),
        };
        command
    }

    pub(crate) fn started(&self) -> Started {
        match (&self.debugger, self.interpreter) {
            (Some(Debugger::Program(..)), _) => Started::Debugger,
            (_, true) => Started::Interpreter,
            (_, false) => Started::Program,
        }
    }

    fn program_with_arguments(&self, run: &RunDir) -> Command {
        match &self.debugger {
            None => {
                let mut command = Command::new(&self.program);
                command.args(&self.arguments);
                command
            }
            Some(Debugger::Pdb) => {
                let mut command = Command::new(&self.program);
                // It debugs a file, not a folder. It finds the user's modules from the start on.
                command.args(["-m", "pdb"]).arg(run.python_worker().join("__main__.py"));
                command.env(
                    "PYTHONPATH",
                    search_path::in_front(env::current_dir().ok(), "PYTHONPATH"),
                );
                command
            }
            Some(Debugger::Program(program, arguments)) => {
                let mut command = Command::new(program);
                command.args(arguments).arg(&self.program).args(&self.arguments);
                command
            }
        }
    }
}
