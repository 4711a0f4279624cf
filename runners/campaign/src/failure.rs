//! Why a campaign ends without a result.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use allocert_harness::{AtFault, Error, SubjectError};
use allocert_suite::exit::Exit;
use allocert_suite::report::clean;
use allocert_suite::run_format::ReadError;
use allocert_suite::{Refusal, RefusalCode};

/// Writes a message to standard error, after the name of the program. A reader that stopped reading
/// changes no exit code.
pub fn tell(message: impl fmt::Display) {
    let _closed = writeln!(io::stderr(), "allocert: {message}");
}

/// One message for a person: what is wrong, where, and what to do next.
#[derive(Debug, Clone)]
pub struct Failure {
    pub exit: Exit,
    message: String,
}

impl Failure {
    /// What the user gave is wrong.
    pub fn refused(code: RefusalCode, message: impl fmt::Display) -> Self {
        Self { exit: Exit::Usage, message: format!("error[{code}]: {message}") }
    }

    /// The harness could not do its work.
    pub fn harness(message: impl ToString) -> Self {
        Self { exit: Exit::Harness, message: message.to_string() }
    }

    /// A file or folder that the user named cannot be written.
    pub(crate) fn unwritable(path: &Path, why: impl fmt::Display) -> Self {
        let message = format!("cannot write {}: {why}", path.display());
        Self::refused(RefusalCode::UnwritableFile, message)
    }

    /// The same, with what else the user can do.
    pub(crate) fn with_hint(mut self, hint: &str) -> Self {
        self.message = format!("{}\n{hint}", self.message.trim_end());
        self
    }

    /// There is nothing to run.
    pub fn nothing_ran(message: impl ToString) -> Self {
        Self { exit: Exit::NothingRan, message: message.to_string() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A worker quotes the subject, and a reader of files quotes what it read.
        let lines: Vec<String> = self.message.trim_end().split('\n').map(shown).collect();
        out.write_str(&lines.join("\n"))
    }
}

/// A line as a terminal and a CI service may read it: GitHub takes a line that begins with `::` for
/// a command.
fn shown(line: &str) -> String {
    let line = clean(line);
    let text = line.trim_start();
    match text.strip_prefix("::") {
        Some(rest) => format!("{}\\u{{3a}}:{rest}", &line[..line.len() - text.len()]),
        None => line,
    }
}

impl std::error::Error for Failure {}

impl From<Vec<Refusal>> for Failure {
    fn from(refusals: Vec<Refusal>) -> Self {
        let texts: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        Self { exit: Exit::Usage, message: texts.join("\n\n") }
    }
}

impl From<Box<Refusal>> for Failure {
    fn from(refusal: Box<Refusal>) -> Self {
        vec![*refusal].into()
    }
}

impl From<SubjectError> for Failure {
    fn from(error: SubjectError) -> Self {
        Self::refused(error.code(), error)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::refused(RefusalCode::InvalidRunFile, error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error.at_fault() {
            AtFault::Request(code) => Self::refused(code, error),
            AtFault::Harness => Self::harness(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_subject_is_a_command_of_a_ci_service() {
        let failure =
            Failure::harness("it said\n  ::error::no\n::add-mask::a\na::b\n\u{1b}[31m##vso[x]");
        let shown =
            "it said\n  \\u{3a}:error::no\n\\u{3a}:add-mask::a\na::b\n\\u{1b}[31m\\u{23}#vso[x]";
        assert_eq!(failure.to_string(), shown);
    }
}
