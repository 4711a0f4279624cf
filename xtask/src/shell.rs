//! Running programs: every command is shown before it runs, and a failure names the command.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;

/// Why a step of a command could not be done.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The program could not be started at all.
    NotStarted { program: String, cause: io::Error, advice: &'static str },
    /// The program ran and said no.
    Failed { line: String, status: ExitStatus },
    /// The machine lacks something.
    Missing(String),
    /// The command line is wrong.
    Usage(String),
    /// Nothing is known but that the program panicked.
    Panicked,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted { program, cause, advice } => {
                write!(out, "cannot start `{program}`: {cause}; {advice}")
            }
            Self::Failed { line, status } => write!(out, "`{line}` ended with {status}"),
            Self::Missing(what) | Self::Usage(what) => write!(out, "{what}"),
            Self::Panicked => write!(out, "xtask itself failed; the message is above"),
        }
    }
}

/// One program to run, with the advice to give when it is not installed.
pub(crate) struct Step {
    command: Command,
    advice: &'static str,
}

pub(crate) fn run(program: impl AsRef<OsStr>) -> Step {
    Step { command: Command::new(program), advice: "is it installed and on PATH?" }
}

/// Runs both at the same time. The fault of the first counts if both fail.
pub(crate) fn side_by_side(
    first: impl FnOnce() -> Result<(), Fault> + Send,
    second: impl FnOnce() -> Result<(), Fault>,
) -> Result<(), Fault> {
    thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        first.join().unwrap_or(Err(Fault::Panicked)).and(second)
    })
}

/// `cargo`, the one that runs us.
pub(crate) fn cargo() -> Step {
    run(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

impl Step {
    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.command.args(arguments);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn directory(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(directory);
        self
    }

    pub(crate) fn advice(mut self, advice: &'static str) -> Self {
        self.advice = advice;
        self
    }

    /// Runs it in sight of the user; anything but success is a fault.
    pub(crate) fn done(self) -> Result<(), Fault> {
        let line = self.line();
        let status = self.status()?;
        if status.success() { Ok(()) } else { Err(Fault::Failed { line, status }) }
    }

    /// Runs it, and shows all that it printed when it has ended.
    pub(crate) fn done_at_once(mut self) -> Result<(), Fault> {
        let line = self.line();
        let output = self.command.output().map_err(|cause| self.not_started(cause))?;
        eprintln!("\u{1b}[2m$ {line}\u{1b}[0m");
        for stream in [output.stdout, output.stderr] {
            eprint!("{}", String::from_utf8_lossy(&stream));
        }
        let status = output.status;
        if status.success() { Ok(()) } else { Err(Fault::Failed { line, status }) }
    }

    /// Runs it in sight of the user and gives its status, whatever it is.
    pub(crate) fn status(mut self) -> Result<ExitStatus, Fault> {
        eprintln!("\u{1b}[2m$ {}\u{1b}[0m", self.line());
        self.command.status().map_err(|cause| self.not_started(cause))
    }

    /// Runs it quietly and gives what it printed, without the last newline.
    pub(crate) fn text(mut self) -> Result<String, Fault> {
        let line = self.line();
        let output = self.command.output().map_err(|cause| self.not_started(cause))?;
        if !output.status.success() {
            return Err(Fault::Failed { line, status: output.status });
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }

    fn not_started(&self, cause: io::Error) -> Fault {
        let program = self.command.get_program().to_string_lossy().into_owned();
        Fault::NotStarted { program, cause, advice: self.advice }
    }

    fn line(&self) -> String {
        std::iter::once(self.command.get_program())
            .chain(self.command.get_args())
            .map(|word| word.to_string_lossy())
            .collect::<Vec<_>>()
            .join(" ")
    }
}
