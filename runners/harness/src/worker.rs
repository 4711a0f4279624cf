//! One worker server: a process of its own group that the harness started, connected to and may
//! end.

use std::ffi::{OsStr, OsString};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, io};

use allocert_suite::offer::Driver;

use crate::capture::Capture;
use crate::channel::{Channel, Received};
use crate::error::{Error, Started};
use crate::harness::Request;
use crate::interrupt::Interrupt;
use crate::machine::{MODE, Machine, mode};
use crate::message::{PROTOCOL, ToWorker};
use crate::own_time::{Counted, OwnTime};
use crate::process_table::{children, kill_inherited, kill_server};
use crate::ring::Ring;
use crate::run_dir::RunDir;

/// How long a worker may take from its start to its connection: an interpreter on a busy machine.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long it may take to load its subject: to import a large library on a busy machine.
const LOAD_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a worker that was asked to quit may take.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a worker that closed its connection may take to end.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long to wait for the rest of the output of a worker that is gone.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(200);

/// A case chooses these. What the user has set for programs of theirs must not be found by the
/// first call of a subject.
const DRIVER_SETTINGS: [&str; 5] = [
    "ALLOCERT_DEVICES",
    "ALLOCERT_MEMORY_BYTES",
    "ALLOCERT_DRIVER_VERSION",
    "ALLOCERT_PEER_ACCESS",
    "ALLOCERT_FAULTS",
];

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

    fn command(&self, run: &RunDir, socket: &Path, ring: &Path) -> Command {
        let mut command = self.program_with_arguments(run);
        command
            .arg(socket)
            .env("LD_LIBRARY_PATH", library_path(run))
            .env("ALLOCERT_TRACE", ring)
            .env("ALLOCERT_PROTOCOL", PROTOCOL.to_string())
            .envs(DRIVER_SETTINGS.map(|name| (name, "")))
            .env(MODE, mode(Driver::Sim))
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

    fn started(&self) -> Started {
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
                command.env("PYTHONPATH", in_front(env::current_dir().ok(), "PYTHONPATH"));
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

/// The driver's folder in front of what the user has set.
pub(crate) fn library_path(run: &RunDir) -> OsString {
    in_front(Some(run.library_folder()), "LD_LIBRARY_PATH")
}

/// `folder` in front of the folders that a variable of the environment holds.
fn in_front(folder: Option<PathBuf>, variable: &str) -> OsString {
    let users = env::var_os(variable).filter(|users| !users.is_empty());
    let parts: Vec<OsString> =
        folder.map(PathBuf::into_os_string).into_iter().chain(users).collect();
    parts.join(OsStr::new(":"))
}

#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) channel: Channel,
    pub(crate) ring: Ring,
    process: Process,
}

impl Worker {
    /// Starts a worker and waits for it to connect.
    pub(crate) fn start(request: &Request) -> Result<Self, Error> {
        let Request { launch, run, interrupt, .. } = request;
        let ring = Ring::for_run(run)?;
        let socket = run.socket();
        let listener =
            listen(&socket).map_err(|source| Error::io("listen on the worker's socket", source))?;
        let mut process = Process::spawn(launch, launch.command(run, &socket, ring.path()))?;
        let limit = request.limit(launch.connect_timeout);
        let stream = process.wait_for(&listener, limit, interrupt)?;
        let channel = Channel::new(stream)
            .map_err(|source| Error::io("set up the worker's socket", source))?;
        Ok(Self { channel, ring, process })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.child.id()
    }

    /// Asks the worker to go and sees to it that it does.
    pub(crate) fn quit(mut self) {
        let children = children(self.pid());
        if self.channel.send(&ToWorker::Quit {}).is_ok()
            && self.process.wait(QUIT_TIMEOUT).is_some()
        {
            kill_inherited(&children);
        }
    }

    /// The next line, or [`Received::Late`] when `process` and its descendants have used up `limit`.
    pub(crate) fn receive(
        &mut self,
        limit: &mut OwnTime,
        process: u32,
        interrupt: &Interrupt,
    ) -> Received {
        loop {
            match self.channel.receive(limit.next_look(), interrupt) {
                Received::Late if !limit.is_used_up(Instant::now(), Counted::of(process)) => {}
                received => return received,
            }
        }
    }

    /// Waits until the debugger of the worker has ended, however long a person takes.
    pub(crate) fn wait_for_debugger(&mut self, interrupt: &Interrupt) {
        while self.process.status().is_none() && !interrupt.is_raised() {
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// How a worker that cannot be used any more ended, or `how` where it lives, and what it left
    /// on standard error.
    pub(crate) fn exit_report(&mut self, how: &str) -> String {
        let closed = how.is_empty();
        let ended = self.process.wait(if closed { EXIT_TIMEOUT } else { OUTPUT_TIMEOUT });
        let left = if ended.is_some() { OUTPUT_TIMEOUT } else { Duration::ZERO };
        let how = match ended {
            Some(status) => describe(status),
            None if closed => "closed its connection".to_owned(),
            None => how.to_owned(),
        };
        format!("{how}{}", crate::error::appended(&self.process.printed(left)))
    }
}

/// The child process; killed with everything below it when dropped.
#[derive(Debug)]
struct Process {
    child: Child,
    program: String,
    interpreter: bool,
    /// Of both standard streams; nothing where a debugger has them.
    stderr: Option<Capture>,
    _stdout: Option<Capture>,
}

impl Process {
    fn spawn(launch: &Launch, mut command: Command) -> Result<Self, Error> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|source| {
            let started = launch.started();
            Error::Start { program: program.clone(), started, source }
        })?;
        let stdout = child.stdout.take().map(Capture::start);
        let stderr = child.stderr.take().map(Capture::start);
        Ok(Self { child, program, interpreter: launch.interpreter, stderr, _stdout: stdout })
    }

    fn wait_for(
        &mut self,
        listener: &UnixListener,
        timeout: Duration,
        interrupt: &Interrupt,
    ) -> Result<UnixStream, Error> {
        let mut limit = OwnTime::begin(timeout, Instant::now());
        loop {
            match listener.accept() {
                Ok((stream, _)) => return Ok(stream),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(source) => return Err(Error::io("accept the worker's connection", source)),
            }
            if interrupt.is_raised() {
                return Err(Error::Interrupted);
            }
            if let Some(status) = self.status() {
                return Err(self.not_connected(describe(status)));
            }
            let now = Instant::now();
            if now >= limit.next_look() && limit.is_used_up(now, Counted::of(self.child.id())) {
                return Err(
                    self.not_connected(format!("did nothing for {} s", timeout.as_secs_f64()))
                );
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn not_connected(&self, how: String) -> Error {
        let (program, stderr) = (self.program.clone(), self.printed(OUTPUT_TIMEOUT));
        Error::NotConnected { program, how, interpreter: self.interpreter, stderr }
    }

    /// What it left on standard error, after waiting at most `timeout` for the rest.
    fn printed(&self, timeout: Duration) -> String {
        self.stderr.as_ref().map_or_else(String::new, |stderr| stderr.text(timeout))
    }

    fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    fn wait(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + timeout;
        while self.status().is_none() && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        self.status()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.status().is_none() {
            kill_server(self.child.id());
            // Killed, so it cannot keep us waiting; without this it would stay a zombie.
            let _ = self.child.wait();
        }
    }
}

fn listen(socket: &Path) -> io::Result<UnixListener> {
    let listener = UnixListener::bind(socket)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}
