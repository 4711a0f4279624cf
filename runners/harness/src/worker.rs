//! One worker server: a process of its own group that the harness started, connected to and may
//! end.

use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};
use std::{io, thread};

use allocert_contract::trace::Boundary;

use crate::call_limit::CallLimit;
use crate::capture::Capture;
use crate::channel::{Channel, Received};
use crate::error::{Error, appended};
use crate::interrupt_flag::Interrupt;
use crate::launch::Launch;
use crate::message::ToWorker;
use crate::own_time::{Counted, OwnTime};
use crate::process_table::{children, kill_inherited, kill_server};
use crate::ring::Ring;
use crate::run_request::Request;

/// How long a worker that was asked to quit may take.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a worker that closed its connection may take to end.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long to wait for the rest of the output of a worker that is gone.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(200);
/// How often to look whether a late process makes another call.
const LOOK_EVERY: Duration = Duration::from_millis(100);

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
        let listener = listen(&socket).map_err(|source| run.unwritable(source))?;
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

    /// The next line, or [`Received::Late`] when `process` and its descendants have used up
    /// `limit`, or [`Received::CallLate`] when a call has used up `call`.
    pub(crate) fn receive(
        &mut self,
        limit: &mut OwnTime,
        mut call: Option<&mut CallLimit>,
        process: u32,
        interrupt: &Interrupt,
    ) -> Received {
        loop {
            let call_look = call.as_ref().map(|call| call.next_look());
            let next_look = call_look.map_or(limit.next_look(), |look| look.min(limit.next_look()));
            let received = self.channel.receive(next_look, interrupt);
            let Received::Late = received else { return received };
            let now = Instant::now();
            if now >= limit.next_look() && limit.is_used_up(now, Counted::of(process)) {
                return Received::Late;
            }
            if let Some(call) = &mut call
                && call.is_used_up(now, &self.ring, || Counted::of(process))
            {
                return Received::CallLate;
            }
        }
    }

    /// Whether the process calls another function of `boundary` within `limit`: the call that it
    /// was in has returned.
    pub(crate) fn begins_call(
        &self,
        boundary: Boundary,
        mut limit: OwnTime,
        process: u32,
        interrupt: &Interrupt,
    ) -> bool {
        let last = self.ring.last_call(boundary);
        while !interrupt.is_raised() {
            thread::sleep(LOOK_EVERY);
            if self.ring.last_call(boundary) != last {
                return true;
            }
            let now = Instant::now();
            if now >= limit.next_look() && limit.is_used_up(now, Counted::of(process)) {
                break;
            }
        }
        false
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
        format!("{how}{}", appended(&self.process.printed(left)))
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
