//! What kept the harness from its work, told so that a person knows whose fault it is and what to
//! do next.

use std::path::PathBuf;
use std::{env, io};

use allocert_suite::RefusalCode;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "{file} is not beside this program in {folder}; `{build}` builds it",
        folder = folder.display()
    )]
    MissingArtifact { file: &'static str, folder: PathBuf, build: String },

    #[error("this system would not let the harness {doing}: {source}")]
    Io { doing: String, source: io::Error },

    #[error(
        "the limit on address space (`ulimit -v`) is {limit_bytes} bytes, and the software driver \
         reserves addresses for the memory of its devices; raise it to {needed_bytes} bytes or more"
    )]
    AddressSpace { limit_bytes: u64, needed_bytes: u64 },

    #[error("cannot start `{program}`: {source}{}", hint(*started, source))]
    Start { program: String, started: Started, source: io::Error },

    /// `interpreter`: the user chose the program.
    #[error(
        "the worker `{program}` {how} before it connected{}{}",
        doubt(*interpreter),
        appended(stderr)
    )]
    NotConnected { program: String, how: String, interpreter: bool, stderr: String },

    #[error(
        "the worker speaks protocol {spoken}, this program speaks {expected}; both must come from \
         one build"
    )]
    Version { spoken: u32, expected: u32 },

    /// The worker looked at the subject and said why it cannot be run.
    #[error("the subject {subject} cannot be loaded ({stage}): {message}{}", appended(detail))]
    Refused { subject: String, stage: String, message: String, detail: String },

    /// The subject took the worker down, or hung it, while it was being loaded.
    #[error("the subject {subject} cannot be loaded: the worker {how}, while it loaded it")]
    Unloadable { subject: String, how: String },

    #[error(
        "cannot write temporary files in {folder}: {source}; make room there, or name another \
         folder with TMPDIR",
        folder = folder.display()
    )]
    Temporary { folder: PathBuf, source: io::Error },

    #[error("cannot keep the run in {folder}: {reason}", folder = folder.display())]
    Keep { folder: PathBuf, reason: String },

    #[error("there is no real driver to run on{}", appended(reason))]
    NoDriver { reason: String },

    #[error("interrupted; the workers were ended and nothing was judged")]
    Interrupted,
}

/// Who has to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtFault {
    /// What the harness was asked for cannot be done: the subject, an option or a path is wrong.
    Request(RefusalCode),
    /// The harness could not do its work.
    Harness,
}

impl Error {
    pub fn at_fault(&self) -> AtFault {
        match self {
            Self::Refused { .. } => AtFault::Request(RefusalCode::SubjectRefused),
            Self::Unloadable { .. } => AtFault::Request(RefusalCode::SubjectUnloadable),
            Self::Start { .. } => AtFault::Request(RefusalCode::CannotStart),
            Self::Temporary { .. } => AtFault::Request(RefusalCode::UnwritableFile),
            Self::Keep { .. } => AtFault::Request(RefusalCode::UnusableRunFolder),
            Self::NotConnected { interpreter: true, .. } => {
                AtFault::Request(RefusalCode::UnusablePython)
            }
            Self::NotConnected { interpreter: false, .. }
            | Self::MissingArtifact { .. }
            | Self::Io { .. }
            | Self::AddressSpace { .. }
            | Self::Version { .. }
            | Self::NoDriver { .. }
            | Self::Interrupted => AtFault::Harness,
        }
    }

    /// Something of this program, such as a temporary file, finds no place in the folder that is
    /// for it.
    pub fn temporary(source: io::Error) -> Self {
        Self::Temporary { folder: env::temp_dir(), source }
    }

    pub(crate) fn io(doing: impl Into<String>, source: io::Error) -> Self {
        Self::Io { doing: doing.into(), source }
    }
}

/// What was to be started for a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// A worker of this program.
    Program,
    /// The interpreter of a Python worker.
    Interpreter,
    /// The debugger that watches a worker.
    Debugger,
}

fn hint(started: Started, source: &io::Error) -> &'static str {
    match (source.kind(), started) {
        (io::ErrorKind::PermissionDenied, _) => "; it is not executable",
        (io::ErrorKind::NotFound, Started::Interpreter) => {
            "; name another interpreter with --python"
        }
        (io::ErrorKind::NotFound, Started::Debugger) => {
            "; install it, or name another debugger behind `--`"
        }
        _ => "",
    }
}

fn doubt(interpreter: bool) -> &'static str {
    if interpreter {
        "; is it Python 3.10 or later? name another interpreter with --python"
    } else {
        ""
    }
}

/// A program's own words below ours.
pub(crate) fn appended(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() { String::new() } else { format!("\n  {}", text.replace('\n', "\n  ")) }
}
