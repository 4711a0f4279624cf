//! Why a campaign ends without a result.

use std::fmt;

use allocert_harness::{AtFault, Error};
use allocert_suite::Refusal;
use allocert_suite::exit::Exit;

/// One message for a person: what is wrong, where, and what to do next.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    message: String,
}

impl Failure {
    pub fn new(exit: Exit, message: impl ToString) -> Self {
        Self { exit, message: message.to_string() }
    }

    /// What the user gave is wrong.
    pub fn usage(message: impl ToString) -> Self {
        Self::new(Exit::Usage, message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.message.trim_end())
    }
}

impl std::error::Error for Failure {}

impl From<Vec<Refusal>> for Failure {
    fn from(refusals: Vec<Refusal>) -> Self {
        let texts: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        Self::usage(texts.join("\n\n"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit = match error.at_fault() {
            AtFault::Request => Exit::Usage,
            AtFault::Harness => Exit::Harness,
        };
        Self::new(exit, error)
    }
}
