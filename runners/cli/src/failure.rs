//! How the program ends when it cannot do what it was asked.

use std::panic;
use std::process::{self, ExitCode};

use allocert_harness::{Error, Fault};
use allocert_suite::Refusal;
use allocert_suite::exit::Exit;

/// One message for a person: what happened, whose fault it is, what to do next.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl ToString) -> Self {
        Self { exit, message: message.to_string() }
    }

    pub(crate) fn usage(message: impl ToString) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Nothing failed and there is nothing left to do.
    pub(crate) fn done() -> Self {
        Self::new(Exit::Conforms, "")
    }

    pub(crate) fn report(self) -> ExitCode {
        if !self.message.is_empty() {
            eprintln!("allocert: {}", self.message.trim_end());
        }
        self.exit.code().into()
    }
}

impl From<Vec<Refusal>> for Failure {
    fn from(refusals: Vec<Refusal>) -> Self {
        let texts: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        Self::usage(texts.join("\n\n"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit = match error.fault() {
            Fault::Subject => Exit::Usage,
            Fault::Harness => Exit::Harness,
        };
        Self::new(exit, error)
    }
}

/// A panic is a bug of this program. It ends it with one line and the harness's exit code.
pub(crate) fn report_bugs_in_one_line() {
    panic::set_hook(Box::new(|panic| {
        let place = panic
            .location()
            .map(|place| format!(" at {}:{}", place.file(), place.line()))
            .unwrap_or_default();
        let payload = panic.payload();
        let what = payload
            .downcast_ref::<&str>()
            .copied()
            .or(payload.downcast_ref::<String>().map(String::as_str));
        let what = what.unwrap_or("no message");
        eprintln!(
            "allocert: this is a defect of allocert, not of the subject: {what}{place}; please report it"
        );
        process::exit(Exit::Harness as i32);
    }));
}
