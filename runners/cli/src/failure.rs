//! How the program ends when it cannot do what it was asked.

use std::panic;
use std::process::{self, ExitCode};

use allocert_campaign::{Failure, tell};
use allocert_suite::exit::Exit;

/// Tells the person, and gives the exit code.
pub(crate) fn report(failure: &Failure) -> ExitCode {
    tell(failure);
    failure.exit.code().into()
}

/// A panic is a bug of this program. It ends it with one line and the harness's exit code.
pub(crate) fn report_panics_in_one_line() {
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
        tell(format_args!(
            "this is a defect of allocert, not of the subject: {what}{place}; please report it"
        ));
        process::exit(Exit::Harness as i32);
    }));
}
